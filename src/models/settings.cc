#include "models/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"
#include "core/text.h"

namespace modlab::models {
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
  if (!first || !last || *last < *first || distance >= kMaxValues) {
    throw ConfigError(fmt::format("{} '{}' is not a range; write for example 0..99", name, text));
  }
  if (values.size() + distance >= kMaxValues) {
    throw ConfigError(fmt::format("{} has more than {} values; split them up", name, kMaxValues));
  }
  for (unsigned long long step = 0; step <= distance; ++step) {
    values.push_back(std::to_string(*first + static_cast<long long>(step)));
  }
}

std::string scope_text(Setting::Scope scope) {
  switch (scope) {
    case Setting::Scope::kAll:
      return "all";
    case Setting::Scope::kUnsculpted:
      return "all but sculpted";
    case Setting::Scope::kSculpted:
      return "sculpted";
    case Setting::Scope::kMlp:
      return "dense, sparse, cnn, sculpted";
    case Setting::Scope::kSparse:
      return "sparse";
    case Setting::Scope::kModular:
      return "modular kinds";
    case Setting::Scope::kOwnModules:
      return "modular, modular-fc";
    case Setting::Scope::kPool:
      return "shared kinds";
    case Setting::Scope::kBits:
      return "all, not on images";
    case Setting::Scope::kImages:
      return "all on images";
    case Setting::Scope::kImageModular:
      return "modular kinds on images";
    case Setting::Scope::kImagePool:
      return "shared kinds on images";
  }
  return "";
}

}  // namespace

const Setting* find_setting(const std::string& name) {
  std::string wanted = name;
  std::ranges::replace(wanted, '-', '_');
  const auto found = std::ranges::find(settings(), wanted, &Setting::name);
  return found == settings().end() ? nullptr : &*found;
}

bool applies(const Setting& setting, const RunSpec& spec) {
  switch (setting.scope) {
    case Setting::Scope::kAll:
      return true;
    case Setting::Scope::kUnsculpted:
      return !spec.is_sculpted();
    case Setting::Scope::kSculpted:
      return spec.is_sculpted();
    case Setting::Scope::kMlp:
      return spec.is_mlp();
    case Setting::Scope::kSparse:
      return spec.model == ModelKind::kSparse;
    case Setting::Scope::kModular:
      return !spec.is_mlp();
    case Setting::Scope::kOwnModules:
      return !spec.is_mlp() && !spec.has_pool();
    case Setting::Scope::kPool:
      return spec.has_pool();
    case Setting::Scope::kBits:
      return !spec.on_images;
    case Setting::Scope::kImages:
      return spec.on_images;
    case Setting::Scope::kImageModular:
      return spec.on_images && !spec.is_mlp();
    case Setting::Scope::kImagePool:
      return spec.on_images && spec.has_pool();
  }
  return true;
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
      if (setting.name == "task") {
        values.push_back(value);
      } else {
        add_range(setting.name, value, values);
      }
    }
  }
  return values;
}

nlohmann::ordered_json settings_json(const RunSpec& spec) {
  nlohmann::ordered_json object;
  for (const Setting& setting : settings()) {
    if (applies(setting, spec)) {
      object[setting.name] = setting.get(spec);
    }
  }
  return object;
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

std::string settings_markdown() {
  const RunSpec defaults;
  const RunSpec image_defaults = starting_spec("mnist-xor-and");
  const RunSpec sculpted_defaults = starting_spec(defaults.task, ModelKind::kSculpted);
  std::string page =
      "# Settings of a run\n\n"
      "Made from the table in `src/models/settings_table.cc`; `modlab train --help` prints the same. On the command "
      "line\n"
      "dashes and underscores are the same. Lists (`0.1,0.01`) and ranges (`0..99`) multiply into a population; for\n"
      "settings whose value is itself a list, `3,2` is one value and `3,2;6,4` are two.\n\n"
      "| setting | value | default | models | meaning |\n|---|---|---|---|---|\n";
  for (const Setting& setting : settings()) {
    std::string shown = setting_text(setting.get(defaults));
    if (setting.name == "images" || setting.name == "labels") {
      shown = "MNIST";
    } else if (shown.empty() || setting.is_size) {
      shown = "from the task";
    } else if (setting.name != "task" && setting.get(image_defaults) != setting.get(defaults) &&
               applies(setting, image_defaults)) {
      shown += fmt::format("; on images {}", setting_text(setting.get(image_defaults)));
    }
    if (setting.name != "model" && setting.get(sculpted_defaults) != setting.get(defaults)) {
      const std::string value = setting_text(setting.get(sculpted_defaults));
      shown += fmt::format("; sculpted {}", parse_real(value) == 0.0 ? "as published" : value);
    }
    std::string form = setting.value;
    for (std::size_t bar = form.find('|'); bar != std::string::npos; bar = form.find('|', bar + 2)) {
      form.insert(bar, "\\");
    }
    page += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", setting.name, form, shown, scope_text(setting.scope),
                        setting.help);
  }
  return page;
}

std::string run_id(const RunSpec& spec) {
  // A study of a million runs names each of them.
  static const std::vector<json> kDefaults = [] {
    std::vector<json> values;
    for (const Setting& setting : settings()) {
      values.push_back(setting.get(RunSpec{}));
    }
    return values;
  }();
  std::string text;
  for (std::size_t at = 0; at < kDefaults.size(); ++at) {
    const Setting& setting = settings()[at];
    // What sets lr_input and lr_module, which are named by themselves.
    if (setting.name == "lr_structural" || !applies(setting, spec)) {
      continue;
    }
    if (const json value = setting.get(spec); value != kDefaults[at]) {
      text += setting.name + "=" + value.dump() + "\n";
    }
  }
  // FNV-1a, 64 bits.
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace modlab::models
