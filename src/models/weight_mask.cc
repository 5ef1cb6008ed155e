#include "models/weight_mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/errors.h"
#include "core/text.h"
#include "io/file.h"
#include "io/npz.h"
#include "io/safetensors.h"

namespace modlab::models {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 31U;

io::TensorFile tensors_of(const std::string& bytes, const std::string& path) {
  if (io::is_zip(bytes)) {
    io::refuse_pickle(bytes, path);
    return {io::decode_npz(bytes, path), {}};
  }
  if (io::is_safetensors(bytes, path)) {
    return io::decode_safetensors(bytes, path);
  }
  io::refuse_pickle(bytes, path);
  throw FormatError(path + ": is no mask; safetensors and npz files are read");
}

MaskTensor mask_of(const io::NamedTensor& tensor, const std::string& path, Keeping keeping) {
  const auto is_kept = [&](float value) {
    if (std::isnan(value)) {
      throw FormatError(fmt::format("{}: tensor {} has a value that is not a number", path, on_one_line(tensor.name)));
    }
    if (keeping == Keeping::kOne && value != 0 && value != 1) {
      throw FormatError(
          fmt::format("{}: tensor {} has other values than 0 and 1 ({:g}). With --nonzero all weights but zeros are "
                      "kept, with --logits what is above zero",
                      path, on_one_line(tensor.name), value));
    }
    return keeping == Keeping::kPositive ? value > 0 : value != 0;
  };
  MaskTensor mask{tensor.name, tensor.shape, std::vector<std::uint8_t>(tensor.values.size())};
  std::ranges::transform(tensor.values, mask.kept.begin(),
                         [&](float value) { return static_cast<std::uint8_t>(is_kept(value)); });
  return mask;
}

// What a file of ours says of the network that it masks.
void read_network(const std::map<std::string, std::string>& metadata, const std::string& path, WeightMask& mask) {
  const auto network = metadata.find(kMaskedNetworkKey);
  const auto counts = metadata.find(kAbsentKey);
  if (network == metadata.end() || counts == metadata.end()) {
    return;
  }
  const auto absent = nlohmann::json::parse(counts->second, nullptr, false);
  for (MaskTensor& tensor : mask.tensors) {
    const auto found = absent.is_object() ? absent.find(tensor.name) : absent.end();
    const auto kept = static_cast<std::size_t>(std::ranges::count(tensor.kept, 1));
    if (found == absent.end() || !found->is_number_unsigned() ||
        found->get<std::uint64_t>() > tensor.kept.size() - kept) {
      throw FormatError(fmt::format("{}: its {} does not fit tensor {}", path, kAbsentKey, on_one_line(tensor.name)));
    }
    tensor.absent = found->get<std::size_t>();
  }
  mask.network = network->second;
}

}  // namespace

const MaskTensor* WeightMask::find(const std::string& tensor) const {
  const auto found = std::ranges::find(tensors, tensor, &MaskTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

WeightMask decode_weight_mask(const std::string& bytes, const std::string& path, Keeping keeping) {
  WeightMask mask{path, {}};
  const io::TensorFile file = tensors_of(bytes, path);
  for (const io::NamedTensor& tensor : file.tensors) {
    if (mask.find(tensor.name) != nullptr) {
      throw FormatError(fmt::format("{}: has tensor {} twice", path, on_one_line(tensor.name)));
    }
    mask.tensors.push_back(mask_of(tensor, path, keeping));
  }
  const bool says_something =
      std::ranges::any_of(mask.tensors, [](const MaskTensor& tensor) { return !tensor.kept.empty(); });
  if (!says_something) {
    throw FormatError(path + ": has no numbers");
  }
  if (keeping == Keeping::kOne) {
    read_network(file.metadata, path, mask);
  }
  return mask;
}

WeightMask read_weight_mask(const std::string& path, Keeping keeping) {
  return decode_weight_mask(io::read_file(path, kMaxFileBytes), path, keeping);
}

}  // namespace modlab::models
