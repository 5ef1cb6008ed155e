#include "models/network_file/network_file_parts.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::models::network_file {

void fail(const std::string& source, const std::string& reason) {
  throw FormatError(fmt::format("{}: {}", source, reason));
}

void refuse_others(const NetworkFileOptions& options, const Meaning& meaning, const std::string& source) {
  const auto refuse = [&](bool is_given, bool has_meaning, const char* what, const char* where) {
    if (is_given && !has_meaning) {
      throw ConfigError(fmt::format("{}: {} can be chosen only for {}; leave it out", source, what, where));
    }
  };
  refuse(!options.tensors.empty(), meaning.tensors, "a list of tensors", "other safetensors and npz files");
  refuse(options.inputs_first, meaning.order, "the order of inputs and outputs", "matrices of other programs");
  refuse(!options.sizes.empty(), meaning.sizes, "the size of layers", "lists of edges");
  refuse(options.last_snapshot, meaning.snapshot, "a snapshot", "what `modlab train --save` wrote");
}

std::string id_of_file(const std::string& name) {
  std::filesystem::path path(name);
  if (path.extension() == ".gz") {
    path = path.stem();
  }
  return on_one_line(path.stem().string());
}

DenseLayer turned(const DenseLayer& layer) {
  DenseLayer result{layer.out, layer.in, std::vector<float>(layer.weights.size()), layer.bias};
  for (int row = 0; row < layer.out; ++row) {
    for (int column = 0; column < layer.in; ++column) {
      result.weights[static_cast<std::size_t>(column) * layer.out + row] =
          layer.weights[static_cast<std::size_t>(row) * layer.in + column];
    }
  }
  return result;
}

}  // namespace modlab::models::network_file
