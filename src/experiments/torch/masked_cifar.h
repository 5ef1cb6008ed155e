#pragma once

#include "experiments/experiment.h"

namespace modlab::experiments {

// Networks on CIFAR-10 that are trained and then masked for all classes but one, or for pairs of classes; on libtorch.
const Experiment& masked_cifar();

}  // namespace modlab::experiments
