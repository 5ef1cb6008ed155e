#include "experiments/settings_page.h"

#include <fmt/format.h>

namespace modlab::experiments {
namespace {

std::string row_text(const Setting& setting, const std::string& shown) {
  std::string form = setting.value;
  for (std::size_t bar = form.find('|'); bar != std::string::npos; bar = form.find('|', bar + 2)) {
    form.insert(bar, "\\");
  }
  return fmt::format("| `{}` | `{}` | {} | {} | {} |\n", setting.name, form, shown, setting.of, setting.help);
}

}  // namespace

std::string default_text(const Experiment& kind, const Setting& setting) {
  const nlohmann::json value = kind.defaults().at(setting.name);
  const std::string text = settings::setting_text(value);
  const bool is_open = value.is_null() || text.empty() || (setting.is_size && text == "0");
  return is_open || (value.is_number() && value == 0 && setting.is_named) ? "from the task" : text;
}

std::string settings_markdown() {
  std::string page =
      "# Settings of a run\n\n"
      "Made from the lists of settings of all kinds of runs; `modlab train --help all` prints the same, and `--help` "
      "alone\n"
      "those of the task and model at hand. On the command line dashes and underscores are the same. Lists "
      "(`0.1,0.01`)\n"
      "and ranges (`0..99`) multiply into a population; for settings whose value is itself a list, `3,2` is one value "
      "and\n"
      "`3,2;6,4` are two. Task and model choose the kind of a run.\n";
  // What a kind has as one before it has it need not be said again.
  std::map<std::string, std::string> said;
  for (const Experiment* kind : all()) {
    page += fmt::format("\n## {}\n\n| setting | value | default | models | meaning |\n|---|---|---|---|---|\n",
                        kind->title());
    for (const Setting& setting : kind->settings()) {
      const std::string shown = default_text(*kind, setting);
      if (setting.role == Setting::Role::kFact) {
        continue;
      }
      const auto [known, is_new] = said.emplace(setting.name, shown);
      if (is_new || known->second != shown) {
        page += row_text(setting, shown);
      }
    }
  }
  return page;
}

}  // namespace modlab::experiments
