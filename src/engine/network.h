#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/aligned_vector.h"
#include "engine/kernels/kernels.h"

namespace modlab::engine {

// Which learning rate a tensor follows.
enum class Rate { kFunctional, kInput, kModule, kFrozen };

struct Tensor {
  std::string name;
  std::vector<int> shape;
  std::size_t offset = 0;  // in parameters
  std::size_t count = 0;
  Rate rate = Rate::kFunctional;
  // Widths of the layer it belongs to, for initialisation; zero for selection vectors, which start standard normal.
  int fan_in = 0;
  int fan_out = 0;
};

// All parameters of a network as one vector, in the order of the published code.
struct Layout {
  std::vector<Tensor> tensors;
  std::size_t count = 0;
  // The selection vectors are one contiguous stretch.
  std::size_t structural_begin = 0;
  std::size_t structural_count = 0;

  std::size_t add(std::string name, std::vector<int> shape, Rate rate, int fan_in, int fan_out);
};

// A chunk of a training batch.
template <typename T>
struct Samples {
  Units<const T> inputs;
  const T* row_task = nullptr;  // [row][lane], where there are several tasks
  Units<const T> noise;         // Gumbel noise per sample, one unit for each structural parameter; or null
  int rows = 0;
};

template <typename T>
struct Step {
  const T* parameters = nullptr;   // [parameter][lane]
  const T* inverse_tau = nullptr;  // [lane]
  const T* noise = nullptr;        // Gumbel noise per batch, [structural parameter][lane]; or null
  // The parameters are still those of the last begin_evaluation, so what it prepared can serve again.
  bool evaluated = false;
};

// Clean rows of one task, the same in every lane.
template <typename T>
struct EvaluationRows {
  Units<const T> inputs;
  const std::uint32_t* words = nullptr;  // [row], the sample words that the inputs are fields of; or null
  std::span<const Field> fields;
  int rows = 0;
  int task = 0;
};

// An architecture: the forward and backward pass of one block of lanes, composed of kernels. It owns its activations
// and no parameters. Training calls begin_step, then forward and backward for each chunk of the batch, then end_step;
// evaluation calls begin_evaluation, then evaluate for each chunk. Outputs are logits, one unit for each.
template <typename T>
class Network {
 public:
  virtual ~Network() = default;

  virtual const Layout& layout() const = 0;
  // The most rows a chunk may have: chosen so that a block's activations stay in cache.
  virtual int chunk_rows() const = 0;

  virtual void begin_step(const Step<T>& step) = 0;
  virtual Units<const T> forward(const Step<T>& step, const Samples<T>& samples) = 0;
  // Adds to gradients.
  virtual void backward(const Step<T>& step, const Samples<T>& samples, Units<const T> doutputs, T* gradients) = 0;
  virtual void end_step(const Step<T>& step, T* gradients) = 0;

  virtual void begin_evaluation(const T* parameters) = 0;
  virtual Units<const T> evaluate(const T* parameters, const EvaluationRows<T>& rows) = 0;
};

// Activations: `units` by `rows` by lanes.
template <typename T>
class UnitBuffer {
 public:
  UnitBuffer() = default;
  // An odd number of rows apart: units a power of two apart would fall into the same cache sets, and a store to one
  // would hold up loads from the others.
  UnitBuffer(int units, int rows, int lanes)
      : stride_(static_cast<std::size_t>(rows | 1) * lanes), values_(static_cast<std::size_t>(units) * stride_) {}

  Units<T> view() { return {values_.data(), stride_}; }
  Units<T> from(std::size_t unit) { return view().from(unit); }
  T* unit(std::size_t index) { return view().unit(index); }
  std::size_t stride() const { return stride_; }

 private:
  std::size_t stride_ = 0;
  AlignedVector<T> values_;
};

}  // namespace modlab::engine
