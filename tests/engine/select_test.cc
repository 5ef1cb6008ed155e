// The selection kernels against plain loops, one lane at a time in double precision.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "engine/lane_arrays.h"

namespace modlab {
namespace {

constexpr double kTolerance = 1e-5;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

class SelectKernels : public test::KernelTest {
 protected:
  // The noise of a Units<> argument lies as its scores do.
  Row noise_like(const Buffer& scores, int units, float low = -1, float high = 1) {
    Row values(units * scores.stride());
    for (float& value : values) {
      value = number(low, high);
    }
    return values;
  }
  Row inverse_taus() { return row(1, 0.2F, 2.0F); }
};

TEST_P(SelectKernels, TopKIsAStableSortFromTheLargest) {
  for (const int candidates : {1, 2, 3, 6, 9, 16}) {
    for (const int columns : {1, 2, 3, 5, 33}) {
      for (const bool noisy : {false, true}) {
        const int k = std::min(candidates, 1 + columns % 4);
        Buffer scores = untouched(candidates, columns);
        for (int candidate = 0; candidate < candidates; ++candidate) {
          for (int element = 0; element < columns * lanes_; ++element) {
            // A few whole numbers only, so that many are tied.
            scores.unit(candidate)[element] = static_cast<float>(below(3) - 1);
          }
        }
        const Row noise = noise_like(scores, candidates);
        Buffer picks = untouched(k, columns);
        kernels_.top_k({.scores = scores.view(),
                        .noise = noisy ? noise.data() : nullptr,
                        .picks = picks.view(),
                        .candidates = candidates,
                        .columns = columns,
                        .k = k});
        for (int column = 0; column < columns; ++column) {
          for (int lane = 0; lane < lanes_; ++lane) {
            std::vector<float> total;
            for (int candidate = 0; candidate < candidates; ++candidate) {
              total.push_back(scores.unit(candidate)[at(column, lane)] +
                              (noisy ? noise[candidate * scores.stride() + at(column, lane)] : 0.0F));
            }
            std::vector<int> order(candidates);
            std::iota(order.begin(), order.end(), 0);
            std::ranges::stable_sort(order, [&](int a, int b) { return total[a] > total[b]; });
            for (int position = 0; position < k; ++position) {
              ASSERT_EQ(value(picks, position, column, lane), order[position])
                  << candidates << " candidates, column " << column << ", lane " << lane;
            }
          }
        }
        expect_spare_rows_untouched(picks, k, columns);
      }
    }
  }
}

TEST_P(SelectKernels, TopKOfTiesTakesTheLowerIndexFirst) {
  Buffer scores = untouched(5, 1);
  for (int candidate = 0; candidate < 5; ++candidate) {
    std::fill_n(scores.unit(candidate), lanes_, 0.5F);
  }
  Buffer picks = untouched(5, 1);
  kernels_.top_k(
      {.scores = scores.view(), .noise = nullptr, .picks = picks.view(), .candidates = 5, .columns = 1, .k = 5});
  for (int position = 0; position < 5; ++position) {
    for (int lane = 0; lane < lanes_; ++lane) {
      EXPECT_EQ(value(picks, position, 0, lane), position);
    }
  }
}

// A diverged network goes on selecting; its picks must stay candidates, or it would read what belongs to others.
TEST_P(SelectKernels, TopKOfWhatIsNotANumberGivesDistinctCandidates) {
  const float odd[] = {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::infinity(), 1.0F};
  constexpr int kCandidates = 4;
  // Every combination of four odd values for four candidates.
  for (int combination = 0; combination < 256; ++combination) {
    Buffer scores = untouched(kCandidates, 1);
    for (int candidate = 0; candidate < kCandidates; ++candidate) {
      std::fill_n(scores.unit(candidate), lanes_, odd[(combination >> (2 * candidate)) & 3]);
    }
    Buffer picks = untouched(kCandidates, 1);
    kernels_.top_k({.scores = scores.view(),
                    .noise = nullptr,
                    .picks = picks.view(),
                    .candidates = kCandidates,
                    .columns = 1,
                    .k = kCandidates});
    for (int lane = 0; lane < lanes_; ++lane) {
      std::set<double> seen;
      for (int position = 0; position < kCandidates; ++position) {
        seen.insert(value(picks, position, 0, lane));
      }
      ASSERT_EQ(seen, (std::set<double>{0, 1, 2, 3})) << "combination " << combination;
    }
  }
}

TEST_P(SelectKernels, GatherReadsThePickedCandidate) {
  for (const bool pick_per_row : {false, true}) {
    for (const int candidates : {1, 2, 3, 6, 9}) {
      for (const int rows : {1, 2, 3, 5, 7, 8, 16, 33}) {
        const int k = 1 + rows % 3;
        Buffer x = buffer(candidates, rows);
        Buffer picks = untouched(k, pick_per_row ? rows : 1);
        for (int position = 0; position < k; ++position) {
          const Row chosen = choices(pick_per_row ? rows : 1, candidates);
          std::ranges::copy(chosen, picks.unit(position));
        }
        Buffer z = untouched(k, rows);
        kernels_.gather({.x = x.view(),
                         .candidates = candidates,
                         .picks = picks.view(),
                         .pick_per_row = pick_per_row,
                         .z = z.view(),
                         .rows = rows,
                         .k = k});
        for (int position = 0; position < k; ++position) {
          for (int sample = 0; sample < rows; ++sample) {
            for (int lane = 0; lane < lanes_; ++lane) {
              const int pick = static_cast<int>(value(picks, position, pick_per_row ? sample : 0, lane));
              ASSERT_EQ(value(z, position, sample, lane), value(x, pick, sample, lane));
            }
          }
        }
        expect_spare_rows_untouched(z, k, rows);
      }
    }
  }
}

TEST_P(SelectKernels, ScatterAddsToThePickedCandidateOnly) {
  for (const bool pick_per_row : {false, true}) {
    for (const int candidates : {1, 2, 3, 6, 9}) {
      for (const int rows : kAwkwardRows) {
        const int k = 1 + rows % 3;
        Buffer dz = buffer(k, rows);
        Buffer picks = untouched(k, pick_per_row ? rows : 1);
        for (int position = 0; position < k; ++position) {
          const Row chosen = choices(pick_per_row ? rows : 1, candidates);
          std::ranges::copy(chosen, picks.unit(position));
        }
        Buffer dx = buffer(candidates, rows);
        std::vector<double> expected(static_cast<std::size_t>(candidates) * rows * lanes_);
        const auto place = [&](int candidate, int sample, int lane) -> double& {
          return expected[at(candidate * rows + sample, lane)];
        };
        for (int sample = 0; sample < rows; ++sample) {
          for (int lane = 0; lane < lanes_; ++lane) {
            for (int candidate = 0; candidate < candidates; ++candidate) {
              place(candidate, sample, lane) = value(dx, candidate, sample, lane);
            }
            for (int position = 0; position < k; ++position) {
              const int pick = static_cast<int>(value(picks, position, pick_per_row ? sample : 0, lane));
              place(pick, sample, lane) += value(dz, position, sample, lane);
            }
          }
        }
        kernels_.scatter({.dz = dz.view(),
                          .picks = picks.view(),
                          .pick_per_row = pick_per_row,
                          .dx = dx.view(),
                          .candidates = candidates,
                          .rows = rows,
                          .k = k});
        for (int candidate = 0; candidate < candidates; ++candidate) {
          for (int sample = 0; sample < rows; ++sample) {
            for (int lane = 0; lane < lanes_; ++lane) {
              ASSERT_NEAR(value(dx, candidate, sample, lane), place(candidate, sample, lane), 1e-6);
            }
          }
        }
        expect_spare_rows_untouched(dx, candidates, rows);
      }
    }
  }
}

TEST_P(SelectKernels, CorrelateSumsOverTheRowsOfItsTask) {
  for (const bool with_tasks : {false, true}) {
    for (const char* slopes : {"none", "by row", "for all rows"}) {
      const bool with_slope = slopes != std::string("none");
      const bool by_row = slopes == std::string("by row");
      for (const int candidates : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13}) {
        for (const int rows : kAwkwardRows) {
          const int positions = 1 + (candidates + rows) % 3;
          Buffer d = buffer(positions, rows);
          Buffer x = buffer(candidates, rows);
          Buffer slope = buffer(candidates, rows);
          const Row row_task = choices(rows, 3);
          const int task = 1;
          // As the columns of a level lie: the sums of two candidates are more than a vector apart.
          const std::size_t sum_stride = 3 * static_cast<std::size_t>(lanes_);
          const Row before = row(3 * candidates);
          Row sums = before;
          kernels_.correlate(
              {.d = d.view(),
               .positions = positions,
               .x = x.view(),
               .slope = with_slope ? engine::Units<const float>(slope.view()) : engine::Units<const float>{nullptr, 0},
               .slope_per_row = by_row,
               .row_task = with_tasks ? row_task.data() : nullptr,
               .task = static_cast<float>(task),
               .sums = sums.data() + lanes_,
               .sum_stride = sum_stride,
               .candidates = candidates,
               .rows = rows});
          for (int candidate = 0; candidate < candidates; ++candidate) {
            for (int lane = 0; lane < lanes_; ++lane) {
              double sum = before[at(3 * candidate + 1, lane)];
              for (int sample = 0; sample < rows; ++sample) {
                if (with_tasks && row_task[at(sample, lane)] != task) {
                  continue;
                }
                double upstream = 0;
                for (int position = 0; position < positions; ++position) {
                  upstream += value(d, position, sample, lane);
                }
                sum += upstream * value(x, candidate, sample, lane) *
                       (with_slope ? value(slope, candidate, by_row ? sample : 0, lane) : 1.0);
              }
              ASSERT_NEAR(sums[at(3 * candidate + 1, lane)], sum, kTolerance)
                  << candidates << " candidates, " << rows << " rows, tasks " << with_tasks << ", slopes " << slopes;
              ASSERT_EQ(sums[at(3 * candidate, lane)], before[at(3 * candidate, lane)]);
              ASSERT_EQ(sums[at(3 * candidate + 2, lane)], before[at(3 * candidate + 2, lane)]);
            }
          }
        }
      }
    }
  }
}

TEST_P(SelectKernels, SigmoidSlopeAndFinishFollowTheFormula) {
  constexpr int kCount = 37;
  for (const bool noisy : {false, true}) {
    Row scores = row(kCount, -6, 6);
    // Saturated on both sides: a slope of nothing, but still a number.
    std::fill_n(scores.begin(), lanes_, 300.0F);
    std::fill_n(scores.begin() + lanes_, lanes_, -300.0F);
    const Row noise = row(kCount);
    const Row inverse_tau = inverse_taus();
    const Row sums = row(kCount);
    const Row before = row(kCount);
    Row slope = same(kCount, kUntouched);
    Row gradients = before;
    kernels_.sigmoid_slope({.scores = scores.data(),
                            .noise = noisy ? noise.data() : nullptr,
                            .inverse_tau = inverse_tau.data(),
                            .slope = slope.data(),
                            .count = kCount});
    kernels_.sigmoid_finish({.scores = scores.data(),
                             .noise = noisy ? noise.data() : nullptr,
                             .inverse_tau = inverse_tau.data(),
                             .sums = sums.data(),
                             .gradients = gradients.data(),
                             .count = kCount});
    for (int index = 0; index < kCount; ++index) {
      for (int lane = 0; lane < lanes_; ++lane) {
        const std::size_t here = at(index, lane);
        const double tau = 1 / static_cast<double>(inverse_tau[lane]);
        const double q = sigmoid((scores[here] + (noisy ? noise[here] : 0.0)) / tau);
        const double expected = q * (1 - q) / tau;
        ASSERT_NEAR(slope[here], expected, 1e-6);
        ASSERT_NEAR(gradients[here], before[here] + sums[here] * expected, 1e-6);
      }
    }
  }
}

TEST_P(SelectKernels, SoftmaxFinishFollowsTheFormula) {
  for (const bool noisy : {false, true}) {
    for (const int members : {1, 2, 3, 4, 7}) {
      for (const int columns : {1, 2, 3, 5}) {
        Buffer scores = buffer(members, columns, -4, 4);
        // One far ahead of the others.
        std::fill_n(scores.unit(members - 1), lanes_, 200.0F);
        const Row noise = noise_like(scores, members);
        const Row inverse_tau = inverse_taus();
        Buffer sums = buffer(members, columns);
        Buffer gradients = buffer(members, columns);
        Buffer before = gradients;
        kernels_.softmax_finish({.scores = scores.view(),
                                 .noise = noisy ? noise.data() : nullptr,
                                 .inverse_tau = inverse_tau.data(),
                                 .sums = sums.view(),
                                 .gradients = gradients.view(),
                                 .members = members,
                                 .columns = columns});
        for (int column = 0; column < columns; ++column) {
          for (int lane = 0; lane < lanes_; ++lane) {
            const double tau = 1 / static_cast<double>(inverse_tau[lane]);
            std::vector<double> u;
            for (int member = 0; member < members; ++member) {
              u.push_back((value(scores, member, column, lane) +
                           (noisy ? noise[member * scores.stride() + at(column, lane)] : 0.0)) /
                          tau);
            }
            const double highest = *std::ranges::max_element(u);
            double total = 0;
            for (const double score : u) {
              total += std::exp(score - highest);
            }
            double mean = 0;
            for (int member = 0; member < members; ++member) {
              mean += std::exp(u[member] - highest) / total * value(sums, member, column, lane);
            }
            for (int member = 0; member < members; ++member) {
              const double q = std::exp(u[member] - highest) / total;
              ASSERT_NEAR(value(gradients, member, column, lane),
                          value(before, member, column, lane) + q * (value(sums, member, column, lane) - mean) / tau,
                          2e-6)
                  << members << " members, column " << column << ", lane " << lane;
            }
          }
        }
        expect_spare_rows_untouched(gradients, members, columns);
      }
    }
  }
}

TEST_P(SelectKernels, SoftmaxOfOnePoolMemberHasNoGradient) {
  Buffer scores = buffer(1, 3);
  const Row inverse_tau = inverse_taus();
  Buffer sums = buffer(1, 3);
  Buffer gradients = untouched(1, 3);
  std::fill_n(gradients.unit(0), 3 * lanes_, 0.0F);
  kernels_.softmax_finish({.scores = scores.view(),
                           .noise = nullptr,
                           .inverse_tau = inverse_tau.data(),
                           .sums = sums.view(),
                           .gradients = gradients.view(),
                           .members = 1,
                           .columns = 3});
  for (int column = 0; column < 3; ++column) {
    for (int lane = 0; lane < lanes_; ++lane) {
      // Exactly zero, as published.
      EXPECT_EQ(value(gradients, 0, column, lane), 0);
    }
  }
}

TEST_P(SelectKernels, SoftmaxRowsSumOverTheRowsOfTheirTask) {
  for (const bool with_tasks : {false, true}) {
    for (const bool by_row : {false, true}) {
      for (const int members : {1, 2, 3, 5}) {
        for (const int rows : kAwkwardRows) {
          Buffer scores = buffer(members, rows, -3, 3);
          Buffer o = buffer(members, rows);
          Buffer d = buffer(1, rows);
          const Row inverse_tau = inverse_taus();
          const Row row_task = choices(rows, 2);
          const std::size_t stride = 2 * static_cast<std::size_t>(lanes_);
          const Row before = row(2 * members);
          Row gradients = before;
          Buffer shares = untouched(members, rows);
          kernels_.softmax_shares({.scores = scores.view(),
                                   .noise = nullptr,
                                   .inverse_tau = inverse_tau.data(),
                                   .shares = shares.view(),
                                   .members = members,
                                   .columns = rows});
          expect_spare_rows_untouched(shares, members, rows);
          kernels_.softmax_rows({.shares = shares.view(),
                                 .share_per_row = by_row,
                                 .inverse_tau = inverse_tau.data(),
                                 .d = d.unit(0),
                                 .o = o.view(),
                                 .row_task = with_tasks ? row_task.data() : nullptr,
                                 .task = 1.0F,
                                 .gradients = gradients.data(),
                                 .gradient_stride = stride,
                                 .members = members,
                                 .rows = rows});
          for (int lane = 0; lane < lanes_; ++lane) {
            std::vector<double> expected;
            for (int member = 0; member < members; ++member) {
              expected.push_back(before[at(2 * member, lane)]);
            }
            for (int sample = 0; sample < rows; ++sample) {
              if (with_tasks && row_task[at(sample, lane)] != 1.0F) {
                continue;
              }
              const int score_row = by_row ? sample : 0;
              const double tau = 1 / static_cast<double>(inverse_tau[lane]);
              double total = 0;
              double mean = 0;
              for (int member = 0; member < members; ++member) {
                const double weight = std::exp(value(scores, member, score_row, lane) / tau);
                total += weight;
                mean += weight * value(o, member, sample, lane);
              }
              mean /= total;
              for (int member = 0; member < members; ++member) {
                const double q = std::exp(value(scores, member, score_row, lane) / tau) / total;
                expected[member] += q * value(d, 0, sample, lane) * (value(o, member, sample, lane) - mean) / tau;
              }
            }
            for (int member = 0; member < members; ++member) {
              ASSERT_NEAR(gradients[at(2 * member, lane)], expected[member], kTolerance);
              ASSERT_EQ(gradients[at(2 * member + 1, lane)], before[at(2 * member + 1, lane)]);
            }
          }
        }
      }
    }
  }
}

TEST_P(SelectKernels, TakeTaskGivesEachRowItsTasksValue) {
  for (const bool noisy : {false, true}) {
    for (const int tasks : {1, 2, 3, 5}) {
      for (const int rows : kAwkwardRows) {
        const std::size_t stride = 4 * static_cast<std::size_t>(lanes_);
        const Row values = row(4 * tasks);
        const Row row_task = choices(rows, tasks);
        const Row noise = row(rows);
        Buffer out = untouched(1, rows);
        kernels_.take_task({.values = values.data(),
                            .task_stride = stride,
                            .row_task = row_task.data(),
                            .noise = noisy ? noise.data() : nullptr,
                            .out = out.unit(0),
                            .rows = rows,
                            .tasks = tasks});
        for (int sample = 0; sample < rows; ++sample) {
          for (int lane = 0; lane < lanes_; ++lane) {
            const int task = static_cast<int>(row_task[at(sample, lane)]);
            ASSERT_EQ(out.unit(0)[at(sample, lane)],
                      values[at(4 * task, lane)] + (noisy ? noise[at(sample, lane)] : 0.0F));
          }
        }
        expect_spare_rows_untouched(out, 1, rows);
      }
    }
  }
}

MODLAB_ON_EVERY_TARGET(SelectKernels);

}  // namespace
}  // namespace modlab
