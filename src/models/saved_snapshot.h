#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/saved_network.h"

namespace modlab::models {

// One of the two snapshots of a saved network, for whoever looks at it.
template <typename Spec>
struct SavedSnapshotOf {
  SavedNetworkOf<Spec> network;
  std::string name;  // best or last

  const std::vector<float>& parameters() const { return name == "best" ? network.best : network.last; }
  // A percentage that the file carries, such as "test_accuracy"; 0 if it carries none.
  double score(const std::string& key) const;
  // Nothing if the file does not say it.
  std::optional<int> epoch() const;
};
using SavedSnapshot = SavedSnapshotOf<RunSpec>;
using SavedImageSnapshot = SavedSnapshotOf<ImageSpec>;

struct SavedRuleSnapshot {
  SavedRules network;
  std::string name;

  const std::vector<float>& parameters() const { return name == "best" ? network.best : network.last; }
  // Training steps that it had had; of the file's word where it makes sense.
  int iteration() const;
};
using AnySavedSnapshot = std::variant<SavedSnapshot, SavedImageSnapshot, SavedRuleSnapshot>;

// Throws ConfigError unless the name is best or last.
void check_snapshot_name(const std::string& name);

// Throws FormatError as load_network does.
AnySavedSnapshot load_snapshot(const std::string& path, const std::string& name);
// The same for bytes; `path` stands in messages.
AnySavedSnapshot parse_snapshot(const std::string& bytes, const std::string& path, const std::string& name);

}  // namespace modlab::models
