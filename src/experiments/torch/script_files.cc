#include "experiments/torch/script_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/errors.h"
#include "core/notice.h"
#include "core/sha256.h"
#include "core/text.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "models/saved_tensors.h"

namespace modlab::experiments {

std::string contents_of(const std::vector<std::string>& files) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 32U;
  constexpr std::size_t kDigits = 16;
  std::string text;
  for (const std::string& file : files) {
    text += sha256_hex(io::read_file(file, kMostBytes));
  }
  return sha256_hex(text).substr(0, kDigits);
}

void check_contents(const std::vector<std::string>& files, const std::string& contents) {
  if (contents_of(files) != contents) {
    throw ConfigError(fmt::format("{} {} not what {} when this run was planned", join_text(files, " or "),
                                  files.size() == 1 ? "is" : "are", files.size() == 1 ? "it was" : "they were"));
  }
}

models::ScriptFile checked_script(const std::string& path) {
  models::ScriptFile file = models::read_script_file(path);
  if (!models::torch_library().read_script(file).is_checked) {
    give_notice(fmt::format(
        "{} has no record of what it says (check.npz), so that nobody can tell whether it says it here", path));
  }
  return file;
}

std::unique_ptr<models::ScriptedNetwork> open_for_task(const models::ScriptFile& file,
                                                       const std::shared_ptr<const models::GivenSamples>& samples,
                                                       const std::vector<std::size_t>& answers, const std::string& task,
                                                       int threads) {
  try {
    return models::torch_library().open_script(file, samples, {"cpu", threads});
  } catch (const FormatError& error) {
    throw FormatError(
        fmt::format("{}; {} gives a network inputs of shape (samples, {}) and wants outputs of shape "
                    "(samples, {})",
                    error.what(), task, fmt::join(samples->shape, ", "), fmt::join(answers, ", ")));
  }
}

std::string weights_file(const engine::Layout& layout, std::span<const float> parameters,
                         const nlohmann::ordered_json& run) {
  io::TensorFile file;
  for (const engine::Tensor& tensor : layout.tensors) {
    const auto values = parameters.subspan(tensor.offset, tensor.count);
    file.tensors.push_back({tensor.name, {tensor.shape.begin(), tensor.shape.end()}, {values.begin(), values.end()}});
  }
  file.metadata[models::kSavedRunKey] = run.dump();
  return io::encode_safetensors(file);
}

}  // namespace modlab::experiments
