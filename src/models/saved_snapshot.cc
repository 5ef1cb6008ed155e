#include "models/saved_snapshot.h"

#include <fmt/format.h>

#include "core/errors.h"

namespace modlab::models {

template <typename Spec>
double SavedSnapshotOf<Spec>::score(const std::string& key) const {
  const nlohmann::ordered_json& run = network.run;
  const auto scores = run.find(name);
  const bool has_it = scores != run.end() && scores->is_object() && scores->contains(key);
  return has_it && (*scores)[key].is_number() ? static_cast<double>((*scores)[key]) : 0.0;
}

template <typename Spec>
std::optional<int> SavedSnapshotOf<Spec>::epoch() const {
  if (name == "last") {
    return network.spec.epochs;
  }
  const nlohmann::ordered_json& run = network.run;
  const auto epoch = run.find("best_epoch");
  const double number = epoch != run.end() && epoch->is_number() ? static_cast<double>(*epoch) : 0;
  return number >= 1 && number <= network.spec.epochs ? std::optional(static_cast<int>(number)) : std::nullopt;
}

int SavedRuleSnapshot::iteration() const {
  const nlohmann::ordered_json& run = network.run;
  const auto scores = run.find(name);
  const int last = network.spec.iterations;
  if (scores == run.end() || !scores->is_object() || !scores->contains("best_iteration")) {
    return last;
  }
  const nlohmann::ordered_json& told = (*scores)["best_iteration"];
  const double number = told.is_number() ? static_cast<double>(told) : last;
  return number >= 0 && number <= last ? static_cast<int>(number) : last;
}

template struct SavedSnapshotOf<RunSpec>;
template struct SavedSnapshotOf<ImageSpec>;

void check_snapshot_name(const std::string& name) {
  if (name != "best" && name != "last") {
    throw ConfigError(fmt::format("snapshot must be best or last, not '{}'", name));
  }
}

namespace {

template <typename Spec>
SavedSnapshotOf<Spec> snapshot_of(SavedNetworkOf<Spec> network, const std::string& name) {
  return {std::move(network), name};
}
SavedRuleSnapshot snapshot_of(SavedRules network, const std::string& name) { return {std::move(network), name}; }

AnySavedSnapshot snapshot_of_any(AnySavedNetwork&& network, const std::string& name) {
  return std::visit([&](auto&& one) -> AnySavedSnapshot { return snapshot_of(std::forward<decltype(one)>(one), name); },
                    std::move(network));
}

}  // namespace

AnySavedSnapshot load_snapshot(const std::string& path, const std::string& name) {
  check_snapshot_name(name);
  return snapshot_of_any(load_network(path), name);
}

AnySavedSnapshot parse_snapshot(const std::string& bytes, const std::string& path, const std::string& name) {
  check_snapshot_name(name);
  return snapshot_of_any(parse_network(bytes, path), name);
}

}  // namespace modlab::models
