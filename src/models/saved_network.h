#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/train_block.h"
#include "io/safetensors.h"
#include "models/blueprint.h"
#include "models/population.h"

namespace modlab::models {

// Accuracies in percent and losses of one snapshot, by part: what `--json` and saved networks carry.
nlohmann::ordered_json snapshot_json(const engine::Snapshot& snapshot, const PartRows& rows, int tasks);

// Settings by name, best_epoch, best, last.
nlohmann::ordered_json run_json(const RunSpec& spec, const engine::LaneResult& result, const PartRows& rows, int tasks);

// The run whose settings stand in a JSON object by name; `source` stands in messages. Throws FormatError.
RunSpec spec_from_json(const nlohmann::ordered_json& run, const std::string& source);

// A trained network as a file: the tensors of both snapshots as "best/NAME" and "last/NAME", and run_json as metadata.
io::TensorFile to_tensor_file(const engine::Layout& layout, const engine::LaneResult& result,
                              const nlohmann::ordered_json& run);

struct SavedNetwork {
  RunSpec spec;
  tasks::TaskSuite suite;
  Blueprint blueprint;
  nlohmann::ordered_json run;
  std::vector<float> best;
  std::vector<float> last;
};

// Reads and checks such a file; throws FormatError if it is damaged or its tensors are not those of its settings.
SavedNetwork load_network(const std::string& path);
// The same for bytes; `path` stands in messages.
SavedNetwork parse_network(const std::string& bytes, const std::string& path);

}  // namespace modlab::models
