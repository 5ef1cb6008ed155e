#include "report/stored_rule_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/errors.h"
#include "io/json_text.h"
#include "report/rule_comparisons.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr double kMostUse = 1.001;  // shares, summed up in floats

// Everything that a store says of one run, checked against its settings.
class RunReader {
 public:
  RunReader(const experiments::Run& run, studies::Store& store)
      : run_(run), store_(store), spec_(rule_spec_of(run, store)) {}

  std::vector<RuleMoment> read() {
    const std::optional<std::string> curve = store_.blob(run_.id(), "curve");
    if (!curve) {
      return {last_moment()};
    }
    const ordered_json points = io::parse_json(*curve);
    if (!points.is_array() || points.empty()) {
      damaged("its curve has no points");
    }
    std::vector<RuleMoment> moments;
    for (const ordered_json& point : points) {
      moments.push_back(moment(point));
      if (moments.size() > 1 && moments[moments.size() - 2].iteration >= moments.back().iteration) {
        damaged("its curve goes back in time");
      }
    }
    return moments;
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const {
    throw FormatError(fmt::format("{}: run {}: {}; the store is damaged", store_.path(), run_.id(), what));
  }

  bool has_modules() const { return spec_.model != models::RuleModel::kMonolithic; }

  int iteration(double number) const {
    if (!(number >= 0 && number <= spec_.iterations && number == std::floor(number))) {
      damaged(fmt::format("it has no iteration {}", number));
    }
    return static_cast<int>(number);
  }

  double share(double number, const char* name) const {
    if (!std::isnan(number) && !(number >= 0 && number <= kMostUse)) {
      damaged(fmt::format("{} cannot be {}", name, number));
    }
    return number;
  }

  double loss(double number) const {
    if (number < 0) {
      damaged(fmt::format("its loss cannot be {}", number));
    }
    return std::isfinite(number) ? number : kNotKnown;
  }

  // Not a number for null, and for what is not there.
  double number(const ordered_json& point, const char* name) const {
    const auto found = point.find(name);
    if (found == point.end() || found->is_null()) {
      return kNotKnown;
    }
    if (!found->is_number()) {
      damaged(fmt::format("{} is no number", name));
    }
    return found->get<double>();
  }

  RuleMoment moment(const ordered_json& point) const {
    if (!point.is_object()) {
      damaged("its curve has a point without numbers");
    }
    RuleMoment moment;
    moment.iteration = iteration(number(point, "iteration"));
    moment.loss = loss(number(point, "loss"));
    for (std::size_t at = 0; at < kRuleMeasures.size(); ++at) {
      moment.measures[at] = share(number(point, kRuleMeasures[at]), kRuleMeasures[at]);
    }
    if (point.contains("activation") != has_modules()) {
      damaged("its curve is that of another model");
    }
    if (has_modules()) {
      moment.activation = matrix(point["activation"]);
    }
    return moment;
  }

  RuleMoment last_moment() const {
    const std::map<std::string, experiments::Numbers> snapshots = store_.snapshots(run_.id());
    const auto last = snapshots.find("last");
    if (last == snapshots.end()) {
      damaged("it has no last snapshot");
    }
    const auto number = [&](const char* name) {
      const auto found = last->second.find(name);
      return found == last->second.end() ? kNotKnown : found->second;
    };
    RuleMoment moment;
    moment.iteration = iteration(number("best_iteration"));
    moment.loss = loss(number("id_loss"));
    for (std::size_t at = 0; at < kRuleMeasures.size(); ++at) {
      moment.measures[at] = share(number(kRuleMeasures[at]), kRuleMeasures[at]);
    }
    if (has_modules()) {
      const std::optional<std::string> stored = store_.blob(run_.id(), "activation/last");
      if (!stored) {
        damaged("its activation matrix is missing");
      }
      moment.activation = matrix(io::parse_json(*stored));
    }
    return moment;
  }

  std::vector<double> matrix(const ordered_json& rows) const {
    const auto has_size = [](const ordered_json& list, int size) {
      return list.is_array() && list.size() == static_cast<std::size_t>(size);
    };
    if (!has_size(rows, spec_.task.rules) ||
        !std::ranges::all_of(rows, [&](const ordered_json& row) { return has_size(row, spec_.modules); })) {
      damaged(
          fmt::format("an activation matrix is not one of {} rules and {} modules", spec_.task.rules, spec_.modules));
    }
    std::vector<double> values;
    bool is_known = true;
    for (const ordered_json& row : rows) {
      for (const ordered_json& value : row) {
        if (!value.is_number() && !value.is_null()) {
          damaged("an activation matrix has more than numbers in it");
        }
        is_known = is_known && !value.is_null();
        values.push_back(value.is_null() ? kNotKnown : share(value.get<double>(), "the use of a module"));
      }
    }
    return is_known ? values : std::vector<double>();
  }

  const experiments::Run& run_;
  studies::Store& store_;
  models::RuleSpec spec_;
};

}  // namespace

std::vector<RuleMoment> stored_rule_curve(const experiments::Run& run, studies::Store& store) {
  return RunReader(run, store).read();
}

}  // namespace modlab::report
