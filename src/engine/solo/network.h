#pragma once

#include "engine/network.h"
#include "engine/solo/parameters.h"

namespace modlab::engine::solo {

// Some samples of an image task: a row is one image number for each image that the network sees.
struct Samples {
  const PixelImages* images = nullptr;
  const std::uint32_t* numbers = nullptr;  // [row][image]
  int rows = 0;
};

template <typename T>
struct Step {
  T inverse_tau = 1;
  const T* noise = nullptr;  // Gumbel noise, one for each structural parameter; or null
  // The batch is one chunk, and whoever updates the parameters asks for late gradients.
  bool late = false;
};

// The gradient of a first layer's weights is by far the largest. It need not lie in memory: whoever updates the weights
// can have it computed piece by piece, and each piece stays in the first cache level until it is used.
template <typename T>
class LateGradient {
 public:
  virtual ~LateGradient() = default;

  virtual std::size_t tensor() const = 0;
  // Blocks of units, and inputs (an even number) of each; a block's weights are [input][unit].
  virtual int inputs() const = 0;
  virtual int units() const = 0;
  // Of the inputs [first, last), both even, and the block that begins with `unit`.
  virtual void compute(int unit, int first, int last, T* gradients) = 0;
};

// Logits, one row of `stride` numbers for each output.
template <typename T>
struct Logits {
  const T* values = nullptr;
  int stride = 0;
};

// An architecture that is trained one network at a time. It owns its parameters and its activations. Training calls
// begin_step, then forward and backward for each chunk of the batch, then end_step; gradients are zero before. An
// evaluation calls begin_evaluation, then evaluate for each chunk.
template <typename T>
class Network {
 public:
  virtual ~Network() = default;

  virtual const Layout& layout() const = 0;
  virtual Parameters<T>& parameters() = 0;

  virtual void begin_step(const Step<T>& step) = 0;
  virtual Logits<T> forward(const Samples& samples) = 0;
  // `dlogits` as forward gave the logits. Adds to the gradients.
  virtual void backward(const Samples& samples, const T* dlogits) = 0;
  virtual void end_step(const Step<T>& step) = 0;
  // If the step was one with late gradients: those that are not in parameters().
  virtual std::vector<LateGradient<T>*> late_gradients() = 0;

  virtual void begin_evaluation() = 0;
  virtual Logits<T> evaluate(const Samples& samples) = 0;
};

// The most rows of a chunk: a block of weights stays in the first cache level, the activations in the second.
inline constexpr int kChunkRows = 128;

}  // namespace modlab::engine::solo
