#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "io/safetensors.h"
#include "models/population.h"
#include "models/rules/saved_rules.h"
#include "tasks/tasks_at_hand.h"

namespace modlab::models {

// A trained network as a file: the tensors of both snapshots as "best/NAME" and "last/NAME", and as metadata all that
// one needs to use it elsewhere: the run with its settings and results, the text of its task, and which rows it learned
// from. `spec` is resolved.
template <typename Spec>
io::TensorFile to_tensor_file(const Spec& spec, const tasks::TaskSuite& suite, const engine::Layout& layout,
                              const engine::LaneResult& result, const nlohmann::ordered_json& run);

template <typename Spec>
struct SavedNetworkOf {
  Spec spec;
  tasks::TaskSuite suite;
  tasks::TasksAtHand tasks;  // the same, for whoever asks for it by its name
  typename BlueprintOf<Spec>::Type blueprint;
  nlohmann::ordered_json run;
  std::vector<float> best;
  std::vector<float> last;
};
using SavedNetwork = SavedNetworkOf<RunSpec>;
using SavedImageNetwork = SavedNetworkOf<ImageSpec>;
using AnySavedNetwork = std::variant<SavedNetwork, SavedImageNetwork, SavedRules>;

// Reads and checks such a file; throws FormatError if it is damaged or its tensors are not those of its settings.
AnySavedNetwork load_network(const std::string& path);
// The same for bytes; `path` stands in messages.
AnySavedNetwork parse_network(const std::string& bytes, const std::string& path);

}  // namespace modlab::models
