#include "methods/sculpt/training_calls.h"

#include <algorithm>
#include <numeric>

#include "models/table_data.h"

namespace modlab::methods {
namespace {

engine::BlockSettings block_settings(const TrainingRecipe& recipe) {
  engine::BlockSettings settings;
  settings.epochs = recipe.epochs;
  settings.batch_size = recipe.batch;
  settings.optimizer = recipe.optimizer;
  settings.loss = recipe.loss;
  const auto rows = static_cast<int>(recipe.task->table.rows.size());
  const bool latest = recipe.checkpoint == methods::Checkpoint::kPublished && recipe.batch >= rows;
  settings.keep = latest ? engine::Keep::kLatestBest : engine::Keep::kLowestLoss;
  return settings;
}

// The widths that have room for every call's used units.
models::MlpShape room_for(const std::vector<std::vector<std::vector<int>>>& units) {
  models::MlpShape room;
  room.widths.resize(units.front().size());
  for (const std::vector<std::vector<int>>& call : units) {
    for (std::size_t layer = 0; layer < call.size(); ++layer) {
      // A layer without units would be a kernel's empty loop; one idle unit does no harm.
      room.widths[layer] = std::max({room.widths[layer], static_cast<int>(call[layer].size()), 1});
    }
  }
  return room;
}

engine::LaneSettings lane_settings(const TrainingRecipe& recipe, const TrainingCall& call, PackedMlp packed) {
  engine::LaneSettings lane;
  lane.seed = call.seed;
  lane.lr = recipe.lr;
  lane.weight_decay = recipe.weight_decay;
  lane.noise = recipe.noise;
  lane.initial = std::move(packed.parameters);
  lane.mask = std::move(packed.mask);
  lane.train.resize(recipe.task->table.rows.size());
  std::iota(lane.train.begin(), lane.train.end(), 0U);
  // All rows are learned from, and without noise all of them judge.
  lane.part.assign(lane.train.size(), engine::Part::kValidation);
  return lane;
}

}  // namespace

std::vector<TrainedMlp> train_side_by_side(const TrainingRecipe& recipe, std::span<const TrainingCall> calls,
                                           const engine::Kernels<float>& kernels, engine::Progress& progress) {
  std::vector<std::vector<std::vector<int>>> units;
  for (const TrainingCall& call : calls) {
    units.push_back(used_units(*call.start));
  }
  const models::MlpShape room = room_for(units);
  std::vector<engine::LaneSettings> lanes;
  for (std::size_t call = 0; call < calls.size(); ++call) {
    lanes.push_back(lane_settings(recipe, calls[call], pack(*calls[call].start, units[call], room)));
  }
  const engine::Data data = models::table_data(*recipe.task);
  const auto network = models::make_mlp<float>(room, kernels);
  const std::vector<engine::LaneResult> results =
      engine::train_block(kernels, *network, data, block_settings(recipe), lanes, progress);

  const double bits = static_cast<double>(data.samples()) * data.outputs;
  const auto percent = [&](const engine::Scores& scores) {
    return 100.0 * scores[engine::Part::kValidation].right_bits / bits;
  };
  std::vector<TrainedMlp> trained;
  for (std::size_t call = 0; call < results.size(); ++call) {
    TrainedMlp& result = trained.emplace_back(TrainedMlp{*calls[call].start, percent(results[call].best.scores), {}});
    unpack(results[call].best.parameters, units[call], room, result.network);
    for (const engine::Scores& scores : results[call].curve) {
      result.accuracies.push_back(percent(scores));
    }
  }
  return trained;
}

}  // namespace modlab::methods
