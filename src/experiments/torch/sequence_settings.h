#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "methods/mask/mask_spec.h"
#include "methods/torch/torch_training.h"
#include "models/torch/sequence_shape.h"
#include "settings/spec_table.h"

// What a run on sequences is made of: masked_sequences.h.
namespace modlab::experiments {

inline constexpr auto kScan = "scan";

struct SequenceMaskingSpec {
  int module = -1;  // of tasks::MathModule; -1: SCAN
  models::SequenceNetworkKind network = models::SequenceNetworkKind::kLstm;
  std::uint64_t seed = 0;
  int trained_on = 0;              // of methods::kScanSplits
  std::vector<std::string> files;  // of the simple split, or easy, medium and hard questions
  std::string contents;            // of the files, as a hash
  int questions = 666'666;         // of each difficulty, where they are drawn
  int tests = 10'000;              // of each difficulty
  int embedding = 16;
  int state = 200;
  int width = 100;
  int inner = 200;
  int heads = 4;
  int layers = 2;
  double dropout = 0.5;
  int steps = 25'000;
  int batch_size = 256;
  double lr = 1e-3;
  int warmup = 0;
  double clip = 5;
  std::string_view device = "cpu";
  bool controls = false;
  methods::MaskSpec mask = {
      .steps = 25'000, .batch_size = 256, .beta = 3e-5, .clip = 5, .exclude = {"no-bias", "no-embedding"}};

  bool is_scan() const { return module < 0; }
  bool is_lstm() const { return network == models::SequenceNetworkKind::kLstm; }
};

const settings::SpecTable<SequenceMaskingSpec>& sequence_settings();
// Settings whose defaults follow from the task and the network.
inline constexpr const char* kDecidedByTask[] = {
    "network", "width",  "inner", "layers",     "dropout", "steps",      "batch_size", "lr",
    "clip",    "warmup", "beta",  "mask_steps", "mask_lr", "mask_batch", "samples",    "mask_clip"};

// What a task and a network of it are published with.
SequenceMaskingSpec published_spec(const settings::Given& given);
SequenceMaskingSpec sequence_spec(const settings::Values& values);
// Throws ConfigError for what does not go together.
void check_sequences(const SequenceMaskingSpec& spec);

models::SequenceShape shape_of(const SequenceMaskingSpec& spec);
methods::TorchTraining training_of(const SequenceMaskingSpec& spec);

}  // namespace modlab::experiments
