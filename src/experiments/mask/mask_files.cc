#include "experiments/mask/mask_files.h"

#include <cctype>

#include "io/safetensors.h"
#include "models/saved_tensors.h"

namespace modlab::experiments {
namespace {

// A target's name as part of a file's.
std::string file_part(const std::string& name) {
  std::string part;
  for (const char letter : name) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '_';
    part += is_plain ? letter : '_';
  }
  return part;
}

class Writer {
 public:
  Writer(const nlohmann::ordered_json& run, std::map<std::string, std::string>& blobs)
      : run_(run.dump()), blobs_(blobs) {}

  void add(const std::string& name, std::vector<io::NamedTensor> tensors) {
    const io::TensorFile file{std::move(tensors), {{models::kSavedRunKey, run_}}};
    blobs_["file." + name + ".safetensors"] = io::encode_safetensors(file);
  }

 private:
  std::string run_;
  std::map<std::string, std::string>& blobs_;
};

std::vector<std::size_t> sizes(const std::vector<int>& shape) { return {shape.begin(), shape.end()}; }

std::vector<io::NamedTensor> all_tensors(const engine::Layout& layout, std::span<const float> weights) {
  std::vector<io::NamedTensor> tensors;
  for (const engine::Tensor& tensor : layout.tensors) {
    const auto values = weights.subspan(tensor.offset, tensor.count);
    tensors.push_back({tensor.name, sizes(tensor.shape), {values.begin(), values.end()}});
  }
  return tensors;
}

}  // namespace

void add_mask_files(const engine::Layout& layout, const methods::MaskedParameters& masked,
                    std::span<const float> weights, const methods::MaskOutcome& outcome,
                    const nlohmann::ordered_json& run, std::map<std::string, std::string>& blobs) {
  Writer writer(run, blobs);
  writer.add("network", all_tensors(layout, weights));
  for (const methods::MaskStage& stage : outcome.stages) {
    const std::string name = file_part(stage.name);
    std::vector<io::NamedTensor> kept;
    std::vector<io::NamedTensor> logits;
    for (std::size_t at = 0; at < masked.tensors.size(); ++at) {
      const methods::MaskedTensor& tensor = masked.tensors[at];
      kept.push_back({tensor.name, sizes(tensor.shape), {}});
      logits.push_back({tensor.name, sizes(tensor.shape), {}});
      for (std::size_t place = 0; place < tensor.count; ++place) {
        kept.back().values.push_back(stage.mask.tensors[at].kept[place]);
        logits.back().values.push_back(stage.logits[static_cast<std::size_t>(masked.logit_of[tensor.offset + place])]);
      }
    }
    writer.add("mask-" + name, std::move(kept));
    writer.add("logits-" + name, std::move(logits));
    const std::span<const float> own = stage.weights.empty() ? weights : stage.weights;
    writer.add("masked-" + name, all_tensors(layout, methods::masked_weights(masked, stage.mask, own)));
  }
}

}  // namespace modlab::experiments
