#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

namespace modlab::io {

// The document in `text`. Throws FormatError, with `source` and the line, if it is not one YAML document. Whatever else
// yaml-cpp could throw on a wrong kind of node is avoided by asking for the kind first. `form` is where the message
// sends the reader.
YAML::Node parse_yaml(const std::string& text, const std::string& source, const std::string& form = "tasks/README.md");

// "tasks/a.yaml:7", or the source alone where yaml-cpp does not know the line.
std::string place_of(const YAML::Node& node, const std::string& source);

// Words from a file as they may stand in a one-line message: no control characters, shortened, in quotes.
std::string quote_for_message(std::string_view text);

}  // namespace modlab::io
