#include "settings/setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::settings {
namespace {

using nlohmann::json;

// A population larger than this is a slip of the pen.
constexpr std::size_t kMaxValues = 5'000'000;

// "0..99" as the numbers it stands for, or the text itself.
void add_range(const std::string& name, const std::string& text, std::vector<std::string>& values) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) {
    values.push_back(text);
    return;
  }
  const std::optional<long long> first = parse_integer(text.substr(0, dots));
  const std::optional<long long> last = parse_integer(text.substr(dots + 2));
  // Without a sign: they may lie further apart than a long long counts, and the last may be its largest.
  const auto distance =
      static_cast<unsigned long long>(last.value_or(0)) - static_cast<unsigned long long>(first.value_or(0));
  if (!first || !last || *last < *first) {
    throw ConfigError(fmt::format("{} '{}' is not a range; write for example 0..99", name, text));
  }
  if (distance >= kMaxValues || values.size() + distance >= kMaxValues) {
    throw ConfigError(
        fmt::format("{} '{}' has more values than the {} that are possible; split them up", name, text, kMaxValues));
  }
  for (unsigned long long step = 0; step <= distance; ++step) {
    values.push_back(std::to_string(*first + static_cast<long long>(step)));
  }
}

constexpr std::uint64_t kHashStart = 0xcbf29ce484222325ULL;

// FNV-1a, 64 bits.
std::uint64_t hashed(std::uint64_t hash, std::string_view text) {
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace

std::string Setting::shown() const {
  if (!label.empty()) {
    return label;
  }
  std::string words = name;
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string Setting::panel_text(const std::string& value_text) const {
  if (!parse_real(value_text)) {
    return value_text;  // names speak for themselves
  }
  if (role == Role::kFact) {
    std::string words = shown();
    if (value_text == "1" && words.ends_with('s')) {
      words.pop_back();
    }
    return value_text + " " + words;
  }
  return shown() + " " + value_text;
}

std::string setting_text(const json& value) {
  if (value.is_null()) {
    return "none";
  }
  if (!value.is_array()) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  }
  std::vector<std::string> entries;
  for (const json& entry : value) {
    entries.push_back(setting_text(entry));
  }
  return join_text(entries, ",");
}

void check_text(const Setting& setting, const std::string& text) {
  if (on_one_line(text) != text) {
    throw ConfigError(
        fmt::format("{} '{}' is not plain UTF-8; rename the file, or take another value", setting.name, text));
  }
}

std::vector<std::string> expand_values(const Setting& setting, const std::vector<std::string>& words) {
  std::vector<std::string> values;
  if (setting.is_list) {
    // Words without a comma are the entries of one list, the form of the published flags: --num_modules 3 2.
    if (words.size() > 1 && std::ranges::none_of(words, [](const std::string& word) {
          return word.find_first_of(",;") != std::string::npos;
        })) {
      return {join_text(words, ",")};
    }
    for (const std::string& word : words) {
      for (const std::string& value : split_text(word, ';')) {
        values.push_back(value);
      }
    }
    return values;
  }
  for (const std::string& word : words) {
    for (const std::string& value : split_text(word, ',')) {
      // A path may contain "..", a task is never a range.
      if (setting.role == Setting::Role::kTask) {
        values.push_back(value);
      } else {
        add_range(setting.name, value, values);
      }
    }
  }
  return values;
}

Given given_from_json(const nlohmann::ordered_json& object, std::span<const Setting> settings) {
  Given given;
  for (const Setting& setting : settings) {
    const auto found = object.find(setting.name);
    if (found == object.end() || setting.sets_others || setting.role == Setting::Role::kFact) {
      continue;
    }
    std::string text = setting_text(*found);
    if (!text.empty() && !(text == "0" && setting.is_size)) {
      given[setting.name] = std::move(text);
    }
  }
  return given;
}

Values Values::with(std::vector<std::pair<std::uint32_t, json>> own) const {
  Values other = *this;
  other.own_ = std::move(own);
  return other;
}

std::optional<std::size_t> Values::place(std::string_view name) const {
  for (std::size_t at = 0; at < size(); ++at) {
    if ((*row_)[at].setting->name == name) {
      return at;
    }
  }
  return std::nullopt;
}

const json* Values::own(std::size_t place) const {
  for (const auto& [at, value] : own_) {
    if (at == place) {
      return &value;
    }
  }
  return nullptr;
}

json Values::value_at(std::size_t place) const {
  const json* mine = own(place);
  return mine != nullptr ? *mine : (*row_)[place].value;
}

std::string Values::text_at(std::size_t place) const {
  const json* mine = own(place);
  return mine != nullptr ? setting_text(*mine) : (*row_)[place].text;
}

json Values::get(std::string_view name) const {
  const std::optional<std::size_t> at = place(name);
  return at ? value_at(*at) : json(nullptr);
}

std::string Values::text(std::string_view name) const {
  const std::optional<std::size_t> at = place(name);
  return at ? text_at(*at) : "";
}

bool Values::speaks_at(std::size_t place) const {
  const Setting& setting = setting_at(place);
  const json value = value_at(place);
  const bool is_empty = value.is_null() || (value.is_array() && value.empty());
  return setting.role != Setting::Role::kFact && !is_empty &&
         (setting.is_set_by.empty() || get(setting.is_set_by) != value);
}

nlohmann::ordered_json Values::to_json() const {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (std::size_t at = 0; at < size(); ++at) {
    if (setting_at(at).role != Setting::Role::kFact) {
      object[setting_at(at).name] = value_at(at);
    }
  }
  return object;
}

RunNames::RunNames(const Values::Row& row, const std::map<std::string, json>& defaults) {
  pieces_.emplace_back();
  for (std::size_t at = 0; at < row.size(); ++at) {
    const Setting& setting = *row[at].setting;
    if (setting.sets_others || setting.role == Setting::Role::kFact) {
      continue;
    }
    const auto found = defaults.find(setting.name);
    const bool has_default = found != defaults.end();
    if (setting.is_replicate()) {
      // Not a number where there is no default, which equals no value.
      pieces_.push_back(
          {"", static_cast<std::uint32_t>(at), has_default ? found->second : json::binary({}), setting.name});
      pieces_.emplace_back();
    } else if (!has_default || row[at].value != found->second) {
      pieces_.back().text += setting.name + "=" + row[at].value.dump() + "\n";
    }
  }
}

std::uint64_t RunNames::number(const Values& values) const {
  std::uint64_t hash = kHashStart;
  for (const Piece& piece : pieces_) {
    if (!piece.place) {
      hash = hashed(hash, piece.text);
      continue;
    }
    if (const json value = values.value_at(*piece.place); value != piece.otherwise) {
      hash = hashed(hashed(hashed(hashed(hash, piece.name), "="), value.dump()), "\n");
    }
  }
  return hash;
}

std::string id_text(std::uint64_t number) { return fmt::format("{:016x}", number); }

std::optional<std::uint64_t> id_number(std::string_view text) {
  constexpr std::size_t kDigits = 16;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  const bool is_whole = text.size() == kDigits && error == std::errc() && end == text.data() + text.size();
  return is_whole && id_text(number) == text ? std::optional(number) : std::nullopt;
}

}  // namespace modlab::settings
