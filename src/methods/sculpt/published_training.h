#pragma once

#include <optional>
#include <string>

namespace modlab::methods {

struct PublishedTraining {
  double lr = 0;
  int batch_size = 0;
  int epochs = 0;
};

// How the authors of Neural Sculpting trained on one of their tasks networks with so many hidden layers of one width;
// nothing where they did not. tasks/sculpt/training.csv holds the table.
std::optional<PublishedTraining> published_training(const std::string& task, int hidden_layers, int width);

}  // namespace modlab::methods
