#include "models/rules/rule_samples.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/random.h"

namespace modlab::models {
namespace {

using engine::solo::padded;
using tasks::RuleFamily;
using tasks::RuleOutput;

// The first rule at which the sum of frequencies passes a number below 1.
std::vector<double> sums_of(std::span<const double> frequencies) {
  std::vector<double> sums(frequencies.size());
  std::partial_sum(frequencies.begin(), frequencies.end(), sums.begin());
  return sums;
}

}  // namespace

RuleSampler::RuleSampler(const tasks::RuleTask& task, const engine::solo::Kernels<float>& kernels, std::uint64_t seed)
    : task_(task), kernels_(kernels), seed_(seed) {
  const tasks::RuleTaskSettings& settings = task.settings;
  if (settings.family != RuleFamily::kRnn) {
    return;
  }
  const int size = settings.dimension;
  const std::size_t stride = padded(size);
  const auto copy_rows = [&](const double* from) {
    for (int row = 0; row < size; ++row) {
      for (std::size_t column = 0; column < stride; ++column) {
        system_.push_back(column < static_cast<std::size_t>(size)
                              ? static_cast<float>(from[row * size + static_cast<int>(column)])
                              : 0.0F);
      }
    }
  };
  const std::ptrdiff_t square = static_cast<std::ptrdiff_t>(size) * size;
  for (int rule = 0; rule < settings.rules; ++rule) {
    copy_rows(task.drive.data() + rule * square);
    for (int lag = 0; lag < settings.order; ++lag) {
      copy_rows(task.transition.data() + (static_cast<std::ptrdiff_t>(rule) * settings.order + lag) * square);
    }
  }
}

void RuleSampler::draw(const RuleDraw& draw, RuleBatch& batch) {
  batch.samples = draw.samples;
  batch.length = draw.length;
  batch.step_by_step = task_.settings.family == RuleFamily::kRnn;
  batch.columns = padded(task_.data_columns());
  batch.outputs = padded(task_.outputs());
  batch.use = draw.use;
  batch.step = draw.step;
  batch.iteration = draw.iteration;
  batch.rules.resize(static_cast<std::size_t>(batch.rows()));
  batch.data.resize(static_cast<std::size_t>(batch.rows()) * batch.columns);
  batch.targets.assign(static_cast<std::size_t>(batch.rows()) * batch.outputs, 0.0F);
  draw_rules(draw, batch);
  draw_data(draw, batch);
  switch (task_.settings.family) {
    case RuleFamily::kMlp:
      return say_sums(batch);
    case RuleFamily::kMha:
      return say_searches(batch);
    case RuleFamily::kRnn:
      return say_states(batch);
  }
}

void RuleSampler::draw_rules(const RuleDraw& draw, RuleBatch& batch) const {
  const Words4 key = stream_key(seed_, Stream::kSampleRules);
  const std::vector<double> sums = sums_of(draw.frequencies);
  Words4 words{};
  for (std::size_t row = 0; row < batch.rules.size(); ++row) {
    if (row % 4 == 0) {
      words = threefry({static_cast<std::uint32_t>(row / 4), draw.step, static_cast<std::uint32_t>(draw.use), 0}, key);
    }
    const std::uint32_t word = words[row % 4];
    if (sums.empty()) {
      batch.rules[row] =
          static_cast<std::uint16_t>((std::uint64_t{word} * static_cast<std::uint64_t>(task_.settings.rules)) >> 32U);
    } else {
      const auto passed = std::ranges::upper_bound(sums, word * 0x1p-32);
      batch.rules[row] =
          static_cast<std::uint16_t>(std::min<std::ptrdiff_t>(passed - sums.begin(), std::ssize(sums) - 1));
    }
  }
  batch.said = batch.rules;
  const int others = task_.settings.rules - 1;
  for (std::size_t row = 0; row < batch.said.size() && draw.rule_noise > 0 && others > 0; ++row) {
    const Words4 drawn =
        threefry({static_cast<std::uint32_t>(row), draw.step, static_cast<std::uint32_t>(draw.use), 1}, key);
    if (drawn[0] * 0x1p-32 < draw.rule_noise) {
      const auto beyond = static_cast<int>((std::uint64_t{drawn[1]} * static_cast<std::uint64_t>(others)) >> 32U);
      batch.said[row] = static_cast<std::uint16_t>((batch.rules[row] + 1 + beyond) % task_.settings.rules);
    }
  }
}

void RuleSampler::draw_data(const RuleDraw& draw, RuleBatch& batch) {
  const int columns = task_.data_columns();
  const std::size_t count = static_cast<std::size_t>(batch.rows()) * columns;
  constexpr std::size_t kBlock = engine::solo::kNormalBlock;
  normals_.resize((count + kBlock - 1) / kBlock * kBlock);
  kernels_.normals({stream_key(seed_, Stream::kSamples), draw.step, static_cast<std::uint32_t>(draw.use),
                    normals_.data(), static_cast<int>(normals_.size())});
  for (int row = 0; row < batch.rows(); ++row) {
    float* to = batch.data.data() + static_cast<std::ptrdiff_t>(row) * batch.columns;
    const float* from = normals_.data() + static_cast<std::ptrdiff_t>(row) * columns;
    std::copy_n(from, columns, to);
    std::fill(to + columns, to + batch.columns, 0.0F);
    if (task_.settings.family == RuleFamily::kMha && task_.settings.search == 2) {
      // q and q' of every rule are directions.
      for (int rule = 0; rule < task_.settings.rules; ++rule) {
        for (float* direction : {to + 6 * rule, to + 6 * rule + 2}) {
          const double length = std::sqrt(static_cast<double>(direction[0]) * direction[0] +
                                          static_cast<double>(direction[1]) * direction[1]);
          direction[0] = length > 0 ? static_cast<float>(direction[0] / length) : 1.0F;
          direction[1] = length > 0 ? static_cast<float>(direction[1] / length) : 0.0F;
        }
      }
    }
    if (draw.scale != 1) {
      std::for_each(to, to + columns, [&](float& value) { value *= draw.scale; });
    }
  }
}

namespace {

float said(double value, RuleOutput output) {
  return output == RuleOutput::kRegression ? static_cast<float>(value) : (value >= 0 ? 1.0F : 0.0F);
}

}  // namespace

void RuleSampler::say_sums(RuleBatch& batch) const {
  for (int row = 0; row < batch.rows(); ++row) {
    const float* x = batch.data.data() + static_cast<std::ptrdiff_t>(row) * batch.columns;
    const std::size_t rule = batch.rules[static_cast<std::size_t>(row)];
    batch.targets[static_cast<std::size_t>(row) * batch.outputs] =
        said(task_.alpha[rule] * x[0] + task_.beta[rule] * x[1], task_.settings.output);
  }
}

void RuleSampler::say_searches(RuleBatch& batch) const {
  const bool by_direction = task_.settings.search == 2;
  const int block = by_direction ? 6 : 4;  // columns of a rule: q, q', v, v'
  const int q_size = by_direction ? 2 : 1;
  // How well token `other` answers the question of token `own`: the more the better.
  const auto answer = [&](const float* own, const float* other, int column) {
    return by_direction ? static_cast<double>(own[column]) * other[column] +
                              static_cast<double>(own[column + 1]) * other[column + 1]
                        : -std::abs(static_cast<double>(own[column]) - other[column]);
  };
  for (int sample = 0; sample < batch.samples; ++sample) {
    const float* tokens = batch.data.data() + static_cast<std::ptrdiff_t>(batch.row_of(sample, 0)) * batch.columns;
    for (int own = 0; own < batch.length; ++own) {
      const int row = batch.row_of(sample, own);
      const std::size_t rule = batch.rules[static_cast<std::size_t>(row)];
      const int first = block * static_cast<int>(rule);
      double value = 0;
      // Only what this token's rule looks for; the first of equals is found.
      for (const int which : {0, 1}) {
        const int column = first + which * q_size;
        int found = -1;
        double best = 0;
        for (int other = 0; other < batch.length; ++other) {
          const double match = answer(tokens + static_cast<std::ptrdiff_t>(own) * batch.columns,
                                      tokens + static_cast<std::ptrdiff_t>(other) * batch.columns, column);
          if (other != own && (found < 0 || match > best)) {
            found = other;
            best = match;
          }
        }
        if (found < 0) {
          continue;  // a token by itself
        }
        const double factor = which == 0 ? task_.alpha[rule] : task_.beta[rule];
        value += factor * tokens[static_cast<std::ptrdiff_t>(found) * batch.columns + first + 2 * q_size + which];
      }
      batch.targets[static_cast<std::size_t>(row) * batch.outputs] = said(value, task_.settings.output);
    }
  }
}

// Tokens of a step that follow one rule are one product: [x, s of the steps before] times [B; A of each lag].
void RuleSampler::say_states(RuleBatch& batch) {
  const tasks::RuleTaskSettings& settings = task_.settings;
  const int size = settings.dimension;
  const int stride = padded(size);
  const int width = size * (1 + settings.order);
  const std::ptrdiff_t of_rule = static_cast<std::ptrdiff_t>(width) * stride;
  states_.assign(static_cast<std::size_t>(batch.rows()) * stride, 0.0F);
  gathered_.resize(static_cast<std::size_t>(batch.samples) * padded(width));
  found_.resize(static_cast<std::size_t>(batch.samples) * stride);
  std::vector<int> rows;
  for (int token = 0; token < batch.length; ++token) {
    for (int rule = 0; rule < settings.rules; ++rule) {
      rows.clear();
      for (int sample = 0; sample < batch.samples; ++sample) {
        const int row = batch.row_of(sample, token);
        if (batch.rules[static_cast<std::size_t>(row)] == rule) {
          rows.push_back(row);
        }
      }
      if (rows.empty()) {
        continue;
      }
      for (std::size_t place = 0; place < rows.size(); ++place) {
        float* to = gathered_.data() + place * padded(width);
        std::copy_n(batch.data.data() + static_cast<std::ptrdiff_t>(rows[place]) * batch.columns, size, to);
        // There is no state before the first token.
        std::fill_n(to + size, size * settings.order, 0.0F);
        for (int lag = 1; lag <= std::min(settings.order, token); ++lag) {
          const std::ptrdiff_t before = rows[place] - static_cast<std::ptrdiff_t>(lag) * batch.samples;
          std::copy_n(states_.data() + before * stride, size, to + static_cast<std::ptrdiff_t>(lag) * size);
        }
      }
      kernels_.layer_forward({.x = gathered_.data(),
                              .x_stride = padded(width),
                              .weights = system_.data() + rule * of_rule,
                              .bias = nullptr,
                              .y = found_.data(),
                              .rows = static_cast<int>(rows.size()),
                              .in = width,
                              .out = stride,
                              .relu = false});
      for (std::size_t place = 0; place < rows.size(); ++place) {
        std::copy_n(found_.data() + place * stride, stride,
                    states_.data() + static_cast<std::ptrdiff_t>(rows[place]) * stride);
      }
    }
  }
  if (settings.output == RuleOutput::kRegression) {
    batch.targets = states_;
    return;
  }
  for (int row = 0; row < batch.rows(); ++row) {
    const float* state = states_.data() + static_cast<std::ptrdiff_t>(row) * stride;
    const double value = std::inner_product(task_.readout.begin(), task_.readout.end(), state, 0.0);
    batch.targets[static_cast<std::size_t>(row) * batch.outputs] = said(value, settings.output);
  }
}

}  // namespace modlab::models
