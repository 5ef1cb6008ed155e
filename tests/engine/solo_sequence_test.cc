// The solo kernels of networks on sequences against the formulas written out, and the same bits from every target.

#include <gtest/gtest.h>

#include "engine/solo_everywhere.h"

namespace modlab::engine::solo {
namespace {

using List = std::vector<double>;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

struct AttentionCase {
  int samples, length, heads, width;
};
// More samples than a block has lanes, a single one, few and many tokens, heads of one unit and of several.
constexpr AttentionCase kAttention[] = {{1, 2, 1, 1},    {3, 4, 2, 3},  {16, 5, 3, 2},
                                        {19, 10, 16, 2}, {18, 3, 4, 8}, {5, 13, 1, 5}};

// How much each token attends to each other, [token][token], of one head of one sample.
List shares_of(const AttentionCase& c, const List& query, const List& key, std::size_t first, std::size_t stride) {
  List shares(static_cast<std::size_t>(c.length) * c.length);
  for (int token = 0; token < c.length; ++token) {
    double sum = 0;
    for (int other = 0; other < c.length; ++other) {
      double score = 0;
      for (int unit = 0; unit < c.width; ++unit) {
        score += query[first + token * stride + unit] * key[first + other * stride + unit];
      }
      const double share = other == token ? 0 : std::exp(score / std::sqrt(c.width));
      shares[token * c.length + other] = share;
      sum += share;
    }
    std::for_each_n(shares.begin() + token * c.length, c.length, [&](double& share) { share /= sum; });
  }
  return shares;
}

class SequenceKernels : public testing::TestWithParam<AttentionCase> {};

TEST_P(SequenceKernels, AttentionIsASoftmaxOverTheOtherTokens) {
  const AttentionCase& c = GetParam();
  Numbers numbers;
  const int stride = padded(c.heads * c.width);
  const int rows = c.samples * c.length;
  const List query = numbers.rows(rows, c.heads * c.width);
  const List key = numbers.rows(rows, c.heads * c.width);
  const List value = numbers.rows(rows, c.heads * c.width);
  const List dfound = numbers.rows(rows, c.heads * c.width);
  const std::size_t size = query.size();
  // What is found, then the gradients of queries, keys and values.
  List expected(4 * size);
  for (int sample = 0; sample < c.samples; ++sample) {
    for (int head = 0; head < c.heads; ++head) {
      const std::size_t first = static_cast<std::size_t>(sample) * c.length * stride + head * c.width;
      const List shares = shares_of(c, query, key, first, stride);
      for (int token = 0; token < c.length; ++token) {
        const std::size_t here = first + static_cast<std::size_t>(token) * stride;
        List asked(static_cast<std::size_t>(c.length));
        double mean = 0;
        for (int other = 0; other < c.length; ++other) {
          const std::size_t there = first + static_cast<std::size_t>(other) * stride;
          const double share = shares[token * c.length + other];
          for (int unit = 0; unit < c.width; ++unit) {
            expected[here + unit] += share * value[there + unit];
            expected[3 * size + there + unit] += share * dfound[here + unit];
            asked[other] += dfound[here + unit] * value[there + unit];
          }
          mean += share * asked[other];
        }
        for (int other = 0; other < c.length; ++other) {
          const std::size_t there = first + static_cast<std::size_t>(other) * stride;
          const double dscore = shares[token * c.length + other] * (asked[other] - mean) / std::sqrt(c.width);
          for (int unit = 0; unit < c.width; ++unit) {
            expected[size + here + unit] += dscore * key[there + unit];
            expected[2 * size + there + unit] += dscore * query[here + unit];
          }
        }
      }
    }
  }
  expect_everywhere(expected, [&]<typename T>(const Kernels<T>& kernels) {
    const AttentionShape<T> shape{.samples = c.samples,
                                  .length = c.length,
                                  .heads = c.heads,
                                  .width = c.width,
                                  .stride = stride,
                                  .scale = static_cast<T>(1 / std::sqrt(c.width))};
    const auto q = aligned<T>(query);
    const auto k = aligned<T>(key);
    const auto v = aligned<T>(value);
    const auto d = aligned<T>(dfound);
    AlignedVector<T> lanes(shape.lanes_size());
    AlignedVector<T> shares(shape.shares_size());
    AlignedVector<T> scratch(shape.scratch_size());
    AlignedVector<T> found(expected.size());
    kernels.attention_forward({.shape = shape,
                               .queries = q.data(),
                               .keys = k.data(),
                               .values = v.data(),
                               .found = found.data(),
                               .lanes = lanes.data(),
                               .shares = shares.data(),
                               .scratch = scratch.data()});
    kernels.attention_backward({.shape = shape,
                                .dfound = d.data(),
                                .dqueries = found.data() + size,
                                .dkeys = found.data() + 2 * size,
                                .dvalues = found.data() + 3 * size,
                                .lanes = lanes.data(),
                                .shares = shares.data(),
                                .scratch = scratch.data()});
    return found;
  });
}

INSTANTIATE_TEST_SUITE_P(All, SequenceKernels, testing::ValuesIn(kAttention));

// State sizes below a vector, whole vectors, and a vector and some more.
constexpr int kStates[] = {1, 3, 15, 16, 19, 41};
constexpr int kLstmRows = 5;

// Numbers of every row and unit by names; slices are tight where a product says them.
struct LstmNumbers {
  explicit LstmNumbers(int state)
      : units(state),
        said(drawn.rows(kLstmRows, 4 * state)),
        also(drawn.rows(kLstmRows, 4 * state)),
        before(drawn.rows(kLstmRows, state)),
        dhidden(drawn.rows(kLstmRows, state)),
        dmemory(drawn.rows(kLstmRows, state)),
        gates(drawn.list(static_cast<std::size_t>(kLstmRows) * kGateStride)) {
    said.resize(said.size() + kUnitPad, 7.0);
    also.resize(also.size() + kUnitPad, 7.0);
  }

