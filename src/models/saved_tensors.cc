#include "models/saved_tensors.h"

#include <fmt/format.h>

#include <utility>

#include "core/errors.h"

namespace modlab::models {

void add_snapshots(const engine::Layout& layout, const std::vector<float>& best, const std::vector<float>& last,
                   io::TensorFile& file) {
  for (const auto& [prefix, parameters] : {std::pair{"best", &best}, std::pair{"last", &last}}) {
    for (const engine::Tensor& tensor : layout.tensors) {
      const auto begin = parameters->begin() + static_cast<std::ptrdiff_t>(tensor.offset);
      file.tensors.push_back({fmt::format("{}/{}", prefix, tensor.name),
                              {tensor.shape.begin(), tensor.shape.end()},
                              {begin, begin + static_cast<std::ptrdiff_t>(tensor.count)}});
    }
  }
}

std::vector<float> read_snapshot(const io::TensorFile& file, const engine::Layout& layout, const std::string& prefix,
                                 const std::string& path) {
  std::vector<float> parameters;
  for (const engine::Tensor& tensor : layout.tensors) {
    const io::NamedTensor* stored = file.find(prefix + "/" + tensor.name);
    const std::vector<std::size_t> shape(tensor.shape.begin(), tensor.shape.end());
    if (stored == nullptr || stored->shape != shape) {
      throw FormatError(
          fmt::format("{}: tensor '{}/{}' is missing or of another shape than its settings say; save the "
                      "network again",
                      path, prefix, tensor.name));
    }
    parameters.insert(parameters.end(), stored->values.begin(), stored->values.end());
  }
  return parameters;
}

}  // namespace modlab::models
