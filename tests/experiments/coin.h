#pragma once

#include "experiments/experiment.h"

namespace modlab::test {

// A kind of experiment for tests: a coin with a bias is thrown a number of times. It is what HACKING.md's "to add a
// kind" asks for and no more.
const experiments::Experiment& coin();

}  // namespace modlab::test
