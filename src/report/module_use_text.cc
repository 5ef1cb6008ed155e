#include "report/module_use_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/text.h"
#include "tasks/svg_text.h"

namespace modlab::report {
namespace {

using measures::ModuleUse;
using measures::UseMeasures;
using nlohmann::ordered_json;

// Larger matrices are drawn with shades alone, those beyond are for --svg and --json.
constexpr int kMostNumbers = 12;  // columns
constexpr int kMostShades = 36;   // columns
constexpr int kMostRulesShown = 64;

ModuleUse one_for_all(int rules, int modules) {
  std::vector<double> values(static_cast<std::size_t>(rules) * static_cast<std::size_t>(modules));
  for (int rule = 0; rule < rules; ++rule) {
    values[static_cast<std::size_t>(rule) * static_cast<std::size_t>(modules)] = 1;
  }
  return {rules, modules, values};
}

const char* shade(double use) {
  static constexpr std::array<const char*, 5> kShades = {"··", "░░", "▒▒", "▓▓", "██"};
  // What is used at all is shaded; the darkest is for nearly all of it.
  return use < 0.01   ? kShades[0]
         : use < 0.25 ? kShades[1]
         : use < 0.5  ? kShades[2]
         : use < 0.9  ? kShades[3]
                      : kShades[4];
}

std::size_t widest(const std::vector<std::string>& names) {
  std::size_t width = 0;
  for (const std::string& name : names) {
    width = std::max(width, name.size());
  }
  return width;
}

std::string heat_map(const UseLook& look) {
  const ModuleUse& use = look.use;
  if (use.modules() > kMostShades || use.rules() > kMostRulesShown) {
    return "The matrix is too large to be shown here; --svg FILE draws it.\n";
  }
  const bool has_numbers = use.modules() <= kMostNumbers;
  const std::size_t name_width = std::min<std::size_t>(widest(look.rules), 20);
  std::string text = fmt::format("{:>{}}", "", name_width);
  for (const std::string& module : look.modules) {
    text += has_numbers ? fmt::format("  {:<6.6}", module) : fmt::format(" {:>2.2}", module);
  }
  text = text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  for (int rule = 0; rule < use.rules(); ++rule) {
    text += fmt::format("{:>{}.{}}", look.rules[static_cast<std::size_t>(rule)], name_width, name_width);
    for (const double value : use.row(rule)) {
      text += has_numbers ? fmt::format("  {}{:4.2f}", shade(value), value) : fmt::format(" {}", shade(value));
    }
    text += "\n";
  }
  return text;
}

// Dark blue on white, as light as needed for black or white letters to be read.
std::string fill_of(double use) {
  const auto between = [&](int from, int to) { return static_cast<int>(std::lround(from + (to - from) * use)); };
  return fmt::format("#{:02x}{:02x}{:02x}", between(0xf7, 0x17), between(0xf9, 0x2c), between(0xfc, 0x62));
}

}  // namespace

UseLook look_at_use(std::string name, ModuleUse use, std::vector<std::string> rules, std::vector<std::string> modules) {
  const auto numbered = [](std::vector<std::string> names, int count) {
    for (int number = static_cast<int>(names.size()); number < count; ++number) {
      names.push_back(std::to_string(number + 1));
    }
    for (std::string& text : names) {
      text = on_one_line(text);
    }
    return names;
  };
  UseMeasures measured = measure_use(use);
  std::vector<std::string> rule_names = numbered(std::move(rules), use.rules());
  std::vector<std::string> module_names = numbered(std::move(modules), use.modules());
  return {std::move(name), std::move(use), std::move(measured), std::move(rule_names), std::move(module_names)};
}

UseLook look_at_pool(const measures::PoolUse& pool) {
  return look_at_use("Shared pool, operations as rules and members as modules", pool.use, pool.operations, {});
}

std::string module_use_text(const UseLook& look) {
  const ModuleUse& use = look.use;
  const UseMeasures uniform = measure_use(measures::uniform_use(use.rules(), use.modules()));
  const UseMeasures collapsed = measure_use(one_for_all(use.rules(), use.modules()));
  std::string text = fmt::format("{}: {} (rows), {} (columns); each row sums to 1\n\n", on_one_line(look.name),
                                 counted(use.rules(), "rule"), counted(use.modules(), "module"));
  text += heat_map(look);
  text += fmt::format("\n{:<18}  {:>6}  {:>7}  {:>11}\n", "0 is best", "here", "uniform", "one for all");
  for (const measures::UseMeasure& row : measures::use_measures()) {
    text += fmt::format("{:<18}  {:>6.3f}  {:>7.3f}  {:>11.3f}  {}\n", row.name, look.measured.*row.value + 0.0,
                        uniform.*row.value + 0.0, collapsed.*row.value + 0.0, row.meaning);
  }
  if (look.measured.dead_modules > 0) {
    std::vector<std::string> dead;
    for (std::size_t module = 0; module < look.modules.size(); ++module) {
      if (measures::is_dead(look.measured.share[module], use.modules())) {
        dead.push_back(look.modules[module]);
      }
    }
    text += fmt::format("\n{}: {}, used less than a hundredth of an equal share.\n",
                        counted(look.measured.dead_modules, "dead module"), join_text(dead, ", "));
  }
  return text;
}

ordered_json module_use_json(const UseLook& look) {
  ordered_json json = {{"rules", look.use.rules()}, {"modules", look.use.modules()}};
  for (const measures::UseMeasure& row : measures::use_measures()) {
    json[row.name] = look.measured.*row.value;
  }
  json["dead_modules"] = look.measured.dead_modules;
  json["module_share"] = look.measured.share;
  json["module_of_rule"] = ordered_json::array();
  for (const int module : look.measured.module_of_rule) {
    json["module_of_rule"].push_back(module < 0 ? ordered_json(nullptr) : ordered_json(module + 1));
  }
  json["activation"] = ordered_json::array();
  for (int rule = 0; rule < look.use.rules(); ++rule) {
    const std::span<const double> row = look.use.row(rule);
    json["activation"].push_back(std::vector<double>(row.begin(), row.end()));
  }
  return json;
}

std::string module_use_svg(const UseLook& look) {
  const ModuleUse& use = look.use;
  constexpr double kBorder = 14;
  constexpr double kTop = 58;
  const double cell = std::clamp(640.0 / std::max(use.rules(), use.modules()), 6.0, 46.0);
  const bool has_names = cell >= 12;
  double left = kBorder + 18;
  for (const std::string& rule : look.rules) {
    left = std::max(left, kBorder + 10 + (has_names ? tasks::text_width(rule, 12, false) : 0));
  }
  const std::string title = on_one_line(look.name);
  const std::string caption = fmt::format("rules (rows) by modules; collapse {:.3f}, alignment {:.3f}",
                                          look.measured.collapse_avg + 0.0, look.measured.alignment + 0.0);
  const double width = std::max({left + cell * use.modules(), kBorder + tasks::text_width(title, 13, true),
                                 kBorder + tasks::text_width(caption, 11, false)}) +
                       kBorder;
  const double height = kTop + cell * use.rules() + kBorder;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"Helvetica, Arial, sans-serif\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      width, height);
  svg += fmt::format("<text x=\"{}\" y=\"20\" font-size=\"13\" font-weight=\"bold\">{}</text>\n", kBorder,
                     tasks::escape_xml(title));
  svg += fmt::format("<text x=\"{}\" y=\"36\" font-size=\"11\" fill=\"#555555\">{}</text>\n", kBorder,
                     tasks::escape_xml(caption));
  for (int module = 0; has_names && module < use.modules(); ++module) {
    svg += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" text-anchor=\"middle\" fill=\"#333333\">{}</text>\n",
        left + cell * (module + 0.5), kTop - 5, tasks::escape_xml(look.modules[static_cast<std::size_t>(module)]));
  }
  for (int rule = 0; rule < use.rules(); ++rule) {
    const double y = kTop + cell * rule;
    if (has_names) {
      svg += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"12\" text-anchor=\"end\" fill=\"#333333\">{}</text>\n", left - 6,
          y + cell / 2 + 4, tasks::escape_xml(look.rules[static_cast<std::size_t>(rule)]));
    }
    for (int module = 0; module < use.modules(); ++module) {
      const double value = use.at(rule, module);
      const double x = left + cell * module;
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" stroke=\"#d9d9d9\" "
          "stroke-width=\"0.5\"/>\n",
          x, y, cell, cell, fill_of(value));
      if (cell >= 30 && value >= 0.005) {
        svg += fmt::format(
            "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" text-anchor=\"middle\" fill=\"{}\">{:.2f}</text>\n",
            x + cell / 2, y + cell / 2 + 4, value > 0.5 ? "#ffffff" : "#000000", value);
      }
    }
  }
  return svg + "</svg>\n";
}

}  // namespace modlab::report
