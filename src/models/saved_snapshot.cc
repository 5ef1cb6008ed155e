#include "models/saved_snapshot.h"

#include <fmt/format.h>

#include "core/errors.h"

namespace modlab::models {

double SavedSnapshot::score(const char* key) const {
  const auto scores = network.run.find(name);
  const bool has_it = scores != network.run.end() && scores->is_object() && scores->contains(key);
  return has_it && (*scores)[key].is_number() ? (*scores)[key].get<double>() : 0.0;
}

std::optional<int> SavedSnapshot::epoch() const {
  if (name == "last") {
    return network.spec.epochs;
  }
  const auto epoch = network.run.find("best_epoch");
  const double number = epoch != network.run.end() && epoch->is_number() ? epoch->get<double>() : 0;
  return number >= 1 && number <= network.spec.epochs ? std::optional(static_cast<int>(number)) : std::nullopt;
}

void check_snapshot_name(const std::string& name) {
  if (name != "best" && name != "last") {
    throw ConfigError(fmt::format("snapshot must be best or last, not '{}'", name));
  }
}

SavedSnapshot load_snapshot(const std::string& path, const std::string& name) {
  check_snapshot_name(name);
  return {load_network(path), name};
}

}  // namespace modlab::models
