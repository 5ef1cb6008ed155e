#include <gtest/gtest.h>

#include <vector>

#include "engine/lane_arrays.h"

namespace modlab {
namespace {

class ExpandKernels : public test::KernelTest {
 protected:
  std::vector<std::uint32_t> words(int count) {
    std::vector<std::uint32_t> drawn(count);
    for (std::uint32_t& word : drawn) {
      word = static_cast<std::uint32_t>(random_());
    }
    return drawn;
  }
};

TEST_P(ExpandKernels, FieldsOfEachLanesOwnSamples) {
  // Single bits at both ends, and the byte that names a task, which includes the sign bit.
  const std::vector<engine::Field> fields = {{0, 1}, {5, 1}, {31, 1}, {24, 0xff}, {16, 0xff}};
  const std::vector<std::uint32_t> table = words(50);
  for (const int rows : kAwkwardRows) {
    for (const bool same_in_all_lanes : {true, false}) {
      std::vector<std::uint32_t> samples(same_in_all_lanes ? rows : rows * lanes_);
      for (std::uint32_t& sample : samples) {
        sample = static_cast<std::uint32_t>(below(50));
      }
      Buffer out = untouched(static_cast<int>(fields.size()), rows);
      kernels_.expand({.samples = samples.data(),
                       .same_in_all_lanes = same_in_all_lanes,
                       .words = table.data(),
                       .fields = fields,
                       .out = out.view(),
                       .rows = rows});
      for (int sample = 0; sample < rows; ++sample) {
        for (int lane = 0; lane < lanes_; ++lane) {
          const std::uint32_t word = table[same_in_all_lanes ? samples[sample] : samples[at(sample, lane)]];
          for (std::size_t field = 0; field < fields.size(); ++field) {
            ASSERT_EQ(value(out, static_cast<int>(field), sample, lane),
                      static_cast<double>((word >> fields[field].shift) & fields[field].mask));
          }
        }
      }
      expect_spare_rows_untouched(out, static_cast<int>(fields.size()), rows);
    }
  }
}

TEST_P(ExpandKernels, LookUpReadsThePickedBitsFirstPositionHighest) {
  for (int fan_in = 1; fan_in <= engine::kMaxModuleFanIn; ++fan_in) {
    for (const int candidates : {fan_in, 6, 16}) {
      for (const int rows : kAwkwardRows) {
        // Input 0 is the highest bit of a row's number, as in a truth table.
        std::vector<engine::Field> bits;
        for (int candidate = 0; candidate < candidates; ++candidate) {
          bits.push_back({candidates - 1 - candidate, 1});
        }
        const std::vector<std::uint32_t> samples = words(rows);
        const Row combinations = row(1 << fan_in);
        Buffer picks = untouched(fan_in, 1);
        for (int position = 0; position < fan_in; ++position) {
          for (int lane = 0; lane < lanes_; ++lane) {
            picks.unit(position)[lane] = static_cast<float>(below(candidates));
          }
        }
        Buffer out = untouched(1, rows);
        kernels_.look_up({.combinations = combinations.data(),
                          .picks = picks.view(),
                          .bits = bits,
                          .words = samples.data(),
                          .out = out.unit(0),
                          .rows = rows,
                          .fan_in = fan_in});
        for (int sample = 0; sample < rows; ++sample) {
          for (int lane = 0; lane < lanes_; ++lane) {
            int combination = 0;
            for (int position = 0; position < fan_in; ++position) {
              const int pick = static_cast<int>(picks.unit(position)[lane]);
              combination = 2 * combination + static_cast<int>((samples[sample] >> bits[pick].shift) & 1U);
            }
            ASSERT_EQ(out.unit(0)[at(sample, lane)], combinations[at(combination, lane)])
                << "fan-in " << fan_in << " of " << candidates << ", row " << sample << ", lane " << lane;
          }
        }
        expect_spare_rows_untouched(out, 1, rows);
      }
    }
  }
}

MODLAB_ON_EVERY_TARGET(ExpandKernels);

}  // namespace
}  // namespace modlab
