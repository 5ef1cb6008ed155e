#include "measures/image_wiring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <set>

#include "core/errors.h"
#include "measures/edit_distance.h"
#include "measures/random_routing.h"
#include "measures/wiring.h"
#include "tasks/task_file.h"

namespace modlab::measures {
namespace {

using tasks::Routing;
using test::RandomRouting;

// The published task.
const Routing kBits = {{{{0, 3}, {1, 4}, {2, 5}}, {{0, 1}, {1, 2}}}, {}, {0, 1}};

Routing truth() { return true_image_routing(tasks::load_task("mnist-xor-and")); }

int distance(const Routing& learned, int images = 2) { return edit_distance(learned, truth(), images).distance; }

// Level, from, to; the outputs are a level of their own.
using Edges = std::set<std::array<int, 3>>;
using Permutations = std::vector<std::vector<int>>;

Edges renamed_edges(const Routing& routing, const Permutations& names) {
  Edges edges;
  for (std::size_t level = 0; level < routing.inputs.size(); ++level) {
    for (std::size_t slot = 0; slot < routing.inputs[level].size(); ++slot) {
      for (const int pick : routing.inputs[level][slot]) {
        edges.insert({static_cast<int>(level), level == 0 ? pick : names[level - 1][pick], names[level][slot]});
      }
    }
  }
  for (std::size_t output = 0; output < routing.outputs.size(); ++output) {
    edges.insert({static_cast<int>(names.size()), names.back()[routing.outputs[output]], static_cast<int>(output)});
  }
  return edges;
}

// With equal numbers of nodes: the smallest symmetric difference over the permutations of every level.
int by_permutations(const Routing& learned, const Routing& truth, int& tried) {
  Permutations names;
  for (const auto& level : learned.inputs) {
    names.emplace_back(level.size());
    std::iota(names.back().begin(), names.back().end(), 0);
  }
  const Edges expected = renamed_edges(truth, names);
  int best = std::numeric_limits<int>::max();
  for (bool more = true; more;) {
    const Edges edges = renamed_edges(learned, names);
    const auto common = std::ranges::count_if(edges, [&](const auto& edge) { return expected.contains(edge); });
    best = std::min(best, static_cast<int>(edges.size() + expected.size()) - 2 * static_cast<int>(common));
    ++tried;
    // As an odometer: the next permutation of a level, and where it starts again, that of the level after it.
    more =
        std::ranges::any_of(names, [](std::vector<int>& level) { return std::ranges::next_permutation(level).found; });
  }
  return best;
}

TEST(ImageWiring, TheTruth) {
  EXPECT_EQ(wiring_text(truth()), "L1: (1),(1),(1),(2),(2),(2); L2: (1,4),(2,5),(3,6); L3: (1,2),(2,3); out: (1,2)");
  EXPECT_EQ(wiring_of(truth(), 2).edge_count(), 18);
  EXPECT_EQ(distance(truth()), 0);
  EXPECT_EQ(wiring_text(with_image_level({0, 1}, 3, kBits)), wiring_text(truth()));
}

TEST(ImageWiring, BothSlotsReadTheSameImage) {
  // Three edges from image 0 go and three from image 1 come.
  EXPECT_EQ(distance(with_image_level({0, 0}, 3, kBits)), 6);
  EXPECT_EQ(distance(with_image_level({1, 1}, 3, kBits)), 6);
}

TEST(ImageWiring, NamesOfSlotsAndValuesPlayNoRole) {
  // Slot 0 reads image 1: the readers of its values are the same pairs.
  EXPECT_EQ(distance(with_image_level({1, 0}, 3, kBits)), 0);
  Routing other = kBits;
  other.inputs[0] = {{2, 4}, {5, 1}, {3, 0}};
  EXPECT_EQ(distance(with_image_level({1, 0}, 3, other)), 0);
  // A gate that reads two values of one image and another that reads two of the other.
  other.inputs[0] = {{0, 1}, {3, 4}, {2, 5}};
  EXPECT_EQ(distance(with_image_level({0, 1}, 3, other)), 4);
}

TEST(ImageWiring, SurplusSlotsCostTheirValuesAndEdges) {
  EXPECT_EQ(distance(with_image_level({0, 1, 1}, 3, kBits)), 3 + 3);
}

TEST(ImageWiring, OutputsOfAllLevelsStayWithTheirSlots) {
  Routing bits = kBits;
  bits.outputs_from_all_levels = true;
  bits.outputs = {3, 4};
  EXPECT_EQ(distance(with_image_level({0, 1}, 3, bits)), 0);
  bits.outputs = {0, 4};
  EXPECT_EQ(distance(with_image_level({0, 1}, 3, bits)), 2);
}

TEST(ImageWiring, APoolIsLeftOut) {
  Routing shared = tasks::true_routing(tasks::load_task("mnist-xor-and"), true, 2).front();
  ASSERT_FALSE(shared.modules.empty());
  EXPECT_TRUE(with_image_level({0, 1}, 3, shared).modules.empty());
}

TEST(ImageWiring, ThreeImages) {
  const Routing three = true_image_routing(tasks::load_task("mnist-three"));
  EXPECT_EQ(wiring_of(three, 3).edge_count(), 9 + 6 + 4 + 2);
  RandomRouting random(2);
  for (int repeat = 0; repeat < 20; ++repeat) {
    EXPECT_EQ(edit_distance(random.renamed(three), three, 3).distance, 0);
    const Routing learned =
        with_image_level({random.below(3), random.below(3), random.below(3)}, 3, random.make(9, {3, 2}, 2, 2));
    const int found = edit_distance(learned, three, 3).distance;
    EXPECT_EQ(edit_distance(three, learned, 3).distance, found);
    EXPECT_EQ(found % 2, 0);
  }
}

TEST(ImageWiring, RandomRoutingsAgainstAllPermutations) {
  RandomRouting random(1);
  for (int repeat = 0; repeat < 100; ++repeat) {
    const Routing learned = with_image_level({random.below(2), random.below(2)}, 3, random.make(6, {3, 2}, 2, 2));
    int tried = 0;
    ASSERT_EQ(distance(learned), by_permutations(learned, truth(), tried)) << wiring_text(learned);
    ASSERT_EQ(tried, 8640);
    ASSERT_EQ(distance(random.renamed(learned)), distance(learned));
  }
}

TEST(ImageWiring, AValueThatIsPassedOn) {
  const tasks::TaskSuite suite = tasks::parse_task_yaml(
      "images: 2\ndigits: 2\nlevels:\n  - h: ID a0\n    g: XOR a0 b0\noutputs: [h, g]\n", "t", "t.yaml");
  EXPECT_EQ(wiring_text(true_image_routing(suite)), "L1: (1),(2); L2: (1),(1,2); out: (1,2)");
  const Routing learned = with_image_level({0, 1}, 1, {{{{1, 0}, {0, 1}}}, {}, {0, 1}});
  EXPECT_EQ(edit_distance(learned, true_image_routing(suite), 2).distance, 0);
}

TEST(ImageWiring, TasksWithoutATruth) {
  EXPECT_THROW(true_image_routing(tasks::load_task("depth2")), ConfigError);
  const auto parsed = [](const std::string& yaml) { return tasks::parse_task_yaml(yaml, "t", "t.yaml"); };
  EXPECT_THROW(true_image_routing(parsed("images: 2\ndigits: 2\ntable: {y0: 6}\n")), ConfigError);
  EXPECT_THROW(true_image_routing(parsed("images: 2\ndigits: 2\nlevels:\n  - g: XOR a0 b0\noutputs: [g, a0]\n")),
               ConfigError);
  // An image that is not there.
  EXPECT_THROW(distance(with_image_level({0, 2}, 3, kBits)), ConfigError);
}

}  // namespace
}  // namespace modlab::measures
