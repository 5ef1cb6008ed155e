#include "experiments/mask/mask_files.h"

#include <cctype>

#include "core/sha256.h"
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

  void add(const std::string& name, std::vector<io::NamedTensor> tensors,
           std::map<std::string, std::string> metadata = {}) {
    metadata[models::kSavedRunKey] = run_;
    blobs_["file." + name + ".safetensors"] = io::encode_safetensors({std::move(tensors), std::move(metadata)});
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

// A word that no network with other weights has.
std::string fingerprint(std::span<const float> weights) {
  const auto bytes = std::as_bytes(weights);
  return sha256_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// What `modlab overlap` has to know of the network, to say what chance would share.
std::map<std::string, std::string> network_metadata(const std::string& network, const models::WeightMask& mask) {
  nlohmann::ordered_json absent;
  for (const models::MaskTensor& tensor : mask.tensors) {
    absent[tensor.name] = tensor.absent;
  }
  return {{models::kMaskedNetworkKey, network}, {models::kAbsentKey, absent.dump()}};
}

}  // namespace

void add_mask_files(const engine::Layout& layout, const methods::MaskedParameters& masked,
                    std::span<const float> weights, const methods::MaskOutcome& outcome,
                    const nlohmann::ordered_json& run, std::map<std::string, std::string>& blobs) {
  Writer writer(run, blobs);
  writer.add("network", all_tensors(layout, weights));
  for (const methods::MaskStage& stage : outcome.stages) {
    const std::string name = file_part(stage.name);
    const std::span<const float> own = stage.weights.empty() ? weights : stage.weights;
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
    writer.add("mask-" + name, std::move(kept), network_metadata(fingerprint(own), stage.mask));
    writer.add("logits-" + name, std::move(logits));
    writer.add("masked-" + name, all_tensors(layout, methods::masked_weights(masked, stage.mask, own)));
  }
}

}  // namespace modlab::experiments
