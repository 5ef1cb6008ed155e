#include "report/gallery_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/text.h"
#include "io/json_text.h"
#include "measures/module_use.h"
#include "report/rule_comparisons.h"
#include "report/stored_rule_curve.h"

namespace modlab::report {
namespace {

using models::RuleModel;
using models::RuleSpec;
using nlohmann::ordered_json;
using studies::Findings;

constexpr std::size_t kMaxMoments = 60;  // of a network
// Of all matrices together: the page is to stay small.
constexpr std::size_t kMaxNumbers = 1'200'000;
// Rules or modules of a matrix that can still be looked at.
constexpr int kMaxSide = 64;

const char* gates_of(RuleModel model) {
  switch (model) {
    case RuleModel::kMonolithic:
      return "none";
    case RuleModel::kGtModular:
      return "oracle";
    default:
      return "learned";
  }
}

double three_decimals(double value) { return std::round(1000 * value) / 1000; }

// To four significant digits: a loss may be small.
ordered_json short_loss(double loss) {
  return std::isfinite(loss) ? ordered_json(parse_real(fmt::format("{:.4g}", loss)).value_or(loss)) : ordered_json();
}

// At most so many moments, evenly from the first to the last.
std::vector<RuleMoment> thinned(std::vector<RuleMoment> moments, std::size_t most) {
  if (moments.size() <= most) {
    return moments;
  }
  std::vector<RuleMoment> chosen;
  for (std::size_t at = 0; at < most; ++at) {
    chosen.push_back(std::move(moments[at * (moments.size() - 1) / (most - 1)]));
  }
  return chosen;
}

bool is_measurable(const std::vector<double>& activation, int modules) {
  for (auto row = activation.begin(); row != activation.end(); row += modules) {
    if (std::all_of(row, row + modules, [](double use) { return use == 0; })) {
      return false;
    }
  }
  return !activation.empty();
}

// The modules in the order of the rules that they serve in the end, so that specialised ones lie on the diagonal.
std::vector<int> order_of_modules(const RuleMoment& last, int rules, int modules) {
  std::vector<int> order;
  if (is_measurable(last.activation, modules)) {
    const measures::UseMeasures use = measures::measure_use({rules, modules, last.activation});
    std::ranges::copy_if(use.module_of_rule, std::back_inserter(order), [](int module) { return module >= 0; });
  }
  for (int module = 0; module < modules; ++module) {
    if (std::ranges::find(order, module) == order.end()) {
      order.push_back(module);
    }
  }
  return order;
}

ordered_json in_thousandths(const std::vector<double>& activation) {
  ordered_json list = ordered_json::array();
  for (const double use : activation) {
    list.push_back(std::lround(1000 * use));
  }
  return list;
}

void add_moments(const std::vector<RuleMoment>& moments, int rules, int modules, ordered_json& json) {
  const bool is_drawn = modules > 0 && rules <= kMaxSide && modules <= kMaxSide;
  json["modules"] = modules;
  json["order"] = is_drawn ? order_of_modules(moments.back(), rules, modules) : std::vector<int>();
  for (const char* name : {"iterations", "loss"}) {
    json[name] = ordered_json::array();
  }
  json["use"] = modules == 0 ? ordered_json(nullptr) : ordered_json::object();
  for (const RuleMoment& moment : moments) {
    json["iterations"].push_back(moment.iteration);
    json["loss"].push_back(short_loss(moment.loss));
  }
  for (std::size_t measure = 0; modules > 0 && measure < kRuleMeasures.size(); ++measure) {
    ordered_json& list = json["use"][kRuleMeasures[measure]] = ordered_json::array();
    for (const RuleMoment& moment : moments) {
      list.push_back(io::number_or_null(three_decimals(moment.measures[measure])));
    }
  }
  json["activation"] = ordered_json::array();
  for (const RuleMoment& moment : moments) {
    if (is_drawn) {
      json["activation"].push_back(moment.activation.empty() ? ordered_json(nullptr)
                                                             : in_thousandths(moment.activation));
    }
  }
}

ordered_json network_json(const ComparedNetwork& network, std::size_t share, studies::Store& store) {
  const RuleSpec spec = rule_spec_of(network.run(), store);
  const bool has_modules = spec.model != RuleModel::kMonolithic;
  const std::size_t numbers = has_modules ? static_cast<std::size_t>(spec.task.rules) * spec.modules : 1;
  ordered_json json;
  json["series"] = network.series;
  json["name"] = network.name;
  json["gates"] = gates_of(spec.model);
  json["id"] = network.run().id();
  json["seed"] = spec.seed;
  json["runs"] = network.runs;
  add_moments(
      thinned(stored_rule_curve(network.run(), store), std::clamp<std::size_t>(share / numbers, 2, kMaxMoments)),
      spec.task.rules, has_modules ? spec.modules : 0, json);
  return json;
}

// Gates that know nothing: the published baseline, for which nothing is trained.
ordered_json uniform_json(int rules, int modules) {
  const measures::ModuleUse use = measures::uniform_use(rules, modules);
  const measures::UseMeasures found = measures::measure_use(use);
  RuleMoment moment;
  moment.measures = {found.collapse_avg, found.collapse_worst, found.alignment, found.adaptation, found.imi};
  moment.activation.assign(static_cast<std::size_t>(rules) * static_cast<std::size_t>(modules), 1.0 / modules);
  ordered_json json = {{"series", ""},  {"name", "random"}, {"gates", "uniform"},
                       {"id", nullptr}, {"seed", nullptr},  {"runs", 0}};
  add_moments({moment}, rules, modules, json);
  return json;
}

ordered_json comparison_json(const RuleComparison& comparison, std::size_t share, studies::Store& store) {
  const int rules = rule_spec_of(comparison.networks.front().run(), store).task.rules;
  std::vector<std::string> names = {comparison.task, comparison.settings};
  if (!comparison.split.empty()) {
    names.push_back("task seed " + comparison.split);
  }
  ordered_json json;
  json["task"] = comparison.task;
  json["series"] = comparison.settings;
  json["cell"] = join_text(names, ", ");
  json["rules"] = rules;
  json["networks"] = ordered_json::array();
  int modules = 0;
  const auto add_uniform = [&] {
    if (modules > 0) {
      json["networks"].push_back(uniform_json(rules, modules));
      modules = 0;
    }
  };
  for (const ComparedNetwork& network : comparison.networks) {
    const RuleSpec spec = rule_spec_of(network.run(), store);
    if (spec.model == RuleModel::kMonolithic) {
      add_uniform();
    } else if (modules == 0) {
      modules = spec.modules;
    }
    json["networks"].push_back(network_json(network, share, store));
  }
  add_uniform();
  return json;
}

}  // namespace

ordered_json gallery_rules(const Findings& findings, studies::Store& store) {
  const std::vector<RuleComparison> comparisons = rule_comparisons(findings, store);
  const std::size_t networks =
      std::transform_reduce(comparisons.begin(), comparisons.end(), std::size_t{1}, std::plus<>(),
                            [](const RuleComparison& comparison) { return comparison.networks.size(); });
  ordered_json cells = ordered_json::array();
  for (const RuleComparison& comparison : comparisons) {
    cells.push_back(comparison_json(comparison, kMaxNumbers / networks, store));
  }
  return cells;
}

}  // namespace modlab::report
