#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/saved_network.h"

namespace modlab::models {

// One of the two snapshots of a saved network, for whoever looks at it.
struct SavedSnapshot {
  SavedNetwork network;
  std::string name;  // best or last

  const std::vector<float>& parameters() const { return name == "best" ? network.best : network.last; }
  // A percentage that the file carries, such as "test_accuracy"; 0 if it carries none.
  double score(const char* key) const;
  // Nothing if the file does not say it.
  std::optional<int> epoch() const;
};

// Throws ConfigError unless the name is best or last.
void check_snapshot_name(const std::string& name);

// Throws FormatError as load_network does.
SavedSnapshot load_snapshot(const std::string& path, const std::string& name);

}  // namespace modlab::models
