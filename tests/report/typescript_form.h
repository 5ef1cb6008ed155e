#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "core/text.h"

namespace modlab::test {

// The interfaces of web/src/report.ts: what the page expects of its data. Knows as much TypeScript as that file has.
class TypescriptForm {
 public:
  explicit TypescriptForm(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    const std::string source = std::regex_replace(text.str(), std::regex("//[^\n]*"), "");
    const std::regex interface("export interface (\\w+) \\{([\\s\\S]*?)\n\\}");
    for (std::sregex_iterator found(source.begin(), source.end(), interface), end; found != end; ++found) {
      const std::string body = (*found)[2];
      const std::regex field(R"(\n  (\w+)(\?|): ([^\n]*);)");
      for (std::sregex_iterator each(body.begin(), body.end(), field); each != end; ++each) {
        fields_[(*found)[1]].push_back({(*each)[1], !(*each)[2].str().empty(), (*each)[3]});
      }
    }
    const std::regex alias("export type (\\w+) = ([^;]*);");
    for (std::sregex_iterator found(source.begin(), source.end(), alias), end; found != end; ++found) {
      aliases_[(*found)[1]] = (*found)[2];
    }
  }

  std::size_t size() const { return fields_.size(); }

  // Reports every place of `json` that is not as the interface has it.
  void expect(const nlohmann::ordered_json& json, const std::string& interface, const std::string& place) const {
    ASSERT_TRUE(json.is_object()) << place;
    for (const Field& field : fields_.at(interface)) {
      const std::string inner = place + "." + field.name;
      if (!json.contains(field.name)) {
        EXPECT_TRUE(field.optional) << inner << " is missing";
      } else if (!matches(json[field.name], field.type, inner)) {
        ADD_FAILURE() << inner << " is not " << field.type << ": " << json[field.name].dump().substr(0, 100);
      }
    }
    for (const auto& [name, value] : json.items()) {
      bool known = false;
      for (const Field& field : fields_.at(interface)) {
        known = known || field.name == name;
      }
      EXPECT_TRUE(known) << place << "." << name << " is not in " << interface;
    }
  }

 private:
  struct Field {
    std::string name;
    bool optional = false;
    std::string type;
  };

  // Splits at a letter outside of all brackets.
  static std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts = {""};
    int depth = 0;
    for (const char letter : text) {
      depth += std::string("([{<").find(letter) != std::string::npos ? 1 : 0;
      depth -= std::string(")]}>").find(letter) != std::string::npos ? 1 : 0;
      if (letter == at && depth == 0) {
        parts.emplace_back();
      } else {
        parts.back() += letter;
      }
    }
    for (std::string& part : parts) {
      part = trim(part);
    }
    return parts;
  }

  bool matches(const nlohmann::ordered_json& json, const std::string& type, const std::string& place) const {
    const std::vector<std::string> alternatives = split(type, '|');
    if (alternatives.size() > 1) {
      return std::ranges::any_of(alternatives, [&](const std::string& each) { return matches(json, each, place); });
    }
    const std::string& one = alternatives.front();
    if (one.ends_with("[]")) {
      std::string item = one.substr(0, one.size() - 2);
      item = item.starts_with("(") && item.ends_with(")") ? item.substr(1, item.size() - 2) : item;
      std::size_t index = 0;
      return json.is_array() && std::ranges::all_of(json, [&](const auto& each) {
               return matches(each, item, place + "[" + std::to_string(index++) + "]");
             });
    }
    if (one == "string") return json.is_string();
    if (one == "number") return json.is_number();
    if (one == "boolean") return json.is_boolean();
    if (one == "null") return json.is_null();
    if (one.starts_with("\"")) return json.is_string() && "\"" + json.get<std::string>() + "\"" == one;
    if (one == "[number, number]") return json.is_array() && json.size() == 2 && matches(json, "number[]", place);
    if (one.starts_with("Record<string, ")) {
      const std::string item = one.substr(15, one.size() - 16);
      return json.is_object() && std::ranges::all_of(json.items(), [&](const auto& entry) {
               return matches(entry.value(), item, place + "." + entry.key());
             });
    }
    if (one.starts_with("{")) {
      const std::vector<std::string> members = split(one.substr(1, one.size() - 2), ';');
      return json.is_object() && std::ranges::all_of(members, [&](const std::string& member) {
               const std::size_t colon = member.find(':');
               if (colon == std::string::npos) {
                 return true;
               }
               std::string name(trim(member.substr(0, colon)));
               const bool optional = name.ends_with('?');
               name.resize(name.size() - (optional ? 1 : 0));
               return json.contains(name) ? matches(json[name], member.substr(colon + 1), place + "." + name)
                                          : optional;
             });
    }
    if (const auto alias = aliases_.find(one); alias != aliases_.end()) {
      return matches(json, alias->second, place);
    }
    if (!fields_.contains(one)) {
      ADD_FAILURE() << place << ": what is " << one << "?";
      return false;
    }
    if (json.is_object()) {
      expect(json, one, place);
    }
    return json.is_object();
  }

  std::map<std::string, std::vector<Field>> fields_;
  std::map<std::string, std::string> aliases_;
};

}  // namespace modlab::test
