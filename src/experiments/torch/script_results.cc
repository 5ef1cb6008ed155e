#include "experiments/torch/script_results.h"

#include "experiments/torch/script_files.h"
#include "experiments/training/curve.h"
#include "experiments/training/training_measures.h"
#include "experiments/training/training_text.h"

namespace modlab::experiments {

Result script_result(const Run& run, const TrainedScript& trained, const Wanted& wanted,
                     const std::function<void(Numbers&)>& add_chance) {
  const engine::LaneResult& lane = trained.lane;
  Result result;
  result.diverged = lane.diverged;
  result.seconds = lane.seconds;
  for (const auto& [name, snapshot] : {std::pair{"best", &lane.best}, std::pair{"last", &lane.last}}) {
    Numbers& numbers = result.snapshots[name];
    numbers = snapshot_numbers(*snapshot, trained.rows, trained.tasks);
    add_chance(numbers);
    add_derived({}, trained.batch_size, trained.test_part, numbers);
    numbers.erase("flops");  // nobody has counted those of this network
  }
  if (wanted.curve) {
    result.blobs["curve"] = encode_curve(lane.curve, trained.rows.seen > 0 ? engine::kScoreParts : engine::kParts);
  }
  if (wanted.best_weights) {
    result.blobs["weights/best"] = weight_bytes(lane.best.parameters);
  }
  if (wanted.last_weights) {
    result.blobs["weights/last"] = weight_bytes(lane.last.parameters);
  }
  if (wanted.network_file) {
    result.blobs["file.safetensors"] =
        weights_file(trained.layout, lane.best.parameters, run.kind->run_json(run, result));
  }
  if (wanted.epoch_table) {
    result.blobs["epochs.csv"] = epoch_table(lane, trained.rows);
  }
  return result;
}

}  // namespace modlab::experiments