  static constexpr int kGateStride = 3;
  Numbers drawn;
  int units;
  List said, also, before, dhidden, dmemory, gates;

  std::size_t at(int row, int unit) const { return static_cast<std::size_t>(row) * padded(units) + unit; }
  double slice(int row, int part, int unit) const {
    const std::size_t place = static_cast<std::size_t>(row) * padded(4 * units) + part * units + unit;
    return said[place] + also[place];
  }
  double in(int row, int unit) const { return logistic(slice(row, 0, unit)); }
  double forget(int row, int unit) const { return logistic(slice(row, 1, unit)); }
  double out(int row, int unit) const { return logistic(slice(row, 2, unit)); }
  double candidate(int row, int unit) const { return std::tanh(slice(row, 3, unit)); }
  double memory(int row, int unit) const {
    return forget(row, unit) * before[at(row, unit)] + in(row, unit) * candidate(row, unit);
  }
  double told(int row, int unit) const { return std::tanh(memory(row, unit)); }
  double gate(int row) const { return gates[static_cast<std::size_t>(row) * kGateStride]; }
};

// What a kernel of one cell keeps.
template <typename T>
struct Kept {
  explicit Kept(const LstmNumbers& n, const Kernels<T>& kernels)
      : parts(4 * n.before.size()), memory(n.before.size()), told(n.before.size()), hidden(n.before.size()) {
    const auto said = aligned<T>(n.said);
    const auto also = aligned<T>(n.also);
    const auto before = aligned<T>(n.before);
    kernels.lstm_forward({.from_input = said.data(),
                          .from_state = also.data(),
                          .before = before.data(),
                          .parts = parts.data(),
                          .memory = memory.data(),
                          .told = told.data(),
                          .hidden = hidden.data(),
                          .rows = kLstmRows,
                          .units = n.units});
  }
  AlignedVector<T> parts, memory, told, hidden;
};

template <typename T>
void append(AlignedVector<T>& all, const AlignedVector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

TEST(LstmKernels, ForwardAndMixture) {
  for (const int units : kStates) {
    SCOPED_TRACE(units);
    const LstmNumbers n(units);
    const std::size_t size = n.before.size();
    // c, h, and both of a mixture of the cell with itself.
    List expected(4 * size);
    for (int row = 0; row < kLstmRows; ++row) {
      for (int unit = 0; unit < units; ++unit) {
        const std::size_t place = n.at(row, unit);
        expected[place] = n.memory(row, unit);
        expected[size + place] = n.out(row, unit) * n.told(row, unit);
        expected[2 * size + place] = 2 * n.gate(row) * expected[place];
        expected[3 * size + place] = 2 * n.gate(row) * expected[size + place];
      }
    }
    expect_everywhere(expected, [&]<typename T>(const Kernels<T>& kernels) {
      const Kept<T> kept(n, kernels);
      const auto gates = aligned<T>(n.gates);
      AlignedVector<T> memory(size, T{9});
      AlignedVector<T> hidden(size, T{9});
      for (const bool add : {false, true}) {
        kernels.lstm_mix({.parts = kept.parts.data(),
                          .memory = kept.memory.data(),
                          .told = kept.told.data(),
                          .gates = gates.data(),
                          .gate_stride = LstmNumbers::kGateStride,
                          .mixed_hidden = hidden.data(),
                          .mixed_memory = memory.data(),
                          .rows = kLstmRows,
                          .units = units,
                          .add = add});
      }
      AlignedVector<T> found = kept.memory;
      append(found, kept.hidden);
      append(found, memory);
      append(found, hidden);
      return found;
    });
  }
}

TEST(LstmKernels, BackwardAndWhatGatesAreAsked) {
  for (const int units : kStates) {
    SCOPED_TRACE(units);
    const LstmNumbers n(units);
    const std::size_t tight = static_cast<std::size_t>(kLstmRows) * padded(4 * units);
    // d, then the gradient of c before on top of a one, then what the gates are asked.
    List expected(tight + n.before.size() + kLstmRows);
    for (int row = 0; row < kLstmRows; ++row) {
      for (int unit = 0; unit < units; ++unit) {
        const std::size_t place = n.at(row, unit);
        const double i = n.in(row, unit);
        const double f = n.forget(row, unit);
        const double o = n.out(row, unit);
        const double g = n.candidate(row, unit);
        const double t = n.told(row, unit);
        const double dh = n.gate(row) * n.dhidden[place];
        const double dc = n.gate(row) * n.dmemory[place] + dh * o * (1 - t * t);
        double* d = expected.data() + static_cast<std::size_t>(row) * padded(4 * units) + unit;
        d[0] = dc * g * i * (1 - i);
        d[units] = dc * n.before[place] * f * (1 - f);
        d[2 * units] = dh * t * o * (1 - o);
        d[3 * units] = dc * i * (1 - g * g);
        expected[tight + place] = 1 + dc * f;
        expected[tight + n.before.size() + row] += n.dhidden[place] * o * t + n.dmemory[place] * n.memory(row, unit);
      }
    }
    expect_everywhere(expected, [&]<typename T>(const Kernels<T>& kernels) {
      const Kept<T> kept(n, kernels);
      const auto gates = aligned<T>(n.gates);
      const auto dhidden = aligned<T>(n.dhidden);
      const auto dmemory = aligned<T>(n.dmemory);
      const auto before = aligned<T>(n.before);
      AlignedVector<T> d(tight);
      d.resize(tight + kUnitPad, T{7});
      AlignedVector<T> dbefore(n.before.size());
      for (int row = 0; row < kLstmRows; ++row) {
        std::fill_n(dbefore.begin() + static_cast<std::ptrdiff_t>(n.at(row, 0)), units, T{1});
      }
      kernels.lstm_backward({.dhidden = dhidden.data(),
                             .dmemory = dmemory.data(),
                             .gates = gates.data(),
                             .gate_stride = LstmNumbers::kGateStride,
                             .parts = kept.parts.data(),
                             .told = kept.told.data(),
                             .before = before.data(),
                             .d = d.data(),
                             .dbefore = dbefore.data(),
                             .rows = kLstmRows,
                             .units = units,
                             .add = true});
      AlignedVector<T> asked(kLstmRows);
      kernels.lstm_ask({.dhidden = dhidden.data(),
                        .dmemory = dmemory.data(),
                        .parts = kept.parts.data(),
                        .memory = kept.memory.data(),
                        .told = kept.told.data(),
                        .asked = asked.data(),
                        .asked_stride = 1,
                        .rows = kLstmRows,
                        .units = units});
      for (std::size_t place = tight; place < d.size(); ++place) {
        EXPECT_EQ(d[place], T{7}) << "what lies behind the last row may be a row that was written before";
      }
      d.resize(tight);
      append(d, dbefore);
      append(d, asked);
      return d;
    });
  }
}

TEST(ReluScores, AndTheirGradients) {
  for (const int units : {1, 16, 37}) {
    SCOPED_TRACE(units);
    constexpr int kRows = 4;
    Numbers numbers;
    const int stride = padded(units);
    const List x = numbers.rows(kRows, units);
    const List weights = numbers.rows(1, units);
    const List dscores = numbers.list(kRows);
    const List before = numbers.rows(kRows + 1, units);
    // Scores added twice, then the gradients of weights and of x, on top of what was there.
    List expected(kRows);
    expected.insert(expected.end(), before.begin(), before.end());
    for (int row = 0; row < kRows; ++row) {
      for (int unit = 0; unit < units; ++unit) {
        const double value = x[row * stride + unit];
        expected[row] += 2 * weights[unit] * std::max(value, 0.0);
        expected[kRows + unit] += dscores[row] * std::max(value, 0.0);
        expected[kRows + (row + 1) * stride + unit] += value > 0 ? dscores[row] * weights[unit] : 0;
      }
    }
    expect_everywhere(expected, [&]<typename T>(const Kernels<T>& kernels) {
      const auto given = aligned<T>(x);
      const auto w = aligned<T>(weights);
      const auto d = aligned<T>(dscores);
      AlignedVector<T> gradients = aligned<T>(before);
      AlignedVector<T> scores(kRows, T{5});
      for (const bool add : {false, true}) {
        kernels.relu_score({.x = given.data(),
                            .weights = w.data(),
                            .scores = scores.data(),
                            .score_stride = 1,
                            .rows = kRows,
                            .units = units,
                            .add = add});
      }
      kernels.relu_score_gradient({.x = given.data(),
                                   .weights = w.data(),
                                   .dscores = d.data(),
                                   .score_stride = 1,
                                   .dweights = gradients.data(),
                                   .dx = gradients.data() + stride,
                                   .rows = kRows,
                                   .units = units});
      append(scores, gradients);
      return scores;
    });
  }
}

}  // namespace
}  // namespace modlab::engine::solo
