#include "methods/torch/sample_targets.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"
#include "io/csv_file.h"
#include "io/file.h"

namespace modlab::methods {
namespace {

using models::GivenSamples;
using models::LabelKind;

constexpr std::size_t kMostTargets = 1000;
constexpr std::size_t kMostFileBytes = std::size_t{1} << 30U;

std::vector<std::uint8_t> all_tests(const GivenSamples& samples) {
  return std::vector<std::uint8_t>(samples.test_rows().size(), 1);
}

SampleTargets each_output(const GivenSamples& samples) {
  if (samples.kind == LabelKind::kClasses) {
    throw ConfigError(
        "targets: outputs are for labels in columns; these are numbers of classes: say --targets classes, or name a "
        "CSV");
  }
  SampleTargets found;
  for (int column = 0; column < samples.columns; ++column) {
    TorchTarget target{fmt::format("y{}", column + 1), samples.training_rows(),
                       std::vector<std::uint8_t>(static_cast<std::size_t>(samples.columns))};
    target.outputs[static_cast<std::size_t>(column)] = 1;
    found.targets.push_back(std::move(target));
    found.tests.push_back(all_tests(samples));
  }
  return found;
}

SampleTargets each_class(const GivenSamples& samples) {
  if (samples.kind != LabelKind::kClasses) {
    throw ConfigError(
        "targets: classes are for labels that are numbers of classes, one for each sample; these are columns");
  }
  SampleTargets found;
  const std::vector<std::uint32_t> learned = samples.training_rows();
  const std::vector<std::uint32_t> tests = samples.test_rows();
  for (int removed = 0; removed < samples.classes(); ++removed) {
    const auto is_left = [&](std::uint32_t row) { return samples.labels[row] != static_cast<float>(removed); };
    TorchTarget target{fmt::format("without {}", removed), {}};
    std::ranges::copy_if(learned, std::back_inserter(target.rows), is_left);
    std::vector<std::uint8_t> own;
    for (const std::uint32_t row : tests) {
      own.push_back(is_left(row) ? 1 : 0);
    }
    found.targets.push_back(std::move(target));
    found.tests.push_back(std::move(own));
  }
  return found;
}

void check(const SampleTargets& found, const std::string& source) {
  for (std::size_t target = 0; target < found.targets.size(); ++target) {
    const bool has_tests = std::ranges::find(found.tests[target], 1) != found.tests[target].end();
    if (found.targets[target].rows.empty() || !has_tests) {
      throw ConfigError(fmt::format("{}: the target '{}' has no sample to {}", source, found.targets[target].name,
                                    has_tests ? "learn from" : "be tested on"));
    }
  }
  if (found.targets.empty() || found.targets.size() > kMostTargets) {
    throw ConfigError(fmt::format("{}: {} targets; there are 1 to {}", source, found.targets.size(), kMostTargets));
  }
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

// Of the variance of labels, what is explained; of one column on some tests.
double explained(const std::vector<float>& said, const GivenSamples& samples, const std::vector<std::uint8_t>& own,
                 std::size_t column) {
  const std::vector<std::uint32_t> tests = samples.test_rows();
  const auto columns = static_cast<std::size_t>(samples.columns);
  double sum = 0;
  double count = 0;
  for (std::size_t test = 0; test < tests.size(); ++test) {
    sum += own[test] != 0 ? samples.labels[tests[test] * columns + column] : 0;
    count += own[test];
  }
  double left = 0;
  double all = 0;
  for (std::size_t test = 0; test < tests.size(); ++test) {
    if (own[test] != 0) {
      const double label = samples.labels[tests[test] * columns + column];
      const double error = said[test * columns + column] - label;
      left += error * error;
      all += (label - sum / count) * (label - sum / count);
    }
  }
  return all > 0 ? std::max(0.0, 100 * (1 - left / all)) : (left == 0 ? 100 : 0);
}

bool counts(const TorchTarget& target, std::size_t output) {
  return target.outputs.empty() || target.outputs[output] != 0;
}

}  // namespace

SampleTargets parse_sample_targets(const std::string& text, const std::string& path, const GivenSamples& samples) {
  const io::Csv csv = io::parse_csv(text, path, samples.count(), kMostTargets);
  if (csv.rows.size() != samples.count()) {
    throw FormatError(
        fmt::format("{}: has {} lines below its header for {} samples", path, csv.rows.size(), samples.count()));
  }
  const std::size_t first_test = samples.test_rows().front();
  SampleTargets found;
  for (std::size_t column = 0; column < csv.header.size(); ++column) {
    TorchTarget target{csv.header[column], {}};
    std::vector<std::uint8_t> own;
    for (std::size_t row = 0; row < csv.rows.size(); ++row) {
      const std::string& cell = csv.rows[row].cells[column];
      if (cell != "0" && cell != "1") {
        throw FormatError(fmt::format("{}: line {}: '{}' is neither 0 nor 1", path, csv.rows[row].line, cell));
      }
      if (cell == "1" && row < samples.learned) {
        target.rows.push_back(static_cast<std::uint32_t>(row));
      }
      if (row >= first_test) {
        own.push_back(cell == "1" ? 1 : 0);
      }
    }
    found.targets.push_back(std::move(target));
    found.tests.push_back(std::move(own));
  }
  return found;
}

SampleTargets sample_targets(const std::string& text, const GivenSamples& samples) {
  SampleTargets found;
  if (text == "outputs") {
    found = each_output(samples);
  } else if (text == "classes") {
    found = each_class(samples);
  } else if (text.ends_with(".csv")) {
    found = parse_sample_targets(io::read_file(text, kMostFileBytes), text, samples);
  } else {
    throw ConfigError(fmt::format(
        "targets '{}' of a network's own samples are outputs, classes, or a CSV file with a column for each target",
        text));
  }
  check(found, text.ends_with(".csv") ? text : "targets");
  found.whole = {"all", samples.training_rows()};
  return found;
}

TorchJudgement judge_samples(const std::vector<float>& said, int outputs, const GivenSamples& samples,
                             const SampleTargets& targets) {
  const std::vector<std::uint32_t> tests = samples.test_rows();
  const auto width = static_cast<std::size_t>(outputs);
  const auto columns = static_cast<std::size_t>(samples.columns);
  TorchJudgement judgement;
  if (samples.kind == LabelKind::kNumbers) {
    const auto mean_explained = [&](const TorchTarget& target, const std::vector<std::uint8_t>& own) {
      double sum = 0;
      double count = 0;
      for (std::size_t column = 0; column < columns; ++column) {
        if (counts(target, column)) {
          sum += explained(said, samples, own, column);
          ++count;
        }
      }
      return sum / count;
    };
    for (std::size_t target = 0; target < targets.targets.size(); ++target) {
      judgement.accuracy.push_back(mean_explained(targets.targets[target], targets.tests[target]));
    }
    judgement.everything = mean_explained(targets.whole, all_tests(samples));
    return judgement;
  }
  const bool is_class = samples.kind == LabelKind::kClasses;
  std::vector<double> right(targets.targets.size());
  std::vector<double> asked(targets.targets.size());
  std::vector<std::vector<double>> classes(is_class ? width : 0, std::vector<double>(width));
  double everything = 0;
  for (std::size_t test = 0; test < tests.size(); ++test) {
    const float* answer = said.data() + test * width;
    const float* label = samples.labels.data() + tests[test] * columns;
    const auto best = static_cast<std::size_t>(std::max_element(answer, answer + width) - answer);
    const auto is_right = [&](const TorchTarget& target) {
      if (is_class) {
        return best == static_cast<std::size_t>(*label);
      }
      for (std::size_t column = 0; column < columns; ++column) {
        if (counts(target, column) && (answer[column] > 0) != (label[column] > 0)) {
          return false;
        }
      }
      return true;
    };
    if (is_class) {
      classes[static_cast<std::size_t>(*label)][best] += 1;
    }
    everything += is_right(targets.whole) ? 1 : 0;
    for (std::size_t target = 0; target < targets.targets.size(); ++target) {
      if (targets.tests[target][test] != 0) {
        asked[target] += 1;
        right[target] += is_right(targets.targets[target]) ? 1 : 0;
      }
    }
  }
  for (std::size_t target = 0; target < right.size(); ++target) {
    judgement.accuracy.push_back(percent(right[target], asked[target]));
  }
  judgement.everything = percent(everything, static_cast<double>(tests.size()));
  for (std::vector<double>& row : classes) {
    double sum = 0;
    for (const double share : row) {
      sum += share;
    }
    std::ranges::transform(row, row.begin(), [&](double share) { return percent(share, sum); });
  }
  judgement.classes = std::move(classes);
  return judgement;
}

}  // namespace modlab::methods
