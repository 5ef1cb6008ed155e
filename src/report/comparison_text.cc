#include "report/comparison_text.h"

#include <fmt/format.h>

#include <cmath>

#include "io/json_text.h"

namespace modlab::report {

nlohmann::ordered_json comparison_json(const studies::Comparison& comparison) {
  const studies::Judgements judged = studies::judge(comparison.evidence, {});
  const auto population = [](const studies::Judgement& judgement) {
    return nlohmann::ordered_json{{"population", judgement.population},
                                  {"difference", io::number_or_null(judgement.mean)},
                                  {"low", io::number_or_null(judgement.low)},
                                  {"high", io::number_or_null(judgement.high)},
                                  {"level", measures::kLevel}};
  };
  return {{"value", comparison.value},
          {"reference", comparison.reference},
          {"where", comparison.where},
          {"measure", comparison.measure->name},
          {"splits", comparison.evidence.splits},
          {"seeds", comparison.evidence.seeds},
          {"general", population(judged.general)},
          {"here", judged.here ? population(*judged.here) : nlohmann::ordered_json(nullptr)}};
}

std::string comparison_text(const studies::Comparison& comparison) {
  const studies::Judgements judged = studies::judge(comparison.evidence, {});
  const std::string unit = comparison.measure->unit == "%" ? "points" : comparison.measure->unit;
  std::string text = fmt::format("{:+.2f}{}{} ({}", judged.general.mean, unit.empty() ? "" : " ", unit,
                                 studies::interval_text(judged.general));
  if (judged.here && std::isfinite(judged.here->low)) {
    text += "; " + studies::interval_text(*judged.here);
  }
  return text + ")";
}

}  // namespace modlab::report
