#include "experiments/training/training_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "core/errors.h"
#include "experiments/training/curve.h"
#include "io/compress.h"

namespace modlab::experiments {
namespace {

// A long training's best epoch need not be one of its curve's; what it reached stands in the snapshot.
void add_best(const std::map<std::string, Numbers>& snapshots, std::span<const std::string> part_names,
              StoredAccuracies& accuracies) {
  const auto best = snapshots.find("best");
  if (best == snapshots.end()) {
    return;
  }
  const auto number = [&](const std::string& name) {
    const auto found = best->second.find(name);
    return found == best->second.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
  };
  const double epoch = number("best_epoch");
  if (!(epoch > accuracies.epochs.front() && epoch < accuracies.epochs.back()) ||
      !std::ranges::all_of(part_names.first(accuracies.parts.size()),
                           [&](const std::string& name) { return number(name + "_accuracy") >= 0; })) {
    return;
  }
  const auto place = std::ranges::lower_bound(accuracies.epochs, static_cast<int>(epoch));
  if (*place == static_cast<int>(epoch)) {
    return;
  }
  const auto at = place - accuracies.epochs.begin();
  accuracies.epochs.insert(place, static_cast<int>(epoch));
  for (std::size_t part = 0; part < accuracies.parts.size(); ++part) {
    accuracies.parts[part].insert(accuracies.parts[part].begin() + at, number(part_names[part] + "_accuracy"));
  }
}

}  // namespace

Status networks_trained(std::int64_t epochs_done, std::int64_t total_epochs, std::size_t networks, double seconds) {
  const double share = static_cast<double>(epochs_done) / static_cast<double>(total_epochs);
  const double done = share * static_cast<double>(networks);
  return {share, fmt::format("{:.0f} of {} networks, {:.0f}/s", done, networks, done / std::max(seconds, 1e-9))};
}

std::string epoch_table(const engine::LaneResult& lane, const models::PartRows& rows) {
  const std::size_t parts = rows.seen > 0 ? engine::kScoreParts : engine::kParts;
  std::string text = "epoch";
  for (const char* quantity : {"loss", "accuracy", "row_accuracy"}) {
    for (std::size_t part = 0; part < parts; ++part) {
      text += fmt::format(",{}_{}", models::part_name(part, rows), quantity);
    }
  }
  text += '\n';
  const auto add_line = [&](int epoch, const engine::Scores& scores) {
    text += fmt::format("{}", epoch);
    const auto each_part = [&](const auto& value) {
      for (std::size_t part = 0; part < parts; ++part) {
        text += "," + value(scores.parts[part], rows[part]);
      }
    };
    using engine::PartScore;
    each_part([](const PartScore& score, int) { return fmt::format("{}", score.loss); });
    each_part([&](const PartScore& score, int count) {
      return fmt::format("{:.6g}", 100.0 * score.right_bits / (count * rows.outputs));
    });
    each_part(
        [](const PartScore& score, int count) { return fmt::format("{:.6g}", 100.0 * score.right_rows / count); });
    text += '\n';
  };
  const std::vector<int> epochs = engine::curve_epochs(lane.last.epoch);
  for (std::size_t point = 0; point < epochs.size(); ++point) {
    if (point > 0 && lane.best.epoch > epochs[point - 1] && lane.best.epoch < epochs[point]) {
      add_line(lane.best.epoch, lane.best.scores);
    }
    add_line(epochs[point], lane.curve[point]);
  }
  return text;
}

StoredAccuracies stored_accuracies(const Run& run, const std::map<std::string, Numbers>& snapshots,
                                   const std::string& curve, std::size_t parts, const std::string& test_part,
                                   const std::string& source) {
  const auto epochs = run.values.get("epochs").get<int>();
  const auto outputs = run.values.get("outputs").get<int>();
  Curve decoded = decode_curve(curve, epochs, parts, source);
  const std::string names[] = {"train", "validation", test_part, "seen"};
  StoredAccuracies accuracies{std::move(decoded.epochs), std::vector<std::vector<double>>(parts)};
  for (std::size_t part = 0; part < parts; ++part) {
    const Numbers& numbers = snapshots.begin()->second;
    const auto rows = numbers.find(names[part] + "_rows");
    // More right bits than there are bits, or none to be right on: written by something else than a training.
    const double bits = rows == numbers.end() ? 0 : rows->second * outputs;
    if (!(bits >= 1) ||
        std::ranges::any_of(decoded.right_bits[part], [&](std::uint32_t right) { return right > bits; })) {
      throw FormatError(
          fmt::format("{}: the curve of run {} does not fit its rows; the store is damaged", source, run.id()));
    }
    for (const std::uint32_t right : decoded.right_bits[part]) {
      accuracies.parts[part].push_back(100.0 * right / bits);
    }
  }
  add_best(snapshots, names, accuracies);
  return accuracies;
}

std::string stored_curve_csv(const Run& run, const std::map<std::string, Numbers>& snapshots, const std::string& curve,
                             std::size_t parts, const std::string& test_part, const std::string& source) {
  const StoredAccuracies accuracies = stored_accuracies(run, snapshots, curve, parts, test_part, source);
  std::string text = fmt::format("epoch,train_accuracy,validation_accuracy,{}_accuracy{}\n", test_part,
                                 parts == engine::kScoreParts ? ",seen_accuracy" : "");
  for (std::size_t point = 0; point < accuracies.epochs.size(); ++point) {
    text += fmt::format("{}", accuracies.epochs[point]);
    for (const std::vector<double>& part : accuracies.parts) {
      text += fmt::format(",{:.6g}", part[point]);
    }
    text += '\n';
  }
  return text;
}

std::string weight_bytes(const std::vector<float>& parameters) {
  return io::compress({reinterpret_cast<const char*>(parameters.data()), parameters.size() * sizeof(float)});
}

std::vector<float> stored_weights(const std::string& bytes, std::size_t count, const std::string& source) {
  const std::string expanded = io::expand(bytes, count * sizeof(float), source);
  std::vector<float> parameters(count);
  std::memcpy(parameters.data(), expanded.data(), expanded.size());
  return parameters;
}

}  // namespace modlab::experiments
