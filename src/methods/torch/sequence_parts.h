#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/torch/sequence_shape.h"
#include "tasks/mathematics.h"
#include "tasks/scan.h"

namespace modlab::methods {

// Samples of a task of sequences, and the parts that are learned from and tested on, by name.
struct SequencePart {
  std::string name;
  std::vector<std::uint32_t> train;  // a sample may be there many times
  std::vector<std::uint32_t> test;
};
struct SequenceParts {
  std::shared_ptr<const models::TokenSequences> samples;
  int input_tokens = 0;
  int output_tokens = 0;
  std::vector<SequencePart> parts;

  const SequencePart& part(const std::string& name) const;
  std::vector<std::uint32_t> all_train() const;
};

// The four splits of SCAN: simple, jump, length and turn_left. `simple`: the official files of that one, for training
// and for testing; without them it is drawn.
inline constexpr const char* kScanSplits[] = {"simple", "jump", "length", "turn_left"};
SequenceParts scan_parts(const std::vector<std::string>& simple);

// Easy, medium and hard questions of a module, from three published files in this order, or so many of each that are
// drawn, or as many as there are. A question that an easier part has is left out of the harder ones. Of each part
// `tests` are tested on and the others learned from. Letters are tokens. Throws ConfigError where a part has no more
// than `tests`.
SequenceParts math_parts(tasks::MathModule module, const std::vector<std::string>& files, int questions, int tests);

}  // namespace modlab::methods
