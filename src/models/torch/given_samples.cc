#include "models/torch/given_samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/errors.h"
#include "io/file.h"
#include "io/npz.h"

namespace modlab::models {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 32U;
constexpr double kMostClasses = 1e6;

const io::NamedTensor* find_array(const std::vector<io::NamedTensor>& arrays, const std::string& name) {
  const auto found = std::ranges::find(arrays, name, &io::NamedTensor::name);
  return found == arrays.end() ? nullptr : &*found;
}

bool is_whole(float value) { return std::isfinite(value) && value == std::round(value); }

// Inputs and labels of one sort, added to those before.
class Reader {
 public:
  Reader(const std::string& path, LabelLoss loss) : path_(path), loss_(loss) {}

  void add(const io::NamedTensor& inputs, const io::NamedTensor& labels) {
    if (inputs.shape.empty() || labels.shape.empty() || inputs.shape.front() == 0) {
      fail("has no samples: its arrays begin with a dimension for them");
    }
    if (inputs.shape.front() != labels.shape.front()) {
      fail(fmt::format("has {} {} for {} {}: their first dimensions must be the same", labels.shape.front(),
                       labels.name, inputs.shape.front(), inputs.name));
    }
    if (labels.shape.size() > 2) {
      fail(fmt::format("{} has {} dimensions; it is one number, or one row, for each sample", labels.name,
                       labels.shape.size()));
    }
    const std::vector<std::size_t> shape(inputs.shape.begin() + 1, inputs.shape.end());
    const bool in_columns = labels.shape.size() == 2;
    const std::size_t columns = in_columns ? labels.shape[1] : 1;
    if (columns == 0 || inputs.values.empty()) {
      fail("has samples without a number");
    }
    if (samples_.labels.empty()) {
      samples_.shape = shape;
      samples_.columns = static_cast<int>(columns);
      in_columns_ = in_columns;
    } else if (samples_.shape != shape || samples_.columns != static_cast<int>(columns) || in_columns_ != in_columns) {
      fail(fmt::format("{} and {} have another shape than those that are learned from", inputs.name, labels.name));
    }
    const auto is_bad = [](float value) { return !std::isfinite(value); };
    if (std::ranges::any_of(inputs.values, is_bad) || std::ranges::any_of(labels.values, is_bad)) {
      fail("has samples that are not numbers, or infinite");
    }
    samples_.inputs.insert(samples_.inputs.end(), inputs.values.begin(), inputs.values.end());
    samples_.labels.insert(samples_.labels.end(), labels.values.begin(), labels.values.end());
  }
  void end_of_learned() { samples_.learned = samples_.count(); }

  GivenSamples finish() {
    samples_.are_whole = std::ranges::all_of(samples_.inputs, is_whole);
    if (loss_ == LabelLoss::kMse) {
      samples_.kind = LabelKind::kNumbers;
      return std::move(samples_);
    }
    if (in_columns_) {
      samples_.kind = LabelKind::kBits;
      if (!std::ranges::all_of(samples_.labels, [](float label) { return label == 0 || label == 1; })) {
        fail("its labels have columns of other numbers than 0 and 1; if they are real numbers, say --loss mse");
      }
      return std::move(samples_);
    }
    samples_.kind = LabelKind::kClasses;
    for (const float label : samples_.labels) {
      if (!is_whole(label) || label < 0 || label > kMostClasses) {
        fail(fmt::format(
            "has the label {:g}, which is no number of a class; if labels are real numbers, say --loss mse", label));
      }
    }
    return std::move(samples_);
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const { throw FormatError(fmt::format("{}: {}", path_, reason)); }

  const std::string& path_;
  LabelLoss loss_;
  GivenSamples samples_;
  bool in_columns_ = false;
};

std::vector<std::uint32_t> rows_between(std::size_t first, std::size_t end) {
  std::vector<std::uint32_t> rows(end - first);
  std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(first));
  return rows;
}

}  // namespace

std::vector<std::uint32_t> GivenSamples::training_rows() const { return rows_between(0, learned); }

std::vector<std::uint32_t> GivenSamples::test_rows() const {
  return rows_between(learned < count() ? learned : 0, count());
}

int GivenSamples::classes() const { return static_cast<int>(*std::ranges::max_element(labels)) + 1; }

GivenSamples decode_samples(const std::string& bytes, const std::string& path, LabelLoss loss) {
  const std::vector<io::NamedTensor> arrays = io::decode_npz(bytes, path);
  const auto find = [&](const char* name) {
    const io::NamedTensor* found = find_array(arrays, name);
    if (found == nullptr) {
      throw FormatError(
          fmt::format("{}: lacks the array `{}`; write it with numpy.savez(FILE, inputs=..., labels=...)", path, name));
    }
    return found;
  };
  Reader reader(path, loss);
  reader.add(*find("inputs"), *find("labels"));
  reader.end_of_learned();
  if (find_array(arrays, "test_inputs") != nullptr || find_array(arrays, "test_labels") != nullptr) {
    reader.add(*find("test_inputs"), *find("test_labels"));
  }
  return reader.finish();
}

GivenSamples read_samples(const std::string& path, LabelLoss loss) {
  return decode_samples(io::read_file(path, kMostBytes), path, loss);
}

}  // namespace modlab::models
