#include "cli/snapshot.h"

#include <fmt/format.h>

#include "core/errors.h"
#include "models/settings.h"

namespace modlab::cli {

double Snapshot::score(const char* key) const {
  const auto scores = network.run.find(name);
  const bool has_it = scores != network.run.end() && scores->is_object() && scores->contains(key);
  return has_it && (*scores)[key].is_number() ? (*scores)[key].get<double>() : 0.0;
}

std::optional<int> Snapshot::epoch() const {
  if (name == "last") {
    return network.spec.epochs;
  }
  const auto epoch = network.run.find("best_epoch");
  const double number = epoch != network.run.end() && epoch->is_number() ? epoch->get<double>() : 0;
  return number >= 1 && number <= network.spec.epochs ? std::optional(static_cast<int>(number)) : std::nullopt;
}

Option snapshot_option() {
  return {"snapshot", Arity::kOne, "best|last", "the first best validation epoch (default) or the last epoch", {}};
}

std::string snapshot_name(const Arguments& arguments) {
  std::string name = arguments.text("snapshot", "best");
  if (name != "best" && name != "last") {
    throw ConfigError(fmt::format("snapshot must be best or last, not '{}'", name));
  }
  if (arguments.positional().empty()) {
    throw ConfigError("name a network that `modlab train --save DIR` wrote, such as DIR/ID.safetensors");
  }
  return name;
}

Snapshot load_snapshot(const std::string& path, const std::string& name) { return {models::load_network(path), name}; }

std::string snapshot_heading(const Snapshot& snapshot) {
  const models::RunSpec& spec = snapshot.network.spec;
  const std::optional<int> epoch = snapshot.epoch();
  std::string accuracies;
  for (const char* part : {"train", "validation", "test", "unseen", "seen"}) {
    const bool is_there = spec.on_images ? part != std::string_view("test")
                                         : part != std::string_view("unseen") && part != std::string_view("seen");
    if (is_there) {
      accuracies += fmt::format("{}{} {:.2f} %", accuracies.empty() ? "" : ", ", part,
                                snapshot.score(fmt::format("{}_accuracy", part).c_str()));
    }
  }
  return fmt::format("{} on {}, seed {}, split {} at ratio {}: epoch {} ({})\n{} of bits\n",
                     models::model_name(spec.model), spec.task, spec.seed, spec.split_seed, spec.ratio,
                     epoch ? std::to_string(*epoch) : "unknown",
                     snapshot.name == "best" ? "first best validation" : "last", accuracies);
}

std::string slot_name(std::size_t level, std::size_t slot) {
  return level < 23 ? fmt::format("{}{}", static_cast<char>('a' + level), slot)
                    : fmt::format("L{}.{}", level + 1, slot);
}

}  // namespace modlab::cli
