#include "studies/claim_file.h"

#include <fmt/format.h>

#include <cmath>

#include "core/errors.h"
#include "core/text.h"
#include "experiments/experiment.h"
#include "studies/study_plan.h"
#include "studies/yaml_map.h"

namespace modlab::studies {
namespace {

// Our reading of the papers: comparable means within three points, and "at least" allows one.
constexpr double kComparable = 3;
constexpr double kAtLeast = 1;
constexpr double kFactor = 1.1;  // what both allow of factors

template <typename Value>
struct Word {
  const char* text;
  Value value;
};

template <typename Value, std::size_t kCount>
Value read_word(YamlMap& map, const std::string& key, const std::string& otherwise,
                const Word<Value> (&words)[kCount]) {
  const std::string text = map.text(key, otherwise);
  std::vector<std::string> known;
  for (const Word<Value>& word : words) {
    if (text == word.text) {
      return word.value;
    }
    known.emplace_back(word.text);
  }
  map.fail(map.get(key).IsDefined() ? map.get(key) : map.node(),
           fmt::format("'{}' is one of {}, not '{}'", key, join_text(known, ", "), text));
}

constexpr Word<Figure::Kind> kFigureKinds[] = {
    {"lines", Figure::Kind::kLines}, {"bars", Figure::Kind::kBars},     {"heatmap", Figure::Kind::kHeatmap},
    {"votes", Figure::Kind::kVotes}, {"curves", Figure::Kind::kCurves}, {"flop-table", Figure::Kind::kFlopTable}};
constexpr Word<Check::Expect> kExpectations[] = {{"greater", Check::Expect::kGreater},
                                                 {"less", Check::Expect::kLess},
                                                 {"at_least", Check::Expect::kAtLeast},
                                                 {"at_most", Check::Expect::kAtMost},
                                                 {"comparable", Check::Expect::kComparable}};

// Whether numbers on an axis stand at equal distances, so that 2, 4, 8 are one step from each other.
constexpr Word<bool> kSpacings[] = {{"as-they-are", false}, {"even", true}};
// Whether sides differ by so much or so many times.
constexpr Word<bool> kDifferences[] = {{"difference", false}, {"factor", true}};

bool read_even(YamlMap& map) { return read_word(map, "spacing", "as-they-are", kSpacings); }

// An axis by the name that the plan has for it.
std::string axis_name(YamlMap& map, const std::string& key, const std::string& axis) {
  if (axis.empty() || axis == "series" || axis == kRestarts) {
    return axis;
  }
  const settings::Setting* setting = experiments::find_setting(axis);
  if (setting == nullptr) {
    map.fail(map.get(key), fmt::format("'{}' must be series, restarts, {} or the name of a setting, not '{}'", key,
                                       join_text(fact_names(), ", "), axis));
  }
  return setting->name;
}

std::string read_axis(YamlMap& map, const std::string& key) { return axis_name(map, key, map.text(key)); }

std::string required_axis(YamlMap& map, const std::string& key) {
  map.required_text(key);
  return read_axis(map, key);
}

// Values as the plan writes them, so that 1, 1.0 and 1e0 select the same runs.
std::vector<std::string> read_axis_values(YamlMap& map, const std::string& axis) {
  std::vector<std::string> values = map.texts(axis);
  if (axis == "series" || axis == kRestarts) {
    return values;
  }
  for (std::string& value : values) {
    try {
      value = experiments::canonical_value(axis, value);
    } catch (const ConfigError& error) {
      map.fail(map.get(axis), error.what());
    }
  }
  return values;
}

void check_measure(YamlMap& map, const std::string& key, const std::string& name) {
  if (experiments::find_measure(name) == nullptr) {
    map.fail(map.get(key),
             fmt::format("there is no measure '{}'{}", name, did_you_mean(name, experiments::measure_names())));
  }
}
void check_curve_measure(YamlMap& map, const std::string& key, const std::string& name) {
  if (experiments::find_curve_measure(name) == nullptr) {
    map.fail(map.get(key),
             fmt::format("curves have no '{}'{}", name, did_you_mean(name, experiments::curve_measure_names())));
  }
}

std::string read_measure(YamlMap& map, const std::string& key) {
  std::string name = map.required_text(key);
  check_measure(map, key, name);
  return name;
}

std::map<std::string, double> read_measures(YamlMap& map, const std::string& key) {
  if (!map.has(key)) {
    map.fail(map.node(), fmt::format("a check of this kind needs '{}'", key));
  }
  YamlMap entries(map.get(key), map.source(), "'" + key + "'");
  std::map<std::string, double> values;
  for (const std::string& name : entries.keys()) {
    check_measure(map, key, name);
    values[name] = entries.number(name, 0);
  }
  return values;
}

// A list of sides, or one.
std::vector<Selector> read_any_sides(YamlMap& map, const std::string& key) {
  const YAML::Node node = map.get(key);
  std::vector<Selector> sides;
  if (!node.IsSequence()) {
    return {read_selector(node, map.source())};
  }
  for (const YAML::Node& side : node) {
    sides.push_back(read_selector(side, map.source()));
  }
  return sides;
}

std::vector<Selector> read_sides(YamlMap& map, const std::string& key, std::size_t count) {
  const YAML::Node node = map.get(key);
  std::vector<Selector> sides;
  if (count == 1) {
    sides.push_back(read_selector(node, map.source()));
  } else if (node.IsSequence()) {
    sides = read_any_sides(map, key);
  }
  if (sides.size() != count) {
    map.fail(node, fmt::format("'{}' needs {} sides", key, count));
  }
  return sides;
}

// As a logarithm to base 10.
double read_factor(YamlMap& map, const std::string& key, double otherwise) {
  const double factor = map.number(key, otherwise);
  if (factor <= 0 || (key == "margin" && factor < 1)) {
    map.fail(map.get(key), fmt::format("'{}' of a factor is a factor itself, such as 1.1, not {}", key, factor));
  }
  return std::log10(factor);
}

Check read_check(const YAML::Node& node, const std::string& source) {
  YamlMap map(node, source, "a check");
  Check check;
  check.text = map.text("text");
  check.expect = read_word(map, "expect", "greater", kExpectations);
  if (map.has("compare")) {
    check.kind = Check::Kind::kCompare;
    check.sides = read_sides(map, "compare", 2);
    check.measure = read_measure(map, "measure");
  } else if (map.has("trend")) {
    check.kind = Check::Kind::kTrend;
    check.sides = read_sides(map, "trend", map.get("trend").IsSequence() ? 2 : 1);
    check.measure = read_measure(map, "measure");
    check.along = required_axis(map, "along");
    check.even = read_even(map);
  } else if (map.has("votes")) {
    check.kind = Check::Kind::kVotes;
    check.sides = read_any_sides(map, "votes");
    if (check.sides.size() < 2) {
      map.fail(map.get("votes"), "'votes' needs two sides or more: the one that is asked about, then the others");
    }
    check.measures = map.texts("measures");
    for (const std::string& name : check.measures) {
      check_measure(map, "measures", name);
    }
    if (check.measures.empty()) {
      map.fail(node, "'votes' needs 'measures', of which the first one counts that the sides have");
    }
    check.measure = check.measures.front();
  } else if (map.has("value")) {
    check.kind = Check::Kind::kValue;
    check.sides = read_sides(map, "value", 1);
    check.measure = read_measure(map, "measure");
  } else if (map.has("reaches")) {
    check.kind = Check::Kind::kReaches;
    check.sides = read_sides(map, "reaches", 2);
    check.measure = read_measure(map, "measure");
    check.along = required_axis(map, "along");
    check.level = map.number("level", check.level);
  } else if (map.has("tracks")) {
    check.kind = Check::Kind::kTracks;
    check.sides = read_sides(map, "tracks", 1);
    check.measure = read_measure(map, "measure");
    check.other_measure = read_measure(map, "other");
  } else if (map.has("best_at")) {
    check.kind = Check::Kind::kBestAt;
    check.best = read_selector(map.get("best_at"), source);
    check.sides = map.has("of") ? read_sides(map, "of", 1) : std::vector<Selector>{{}};
    check.measure = read_measure(map, "measure");
  } else if (map.has("every")) {
    check.kind = Check::Kind::kEvery;
    check.sides = read_sides(map, "every", 1);
    check.given = read_measures(map, "given");
    check.then = read_measures(map, "then");
  } else if (map.has("flop_table")) {
    check.kind = Check::Kind::kFlopTable;
    map.get("flop_table");
  } else {
    map.fail(node, "a check is one of compare, trend, votes, value, reaches, tracks, best_at, every, flop_table");
  }
  check.where = read_selector(map.get("where"), source);
  check.threshold = map.number("threshold", 0);
  check.margin = map.number("margin", check.expect == Check::Expect::kComparable ? kComparable : kAtLeast);
  if (check.kind == Check::Kind::kCompare || check.kind == Check::Kind::kTrend) {
    check.as_factor = read_word(map, "as", "difference", kDifferences);
  }
  if (check.as_factor) {
    check.threshold = read_factor(map, "threshold", 1);
    check.margin = read_factor(map, "margin", kFactor);
  }
  map.done();
  return check;
}

}  // namespace

std::vector<std::string> tune_names(std::vector<std::string> names) {
  if (names == std::vector<std::string>{"none"}) {
    return {};
  }
  for (std::string& name : names) {
    const settings::Setting* setting = experiments::find_setting(name);
    if (setting == nullptr || setting->is_replicate()) {
      throw ConfigError(fmt::format("tune lists settings to choose by validation, such as lr, not '{}'", name));
    }
    name = setting->name;
  }
  return names;
}

std::vector<std::string> read_tune(YamlMap& map) {
  try {
    return tune_names(map.texts("tune"));
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    if (message.starts_with(map.source())) {
      throw;
    }
    map.fail(map.get("tune"), message);
  }
}

Selector read_selector(const YAML::Node& node, const std::string& source) {
  Selector selector;
  if (!node.IsDefined() || node.IsNull()) {
    return selector;
  }
  if (node.IsScalar()) {
    return {{"series", {scalar_text(node)}}};
  }
  YamlMap map(node, source, "a selection");
  for (const std::string& axis : map.keys()) {
    if (axis.empty()) {
      map.fail(node, "a selection has a value without a name; write lines such as  task: depth2");
    }
    const std::string name = axis_name(map, axis, axis);
    selector[name] = read_axis_values(map, axis);
  }
  return selector;
}

Figure read_figure(const YAML::Node& node, const std::string& source) {
  YamlMap map(node, source, "a figure");
  Figure figure;
  figure.id = map.required_text("id");
  figure.paper = map.text("paper");
  figure.title = map.required_text("title");
  figure.about = map.text("about");
  figure.kind = read_word(map, "kind", "lines", kFigureKinds);
  if (figure.kind != Figure::Kind::kFlopTable) {
    const bool curves = figure.kind == Figure::Kind::kCurves;
    figure.x = curves ? map.text("x") : read_axis(map, "x");
    figure.y = read_axis(map, "y");
    const bool by_measure = map.text("panel") == kMeasureAxis;
    figure.panel = by_measure ? kMeasureAxis : read_axis(map, "panel");
    figure.row = read_axis(map, "row");
    figure.series = read_axis(map, "series");
    figure.even = read_even(map);
    figure.measures = map.texts("measures");
    for (const std::string& name : figure.measures) {
      (curves ? check_curve_measure : check_measure)(map, "measures", name);
    }
    if (curves && !figure.x.empty()) {
      check_curve_measure(map, "x", figure.x);
    }
    if (figure.x.empty() || figure.measures.empty()) {
      map.fail(node, "a figure needs 'x' and 'measures'");
    }
    if (figure.kind == Figure::Kind::kHeatmap && figure.y.empty()) {
      map.fail(node, "a heatmap needs 'y'");
    }
    if (figure.kind == Figure::Kind::kVotes && figure.series.empty()) {
      map.fail(node, "votes need 'series': who wins them");
    }
    if (by_measure && (figure.kind == Figure::Kind::kHeatmap || figure.kind == Figure::Kind::kVotes)) {
      map.fail(map.get("panel"), "lines, bars and curves can have a panel for each measure, other figures cannot");
    }
    figure.where = read_selector(map.get("where"), source);
    if (map.has("tune")) {
      figure.tune = read_tune(map);
    }
  }
  map.done();
  return figure;
}

Claim read_claim(const YAML::Node& node, const std::string& source) {
  YamlMap map(node, source, "a claim");
  Claim claim;
  claim.id = map.required_text("id");
  claim.figure = map.text("figure");
  claim.text = map.required_text("text");
  claim.each = read_axis(map, "each");
  claim.where = read_selector(map.get("where"), source);
  claim.over = map.has("over") ? map.texts("over") : std::vector<std::string>{"task", "ratio"};
  for (std::string& axis : claim.over) {
    if (axis.empty()) {
      map.fail(map.get("over"), "'over' has an entry without a name; remove it");
    }
    axis = axis_name(map, "over", axis);
  }
  if (map.has("tune")) {
    claim.tune = read_tune(map);
  }
  for (const YAML::Node& check : map.maps("checks")) {
    claim.checks.push_back(read_check(check, source));
  }
  if (claim.checks.empty()) {
    map.fail(node, "a claim needs 'checks'");
  }
  map.done();
  return claim;
}

}  // namespace modlab::studies
