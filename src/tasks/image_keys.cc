#include "tasks/image_keys.h"

#include <fmt/format.h>

#include <bit>

#include "core/errors.h"
#include "core/text.h"
#include "io/yaml_file.h"

namespace modlab::tasks {
namespace {

long long read_count(const YAML::Node& node, const std::string& key, const std::string& source) {
  const std::optional<long long> count = parse_integer(scalar_text(node).value_or(""));
  if (!count) {
    throw FormatError(
        fmt::format("{}: '{}' is not a whole number; write '{}: 2'", io::place_of(node, source), key, key));
  }
  return *count;
}

}  // namespace

std::optional<ImageInputs> parse_image_keys(const TaskKeys& keys, const std::string& source) {
  const auto images = keys.find("images");
  const auto digits = keys.find("digits");
  if (images == keys.end()) {
    if (digits != keys.end()) {
      throw ConfigError(fmt::format("{}: 'digits' without 'images'; add a line such as 'images: 2', or remove it",
                                    io::place_of(digits->second, source)));
    }
    return std::nullopt;
  }
  ImageInputs inputs;
  const long long image_count = read_count(images->second, "images", source);
  if (image_count < 2 || image_count > kMaxImages) {
    throw ConfigError(
        fmt::format("{}: images is {}; use 2 to {}", io::place_of(images->second, source), image_count, kMaxImages));
  }
  inputs.images = static_cast<int>(image_count);
  if (digits != keys.end()) {
    const long long digit_count = read_count(digits->second, "digits", source);
    if (digit_count < 2 || digit_count > kMaxDigits) {
      throw ConfigError(fmt::format("{}: digits is {}, but an image shows one of the {} digits 0 to {}; use 2 to {}",
                                    io::place_of(digits->second, source), digit_count, kMaxDigits, kMaxDigits - 1,
                                    kMaxDigits));
    }
    inputs.digits = static_cast<int>(digit_count);
  }
  inputs.bits = static_cast<int>(std::bit_width(static_cast<unsigned>(inputs.digits - 1)));
  return inputs;
}

std::vector<std::string> bit_names(const ImageInputs& inputs) {
  std::vector<std::string> names;
  for (int image = 0; image < inputs.images; ++image) {
    for (int bit = inputs.bits; bit-- > 0;) {
      names.push_back(fmt::format("{}{}", static_cast<char>('a' + image), bit));
    }
  }
  return names;
}

}  // namespace modlab::tasks
