#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace modlab::models {

// What samples are answered with, and what a right answer is.
enum class LabelKind {
  kClasses,  // the number of a class
  kBits,     // 0 or 1 in each column
  kNumbers,  // a real number in each column, whose squared error is the loss
  kNear,     // the same with the absolute error
};

// Samples that someone brought.
struct GivenSamples {
  std::vector<std::size_t> shape;  // of one input
  std::vector<float> inputs;       // [sample][input]
  bool are_whole = false;          // all inputs are whole numbers, as an embedding wants them
  LabelKind kind = LabelKind::kClasses;
  int columns = 1;            // of labels
  std::vector<float> labels;  // [sample][column]
  // The first samples are learned from and the others tested on; where there are no others, all are both.
  std::size_t learned = 0;

  std::size_t count() const { return labels.size() / static_cast<std::size_t>(columns); }
  std::vector<std::uint32_t> training_rows() const;
  std::vector<std::uint32_t> test_rows() const;
  // Of class numbers: one more than the largest.
  int classes() const;
};

// What labels are taken for.
enum class LabelLoss {
  kAuto,  // one number a sample is a class, columns of 0 and 1 are themselves
  kMse,   // real numbers
};

// The arrays `inputs` and `labels`, and perhaps `test_inputs` and `test_labels`, of a file that numpy.savez wrote.
// Throws FormatError.
GivenSamples read_samples(const std::string& path, LabelLoss loss);
// The same for bytes; `path` stands for the file.
GivenSamples decode_samples(const std::string& bytes, const std::string& path, LabelLoss loss);

}  // namespace modlab::models
