#include "torch/colour_network.h"
#include "torch/script_network.h"
#include "torch/sequence_network.h"

// What the program finds when it has loaded this library: see models/torch/torch_network.h.
namespace modlab::on_torch {
namespace {

class Library : public models::TorchLibrary {
 public:
  models::ScriptContents read_script(const models::ScriptFile& file) const override {
    models::ScriptContents contents;
    with_libtorch(file.path, 1, [&] {
      const ScriptModule module(file, torch::kCPU);
      contents.is_checked = module.is_checked();
      for (const ScriptModule::Parameter& parameter : module.parameters()) {
        std::vector<int> shape;
        for (const std::int64_t size : parameter.value.sizes()) {
          shape.push_back(static_cast<int>(size));
        }
        contents.layout.add(parameter.name, std::move(shape), engine::Rate::kFunctional, 1, 1);
        const std::vector<float> values = as_floats(parameter.value);
        contents.parameters.insert(contents.parameters.end(), values.begin(), values.end());
      }
    });
    return contents;
  }

  std::unique_ptr<models::ScriptedNetwork> open_script(const models::ScriptFile& file,
                                                       std::shared_ptr<const models::GivenSamples> samples,
                                                       const models::TorchPlace& place) const override {
    std::unique_ptr<models::ScriptedNetwork> network;
    with_libtorch(file.path, place.threads,
                  [&] { network = std::make_unique<ScriptNetwork>(file, std::move(samples), place); });
    return network;
  }

  std::unique_ptr<models::TorchNetwork> open_sequences(const models::SequenceShape& shape,
                                                       std::shared_ptr<const models::TokenSequences> samples,
                                                       std::uint64_t seed,
                                                       const models::TorchPlace& place) const override {
    std::unique_ptr<models::TorchNetwork> network;
    with_libtorch("a network on sequences", place.threads,
                  [&] { network = std::make_unique<SequenceNetwork>(shape, std::move(samples), seed, place); });
    return network;
  }

  std::unique_ptr<models::TorchNetwork> open_colour(const models::ColourShape& shape,
                                                    std::shared_ptr<const models::ColourSamples> samples,
                                                    const models::TorchPlace& place) const override {
    std::unique_ptr<models::TorchNetwork> network;
    with_libtorch("network on images", place.threads,
                  [&] { network = std::make_unique<ColourNetwork>(shape, std::move(samples), place); });
    return network;
  }
};

}  // namespace
}  // namespace modlab::on_torch

extern "C" const modlab::models::TorchLibrary* modlab_torch_library() {
  static const modlab::on_torch::Library kLibrary;
  return &kLibrary;
}
