#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "models/saved_network.h"

namespace modlab::cli {

// One of the two snapshots of a saved network, for the verbs that look at it.
struct Snapshot {
  models::SavedNetwork network;
  std::string name;  // best or last

  const std::vector<float>& parameters() const { return name == "best" ? network.best : network.last; }
  // A percentage that the file carries, such as "test_accuracy"; 0 if it carries none.
  double score(const char* key) const;
  // Nothing if the file does not say it.
  std::optional<int> epoch() const;
};

Option snapshot_option();
// The snapshots that a command line names: `--snapshot best|last` of every file. Throws ConfigError or FormatError.
std::string snapshot_name(const Arguments& arguments);
Snapshot load_snapshot(const std::string& path, const std::string& name);

// Which network it is, and its accuracies: two lines.
std::string snapshot_heading(const Snapshot& snapshot);

// Slots are named as the papers name gates: a0, a1 on the first level, b0 on the second.
std::string slot_name(std::size_t level, std::size_t slot);

}  // namespace modlab::cli
