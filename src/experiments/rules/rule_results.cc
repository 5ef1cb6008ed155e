#include "experiments/rules/rule_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/errors.h"
#include "experiments/use_measures.h"
#include "io/json_text.h"
#include "measures/module_use.h"
#include "measures/rule_network.h"

namespace modlab::experiments {
namespace {

using measures::UseMeasures;
using models::RuleScore;
using models::RuleSpec;
using nlohmann::ordered_json;
using tasks::RuleOutput;

constexpr std::array<int, 7> kAllLengths = {3, 5, 10, 20, 30, 40, 50};

Measure loss_measure(std::string name, std::string label) {
  return {std::move(name), std::move(label), "", false, std::nullopt, false, ""};
}
Measure error_measure(std::string name, std::string label) {
  return {std::move(name), std::move(label), "%", false, std::pair{0.0, 100.0}, false, ""};
}

void add_use_of(const models::RuleShape& shape, const std::vector<double>& activation, Numbers& numbers) {
  if (activation.empty()) {
    return;  // there are no modules
  }
  if (const auto use = measures::rule_use(shape.rules, shape.modules, activation)) {
    add_use(measures::measure_use(*use), numbers);
  }
}

// A number of the curve averaged over training: the area below it. Low where a network learns fast and well.
double mean_along(const std::vector<models::RulePoint>& curve, double RuleScore::*value) {
  double area = 0;
  for (std::size_t at = 1; at < curve.size(); ++at) {
    const double steps = curve[at].iteration - curve[at - 1].iteration;
    area += steps * (curve[at].curve.*value + curve[at - 1].curve.*value) / 2;
  }
  const int steps = curve.empty() ? 0 : curve.back().iteration - curve.front().iteration;
  return steps > 0 ? area / steps : curve.empty() ? 0 : curve.front().curve.*value;
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
  Judged(const RuleSpec& spec, const models::RuleShape& shape, const tasks::RuleTask& task, const Resources& resources,
         models::JudgedRuleNetwork<float>& network)
      : spec_(spec),
        kernels_(engine::solo::kernels_for(resources.kernels->target)),
        shape_(shape),
        network_(network),
        sampler_(task, kernels_, spec.seed) {}

  // Fills in the activation matrix that was found on the way.
  Numbers numbers(const models::RuleSnapshot& snapshot, std::vector<double>& activation) {
    network_.load(snapshot.parameters);
    iteration_ = snapshot.iteration;
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
    if (spec_.train_samples > 0) {
      const RuleScore train = score(spec_.length, 1, models::SampleUse::kTrainingSet, spec_.train_samples);
      found["train_loss"] = train.loss;
      if (classes) {
        found["train_error"] = train.error;
      }
    }
    add_use_of(shape_, activation, found);
    found["best_iteration"] = snapshot.iteration;
    return found;
  }

 private:
  RuleScore score(int length, float scale) {
    return score(length, scale, models::SampleUse::kTest, spec_.test_samples);
  }
  RuleScore score(int length, float scale, models::SampleUse use, int samples) {
    return models::judge_rules(network_, sampler_, shape_, spec_.task.output, kernels_,
                               {.use = use,
                                .samples = samples,
                                .length = length,
                                .scale = scale,
                                .rule_noise = spec_.rule_noise,
                                .iteration = iteration_});
  }

  const RuleSpec& spec_;
  const engine::solo::Kernels<float>& kernels_;
  const models::RuleShape& shape_;
  models::JudgedRuleNetwork<float>& network_;
  models::RuleSampler sampler_;
  int iteration_ = 0;
};

ordered_json curve_json(const RuleSpec& spec, const models::RuleShape& shape, const models::TrainedRules& trained) {
  ordered_json points = ordered_json::array();
  for (const models::RulePoint& point : trained.curve) {
    Numbers use;
    add_use_of(shape, point.curve.activation, use);
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
      here["activation"] = matrix_json(point.curve.activation, shape.modules);
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

double judged_tokens(const RuleSpec& spec) {
  const std::vector<int> lengths = test_lengths(spec);
  const double at_lengths = 2.0 * std::accumulate(lengths.begin(), lengths.end(), 0);
  const double tests = spec.length + (lengths.empty() ? 1 : lengths.back()) + at_lengths;
  constexpr int kSnapshots = 2;
  return models::evaluated_tokens(spec) +
         kSnapshots * (tests * spec.test_samples + 1.0 * spec.train_samples * spec.length);
}

std::span<const Measure> rule_measures() {
  static const std::vector<Measure> kMeasures = [] {
    std::vector<Measure> list = {
        loss_measure("id_loss", "loss"),
        loss_measure("ood_loss", "loss out of distribution"),
        error_measure("id_error", "error"),
        error_measure("ood_error", "error out of distribution"),
        loss_measure("train_loss", "loss on the training samples"),
        error_measure("train_error", "error on the training samples"),
        loss_measure("curve_loss", "loss, averaged over training"),
        error_measure("curve_error", "error, averaged over training"),
        loss_measure("validation_loss", "validation loss"),
        {"validation_score", "validation: accuracy, or the loss below zero", "", false, std::nullopt, true, ""}};
    std::ranges::copy(use_measures(), std::back_inserter(list));
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
  const models::RuleShape shape = models::rule_shape(spec);
  const auto network = models::make_rule_network<float>(shape, engine::solo::kernels_for(resources.kernels->target));
  return rule_result(spec, shape, task, trained, resources, *network, network->layout().count);
}

Result rule_result(const RuleSpec& spec, const models::RuleShape& shape, const tasks::RuleTask& task,
                   const models::TrainedRules& trained, const Resources& resources,
                   models::JudgedRuleNetwork<float>& network, std::size_t parameters) {
  Result result;
  result.diverged = trained.diverged;
  Judged judged(spec, shape, task, resources, network);
  const bool classes = spec.task.output == RuleOutput::kClassification;
  for (const auto& [name, snapshot] : {std::pair("best", &trained.best), std::pair("last", &trained.last)}) {
    std::vector<double> activation;
    Numbers& numbers = result.snapshots[name] = judged.numbers(*snapshot, activation);
    numbers["parameters"] = static_cast<double>(parameters);
    numbers["curve_loss"] = mean_along(trained.curve, &RuleScore::loss);
    if (classes) {
      numbers["curve_error"] = mean_along(trained.curve, &RuleScore::error);
    }
    if (!activation.empty()) {
      result.blobs[fmt::format("activation/{}", name)] = matrix_json(activation, shape.modules).dump();
    }
  }
  result.blobs["curve"] = curve_json(spec, shape, trained).dump();
  return result;
}

std::string rule_status(double steps, std::size_t networks_done, std::size_t networks, double seconds) {
  return fmt::format("{} of {} networks, {:.0f} steps/s", networks_done, networks, seconds > 0 ? steps / seconds : 0);
}

void keep_wanted(const Wanted& wanted, const std::string& name, Result& result) {
  if (wanted.epoch_table) {
    result.blobs["epochs.csv"] = rule_curve_csv(result.blobs.at("curve"), name);
  }
  if (!wanted.curve) {
    result.blobs.erase("curve");
  }
}

std::span<const Measure> rule_curve_measures() {
  static const std::vector<Measure> kMeasures = [] {
    std::vector<Measure> list = {{"iteration", "training steps", "", false, std::nullopt, false, ""}};
    // Networks learn by orders of magnitude.
    for (const char* name : {"loss", "validation_loss", "error", "validation_error"}) {
      const std::string words = std::string(name).starts_with("validation_") ? "validation " : "";
      const bool is_error = std::string(name).ends_with("error");
      list.push_back({name, words + (is_error ? "error" : "loss"), is_error ? "%" : "", true, std::nullopt, false, ""});
    }
    std::ranges::copy(use_measures(), std::back_inserter(list));
    return list;
  }();
  return kMeasures;
}

std::vector<Numbers> rule_curve_points(const std::string& curve, const std::string& source) {
  const ordered_json points = ordered_json::parse(curve, nullptr, false);
  if (!points.is_array()) {
    throw FormatError(fmt::format("{}: its curve is damaged", source));
  }
  std::vector<Numbers> numbers;
  for (const ordered_json& point : points) {
    Numbers& here = numbers.emplace_back();
    for (const Measure& measure : rule_curve_measures()) {
      if (point.is_object() && point.contains(measure.name) && point[measure.name].is_number()) {
        here[measure.name] = point[measure.name].get<double>();
      }
    }
  }
  return numbers;
}

std::string rule_curve_csv(const std::string& curve, const std::string& source) {
  std::string text;
  for (const Measure& measure : rule_curve_measures()) {
    text += (text.empty() ? "" : ",") + measure.name;
  }
  text += "\n";
  for (const Numbers& point : rule_curve_points(curve, source)) {
    std::string line;
    for (const Measure& measure : rule_curve_measures()) {
      const auto found = point.find(measure.name);
      line += (&measure == &rule_curve_measures().front() ? "" : ",") +
              (found == point.end() ? std::string() : fmt::format("{:.9g}", found->second));
    }
    text += line + "\n";
  }
  return text;
}

Numbers random_gates(int rules, int modules) {
  Numbers numbers;
  add_use(measures::measure_use(measures::uniform_use(rules, modules)), numbers);
  return numbers;
}

}  // namespace modlab::experiments
