#include <algorithm>

#include "models/images/bit_levels.h"
#include "models/images/image_network.h"
#include "models/images/image_reader.h"

namespace modlab::models {
namespace {

using engine::solo::kChunkRows;
using engine::solo::Logits;
using engine::solo::padded;
using engine::solo::PixelRows;
using engine::solo::Samples;

// Image slots below, levels of small modules above.
template <typename T>
class ImageModular : public engine::solo::Network<T> {
 public:
  ImageModular(const ImageModularShape& shape, const engine::solo::Kernels<T>& kernels)
      : shape_(shape),
        kernels_(kernels),
        places_(image_modular_layout(shape)),
        parameters_(places_.layout, places_.pixel_tensors),
        image_inputs_(selector(places_.image_inputs, shape.images)),
        image_members_(has_pool() ? selector(places_.image_members, shape.image_pool) : image_inputs_),
        levels_(shape, places_, parameters_, kernels),
        values_(static_cast<std::size_t>(shape.bits.inputs) * kChunkRows),
        dvalues_(values_.size()) {
    for (const ReaderTensors& tensors : places_.readers) {
      readers_.push_back(
          make_reader<T>(shape.reader, tensors, has_pool() ? shape.image_slots : 1, parameters_, kernels));
    }
    const int readers = has_pool() ? shape.image_pool : 1;
    member_values_.resize(static_cast<std::size_t>(shape.image_slots) * readers);
  }

  const engine::Layout& layout() const override { return places_.layout; }
  engine::solo::Parameters<T>& parameters() override { return parameters_; }

  void begin_step(const engine::solo::Step<T>& step) override {
    choose(step.noise);
    for (const auto& reader : readers_) {
      reader->begin_backward(step.late);
    }
    levels_.begin_backward();
  }

  Logits<T> forward(const Samples& samples) override { return run(samples, true); }

  void backward(const Samples& samples, const T* dlogits) override {
    levels_.backward(values_.data(), dlogits, samples.rows, dvalues_.data());
    for (int slot = 0; slot < shape_.image_slots; ++slot) {
      slot_backward(slot, samples);
    }
  }

  void end_step(const engine::solo::Step<T>& step) override {
    image_inputs_.finish(parameters_, step, kernels_);
    if (has_pool()) {
      image_members_.finish(parameters_, step, kernels_);
    }
    levels_.end_step(step);
  }

  std::vector<engine::solo::LateGradient<T>*> late_gradients() override {
    std::vector<engine::solo::LateGradient<T>*> late;
    for (const auto& reader : readers_) {
      if (engine::solo::LateGradient<T>* gradient = reader->late_gradient()) {
        late.push_back(gradient);
      }
    }
    return late;
  }

  void begin_evaluation() override { choose(nullptr); }
  Logits<T> evaluate(const Samples& samples) override { return run(samples, false); }

 private:
  bool has_pool() const { return shape_.bits.pool > 0; }
  int values_per_slot() const { return shape_.reader.outputs(); }

  Selector<T> selector(std::size_t tensor, int candidates) const {
    const engine::Tensor& described = places_.layout.tensors[tensor];
    return {tensor,
            described.offset - places_.layout.structural_begin,
            candidates,
            shape_.image_slots,
            1,
            Selector<T>::Soft::kSoftmax,
            described.rate != engine::Rate::kFrozen};
  }

  void choose(const T* noise) {
    image_inputs_.choose(parameters_, noise);
    if (has_pool()) {
      image_members_.choose(parameters_, noise);
    }
    levels_.choose(noise);
  }

  // The rows of one of a sample's images.
  PixelRows rows_of(const Samples& samples, int image) const {
    return {samples.images, samples.numbers + image, shape_.images, 1, samples.rows};
  }

  Logits<T> run(const Samples& samples, bool training) {
    for (int slot = 0; slot < shape_.image_slots; ++slot) {
      const PixelRows rows = rows_of(samples, image_inputs_.pick(slot));
      if (!has_pool()) {
        take_values(slot, readers_[slot]->forward(0, rows), rows.rows);
        continue;
      }
      const int picked = image_members_.pick(slot);
      for (int member = 0; member < shape_.image_pool; ++member) {
        // A pool of one has nothing to learn, so only its one member's say is kept.
        if (member == picked || (training && image_members_.learned())) {
          member_values_[slot * shape_.image_pool + member] = readers_[member]->forward(slot, rows);
        }
      }
      take_values(slot, member_values_[slot * shape_.image_pool + picked], rows.rows);
    }
    return {levels_.forward(values_.data(), samples.rows, training), kChunkRows};
  }

  void take_values(int slot, const T* from, int rows) {
    const int stride = padded(values_per_slot());
    for (int value = 0; value < values_per_slot(); ++value) {
      T* column = values_.data() + static_cast<std::size_t>(slot * values_per_slot() + value) * kChunkRows;
      for (int row = 0; row < rows; ++row) {
        column[row] = from[static_cast<std::size_t>(row) * stride + value];
      }
      std::fill(column + rows, column + padded(rows), T{0});
    }
  }

  void slot_backward(int slot, const Samples& samples) {
    const int picked = has_pool() ? image_members_.pick(slot) : 0;
    Reader<T>& reader = *readers_[has_pool() ? picked : slot];
    const int use = has_pool() ? slot : 0;
    const int stride = padded(values_per_slot());
    T* d = reader.doutput(use);
    for (int value = 0; value < values_per_slot(); ++value) {
      const T* column = dvalues_.data() + static_cast<std::size_t>(slot * values_per_slot() + value) * kChunkRows;
      for (int row = 0; row < samples.rows; ++row) {
        d[static_cast<std::size_t>(row) * stride + value] = column[row];
      }
    }
    if (has_pool() && image_members_.learned()) {
      for (int member = 0; member < shape_.image_pool; ++member) {
        image_members_.add(slot, member,
                           kernels_.dot(d, member_values_[slot * shape_.image_pool + member],
                                        static_cast<std::size_t>(samples.rows) * stride));
      }
    }
    const int image = image_inputs_.pick(slot);
    reader.backward(use, rows_of(samples, image));
    for (int candidate = 0; image_inputs_.learned() && candidate < shape_.images; ++candidate) {
      image_inputs_.add(slot, candidate,
                        candidate == image ? reader.own_correlation(use, samples.rows)
                                           : reader.correlation(use, rows_of(samples, candidate)));
    }
  }

  ImageModularShape shape_;
  const engine::solo::Kernels<T>& kernels_;
  ImageModularLayout places_;
  engine::solo::Parameters<T> parameters_;
  Selector<T> image_inputs_;
  Selector<T> image_members_;  // unused without a pool
  std::vector<std::unique_ptr<Reader<T>>> readers_;
  BitLevels<T> levels_;
  AlignedVector<T> values_, dvalues_;    // [image slot's value][row]
  std::vector<const T*> member_values_;  // [image slot][member], of the last forward
};

}  // namespace

template <typename T>
std::unique_ptr<engine::solo::Network<T>> make_image_modular(const ImageModularShape& shape,
                                                             const engine::solo::Kernels<T>& kernels) {
  return std::make_unique<ImageModular<T>>(shape, kernels);
}

template std::unique_ptr<engine::solo::Network<float>> make_image_modular(const ImageModularShape&,
                                                                          const engine::solo::Kernels<float>&);
template std::unique_ptr<engine::solo::Network<double>> make_image_modular(const ImageModularShape&,
                                                                           const engine::solo::Kernels<double>&);

}  // namespace modlab::models
