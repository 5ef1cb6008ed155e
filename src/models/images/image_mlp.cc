#include "models/images/image_network.h"
#include "models/images/image_reader.h"

namespace modlab::models {
namespace {

using engine::solo::kChunkRows;
using engine::solo::Logits;
using engine::solo::padded;
using engine::solo::PixelRows;
using engine::solo::Samples;

// One reader of all images whose values are the logits.
template <typename T>
class ImageMlp : public engine::solo::Network<T> {
 public:
  ImageMlp(const ImageMlpShape& shape, const engine::solo::Kernels<T>& kernels)
      : shape_(shape),
        places_(image_mlp_layout(shape)),
        parameters_(places_.layout, places_.pixel_tensors),
        reader_(make_reader<T>(shape.reader, places_.reader, 1, parameters_, kernels)),
        logits_(static_cast<std::size_t>(shape.reader.outputs()) * kChunkRows) {}

  const engine::Layout& layout() const override { return places_.layout; }
  engine::solo::Parameters<T>& parameters() override { return parameters_; }

  void begin_step(const engine::solo::Step<T>& step) override { reader_->begin_backward(step.late); }
  Logits<T> forward(const Samples& samples) override { return evaluate(samples); }

  void backward(const Samples& samples, const T* dlogits) override {
    T* d = reader_->doutput(0);
    for_each_logit(samples.rows, [&](std::size_t at, std::size_t value) { d[value] = dlogits[at]; });
    reader_->backward(0, rows_of(samples));
  }

  void end_step(const engine::solo::Step<T>& /*step*/) override {}
  std::vector<engine::solo::LateGradient<T>*> late_gradients() override {
    engine::solo::LateGradient<T>* late = reader_->late_gradient();
    return late == nullptr ? std::vector<engine::solo::LateGradient<T>*>{} : std::vector{late};
  }
  void begin_evaluation() override {}

  Logits<T> evaluate(const Samples& samples) override {
    const T* values = reader_->forward(0, rows_of(samples));
    for_each_logit(samples.rows, [&](std::size_t at, std::size_t value) { logits_[at] = values[value]; });
    return {logits_.data(), kChunkRows};
  }

 private:
  PixelRows rows_of(const Samples& samples) const {
    return {samples.images, samples.numbers, shape_.images(), shape_.images(), samples.rows};
  }
  // Calls visit(place in [output][row], place in [row][padded output]).
  template <typename Visit>
  void for_each_logit(int rows, const Visit& visit) const {
    const int outputs = shape_.reader.outputs();
    for (int output = 0; output < outputs; ++output) {
      for (int row = 0; row < rows; ++row) {
        visit(static_cast<std::size_t>(output) * kChunkRows + row,
              static_cast<std::size_t>(row) * padded(outputs) + output);
      }
    }
  }

  ImageMlpShape shape_;
  ImageMlpLayout places_;
  engine::solo::Parameters<T> parameters_;
  std::unique_ptr<Reader<T>> reader_;
  AlignedVector<T> logits_;
};

}  // namespace

template <typename T>
std::unique_ptr<engine::solo::Network<T>> make_image_mlp(const ImageMlpShape& shape,
                                                         const engine::solo::Kernels<T>& kernels) {
  return std::make_unique<ImageMlp<T>>(shape, kernels);
}

template std::unique_ptr<engine::solo::Network<float>> make_image_mlp(const ImageMlpShape&,
                                                                      const engine::solo::Kernels<float>&);
template std::unique_ptr<engine::solo::Network<double>> make_image_mlp(const ImageMlpShape&,
                                                                       const engine::solo::Kernels<double>&);

}  // namespace modlab::models
