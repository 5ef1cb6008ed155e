#pragma once

#include <vector>

namespace modlab::bench {

// How one network on MNIST learned, a number for each epoch.
struct Curve {
  std::vector<double> training_loss;    // mean over the epoch's batches, each before the network learned from it
  std::vector<double> seen_accuracy;    // per bit, percent; of combinations that were trained on, with other images
  std::vector<double> unseen_accuracy;  // the same of combinations that were not
};

}  // namespace modlab::bench
