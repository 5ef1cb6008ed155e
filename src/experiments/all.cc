#include "experiments/bits/bits.h"
#include "experiments/experiment.h"
#include "experiments/images/images.h"
#include "experiments/mask/masked_bits.h"
#include "experiments/mask/masked_digits.h"
#include "experiments/mask/masked_images.h"
#include "experiments/mask/masked_sculpted.h"
#include "experiments/rules/rules.h"
#include "experiments/sculpt/sculpt.h"
#include "experiments/torch/masked_cifar.h"
#include "experiments/torch/masked_script.h"
#include "experiments/torch/masked_sequences.h"
#include "experiments/torch/trained_script.h"
#include "experiments/torch/trained_script_images.h"
#include "experiments/torch/trained_script_rules.h"

namespace modlab::experiments {

std::span<const Experiment* const> all() {
  static const Experiment* const kKinds[] = {&bits(),
                                             &images(),
                                             &sculpt(),
                                             &rules(),
                                             &masked_bits(),
                                             &masked_digits(),
                                             &masked_images(),
                                             &masked_sculpted(),
                                             &masked_script(),
                                             &masked_cifar(),
                                             &masked_sequences(),
                                             &trained_script(),
                                             &trained_script_images(),
                                             &trained_script_rules()};
  return kKinds;
}

}  // namespace modlab::experiments
