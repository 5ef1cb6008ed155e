#include <cstdlib>

#include "core/errors.h"
#include "entry.h"
#include "io/npz.h"
#include "methods/torch/sample_targets.h"
#include "models/torch/torch_network.h"

namespace {

std::string samples_of(std::vector<std::size_t> label_shape, std::vector<float> labels) {
  return modlab::io::encode_npz(
      {{"inputs", {3, 2}, {0, 1, 1, 0, 1, 1}}, {"labels", std::move(label_shape), std::move(labels)}});
}

}  // namespace

std::vector<std::string> modlab::fuzz::seeds() {
  return {samples_of({3}, {0, 1, 2}), samples_of({3, 2}, {0, 1, 1, 0, 1, 1}), "first,second\n1,0\n0,1\n1,1\n"};
}

// Any bytes are samples with as many labels as inputs, targets with samples that are there, no network that needs more
// than its bytes to be told from one, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const auto loss : {modlab::models::LabelLoss::kAuto, modlab::models::LabelLoss::kMse}) {
    try {
      const modlab::models::GivenSamples samples = modlab::models::decode_samples(bytes, "fuzz.npz", loss);
      std::size_t each = 1;
      for (const std::size_t length : samples.shape) {
        each *= length;
      }
      if (samples.count() == 0 || samples.inputs.size() != samples.count() * each ||
          samples.learned > samples.count() || samples.test_rows().back() >= samples.count()) {
        std::abort();
      }
    } catch (const modlab::UserError&) {
      continue;
    }
  }
  try {
    modlab::models::GivenSamples three;
    three.labels = {0, 1, 2};
    three.inputs = {0, 0, 0};
    three.learned = 3;
    const auto found = modlab::methods::parse_sample_targets(bytes, "fuzz.csv", three);
    for (std::size_t target = 0; target < found.targets.size(); ++target) {
      if (found.tests[target].size() != 3 || found.targets[target].rows.size() > 3) {
        std::abort();
      }
    }
  } catch (const modlab::UserError&) {
    return 0;
  }
  return 0;
}
