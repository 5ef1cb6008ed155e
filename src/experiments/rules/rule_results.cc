#include "experiments/rules/rule_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/errors.h"
#include "io/json_text.h"
#include "measures/module_use.h"

namespace modlab::experiments {
namespace {

using measures::UseMeasures;
using models::RuleScore;
using models::RuleSpec;
using nlohmann::ordered_json;
using tasks::RuleOutput;

struct UseRow {
  const char* name;
  const char* label;
  double UseMeasures::*value;
};
constexpr std::array<UseRow, 7> kUseRows = {{
    {"collapse_avg", "collapse, average", &UseMeasures::collapse_avg},
    {"collapse_worst", "collapse, worst", &UseMeasures::collapse_worst},
    {"alignment", "alignment (0: one module for each rule)", &UseMeasures::alignment},
    {"adaptation", "adaptation", &UseMeasures::adaptation},
    {"adaptation_matched", "adaptation, matched", &UseMeasures::adaptation_matched},
    {"imi", "inverse mutual information", &UseMeasures::imi},
    {"entropy", "entropy of the gates", &UseMeasures::entropy},
}};

constexpr std::array<int, 7> kAllLengths = {3, 5, 10, 20, 30, 40, 50};

Measure loss_measure(std::string name, std::string label) {
  return {std::move(name), std::move(label), "", false, std::nullopt, false, ""};
}
Measure error_measure(std::string name, std::string label) {
  return {std::move(name), std::move(label), "%", false, std::pair{0.0, 100.0}, false, ""};
}

// Rules that no sample followed say nothing of the modules.
std::optional<UseMeasures> use_of(const RuleSpec& spec, const std::vector<double>& activation) {
  std::vector<double> rows;
  int rules = 0;
  for (std::size_t first = 0; first < activation.size(); first += static_cast<std::size_t>(spec.modules)) {
    const auto begin = activation.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + spec.modules;
    if (std::all_of(begin, end, [](double value) { return std::isfinite(value); }) &&
        std::any_of(begin, end, [](double value) { return value > 0; })) {
      rows.insert(rows.end(), begin, end);
      ++rules;
    }
  }
  if (rules < spec.task.rules) {
    return std::nullopt;
  }
  return measures::measure_use({rules, spec.modules, std::move(rows)});
}

void add_use(const RuleSpec& spec, const std::vector<double>& activation, Numbers& numbers) {
  if (const std::optional<UseMeasures> use = use_of(spec, activation)) {
    for (const UseRow& row : kUseRows) {
      numbers[row.name] = (*use).*row.value;
    }
    numbers["dead_modules"] = use->dead_modules;
  }
}

ordered_json matrix_json(const std::vector<double>& activation, int modules) {
  ordered_json rows = ordered_json::array();
  for (std::size_t first = 0; first < activation.size(); first += static_cast<std::size_t>(modules)) {
    ordered_json row = ordered_json::array();
    for (std::size_t place = first; place < first + static_cast<std::size_t>(modules); ++place) {
      row.push_back(io::number_or_null(activation[place]));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// One network after training, on test samples.
class Judged {
 public:
  Judged(const RuleSpec& spec, const tasks::RuleTask& task, const Resources& resources)
      : spec_(spec),
        kernels_(engine::solo::kernels_for(resources.kernels->target)),
        shape_(models::rule_shape(task, spec.model, spec.modules, spec.width)),
        network_(models::make_rule_network<float>(shape_, kernels_)),
        sampler_(task, kernels_, spec.seed) {}

  // Fills in the activation matrix that was found on the way.
  Numbers numbers(const models::RuleSnapshot& snapshot, std::vector<double>& activation) {
    network_->parameters().load(snapshot.parameters);
    Numbers found;
    const bool classes = spec_.task.output == RuleOutput::kClassification;
    const RuleScore id = score(spec_.length, 1);
    activation = id.activation;
    const std::vector<int> lengths = test_lengths(spec_);
    const RuleScore ood = score(lengths.empty() ? 1 : lengths.back(), 2);
    found["id_loss"] = id.loss;
    found["ood_loss"] = ood.loss;
    found["validation_loss"] = snapshot.validation.loss;
    found["validation_score"] = classes ? 100 - snapshot.validation.error : -snapshot.validation.loss;
    if (classes) {
      found["id_error"] = id.error;
      found["ood_error"] = ood.error;
    }
    for (const int length : lengths) {
      for (const float scale : {1.0F, 2.0F}) {
        const RuleScore here = score(length, scale);
        const char* prefix = scale == 1 ? "" : "ood_";
        found[fmt::format("{}loss_{}", prefix, length)] = here.loss;
        if (classes) {
          found[fmt::format("{}error_{}", prefix, length)] = here.error;
        }
      }
    }
    add_use(spec_, activation, found);
    found["best_iteration"] = snapshot.iteration;
    found["parameters"] = static_cast<double>(network_->layout().count);
    return found;
  }

 private:
  RuleScore score(int length, float scale) {
    return models::judge_rules(*network_, sampler_, shape_, spec_.task.output, kernels_,
                               {.samples = spec_.test_samples, .length = length, .scale = scale});
  }

  const RuleSpec& spec_;
  const engine::solo::Kernels<float>& kernels_;
  models::RuleShape shape_;
  std::unique_ptr<models::RuleNetwork<float>> network_;
  models::RuleSampler sampler_;
};

ordered_json curve_json(const RuleSpec& spec, const models::TrainedRules& trained) {
  ordered_json points = ordered_json::array();
  for (const models::RulePoint& point : trained.curve) {
    Numbers use;
    add_use(spec, point.curve.activation, use);
    ordered_json here = {{"iteration", point.iteration},
                         {"loss", io::number_or_null(point.curve.loss)},
                         {"validation_loss", io::number_or_null(point.validation.loss)}};
    if (spec.task.output == RuleOutput::kClassification) {
      here["error"] = point.curve.error;
      here["validation_error"] = point.validation.error;
    }
    for (const auto& [name, value] : use) {
      here[name] = value;
    }
    if (!point.curve.activation.empty()) {
      here["activation"] = matrix_json(point.curve.activation, spec.modules);
    }
    points.push_back(std::move(here));
  }
  return points;
}

}  // namespace

std::vector<int> test_lengths(const RuleSpec& spec) {
  if (spec.task.family == tasks::RuleFamily::kMlp) {
    return {};
  }
  return spec.length == 10 ? std::vector<int>{3, 5, 10, 20, 30} : std::vector<int>{10, 20, 30, 40, 50};
}

std::span<const Measure> rule_measures() {
  static const std::vector<Measure> kMeasures = [] {
    std::vector<Measure> list = {
        loss_measure("id_loss", "loss"),
        loss_measure("ood_loss", "loss out of distribution"),
        error_measure("id_error", "error"),
        error_measure("ood_error", "error out of distribution"),
        loss_measure("validation_loss", "validation loss"),
        {"validation_score", "validation: accuracy, or the loss below zero", "", false, std::nullopt, true, ""}};
    for (const UseRow& row : kUseRows) {
      list.push_back({row.name, row.label, "", false, std::pair{0.0, 1.0}, false, ""});
    }
    list.push_back({"dead_modules", "modules that are not used", "", false, std::nullopt, false, ""});
    for (const int length : kAllLengths) {
      list.push_back(loss_measure(fmt::format("loss_{}", length), fmt::format("loss, length {}", length)));
      list.push_back(loss_measure(fmt::format("ood_loss_{}", length), fmt::format("loss, length {}, doubled", length)));
      list.push_back(error_measure(fmt::format("error_{}", length), fmt::format("error, length {}", length)));
      list.push_back(
          error_measure(fmt::format("ood_error_{}", length), fmt::format("error, length {}, doubled", length)));
    }
    list.push_back({"best_iteration", "training steps before it", "steps", true, std::nullopt, false, ""});
    list.push_back({"parameters", "parameters", "", true, std::nullopt, false, ""});
    return list;
  }();
  return kMeasures;
}

Result rule_result(const RuleSpec& spec, const tasks::RuleTask& task, const models::TrainedRules& trained,
                   const Resources& resources) {
  Result result;
  result.diverged = trained.diverged;
  Judged judged(spec, task, resources);
  for (const auto& [name, snapshot] : {std::pair("best", &trained.best), std::pair("last", &trained.last)}) {
    std::vector<double> activation;
    result.snapshots[name] = judged.numbers(*snapshot, activation);
    if (!activation.empty()) {
      result.blobs[fmt::format("activation/{}", name)] = matrix_json(activation, spec.modules).dump();
    }
  }
  result.blobs["curve"] = curve_json(spec, trained).dump();
  return result;
}

std::string rule_curve_csv(const std::string& curve, const std::string& source) {
  const ordered_json points = ordered_json::parse(curve, nullptr, false);
  std::vector<std::string> names = {"iteration", "loss", "validation_loss", "error", "validation_error"};
  for (const UseRow& row : kUseRows) {
    names.emplace_back(row.name);
  }
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ",") + name;
  }
  text += "\n";
  if (!points.is_array()) {
    throw FormatError(fmt::format("{}: its curve is damaged", source));
  }
  for (const ordered_json& point : points) {
    for (std::size_t column = 0; column < names.size(); ++column) {
      const bool has = point.is_object() && point.contains(names[column]) && point[names[column]].is_number();
      text +=
          (column == 0 ? "" : ",") + (has ? fmt::format("{:.9g}", point[names[column]].get<double>()) : std::string());
    }
    text += "\n";
  }
  return text;
}

}  // namespace modlab::experiments
