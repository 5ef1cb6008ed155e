#include "io/yaml_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::io {
namespace {

std::string hint(const std::string& message, const std::string& form) {
  if (message.find("illegal map value") != std::string::npos) {
    return "; put text that contains ': ' in quotes";
  }
  if (message.find("end of map") != std::string::npos || message.find("end of sequence") != std::string::npos) {
    return "; check the indentation and the brackets around this line";
  }
  return "; check this line against the form in " + form;
}

}  // namespace

YAML::Node parse_yaml(const std::string& text, const std::string& source, const std::string& form) {
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    const std::string place = error.mark.is_null() ? source : fmt::format("{}:{}", source, error.mark.line + 1);
    throw FormatError(fmt::format("{}: not valid YAML: {}{}", place, error.msg, hint(error.msg, form)));
  }
}

std::string place_of(const YAML::Node& node, const std::string& source) {
  const YAML::Mark mark = node.Mark();
  return mark.is_null() ? source : fmt::format("{}:{}", source, mark.line + 1);
}

std::string quote_for_message(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  // Not in the middle of a UTF-8 character.
  std::size_t end = std::min(text.size(), kLongest);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return "'" + on_one_line(text.substr(0, end)) + (text.size() > kLongest ? "...'" : "'");
}

}  // namespace modlab::io
