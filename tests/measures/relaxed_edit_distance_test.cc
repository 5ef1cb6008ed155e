#include <gtest/gtest.h>

#include "core/errors.h"
#include "measures/brute_force.h"
#include "measures/edit_distance.h"
#include "measures/random_routing.h"

namespace modlab::measures {
namespace {

using tasks::Routing;
using test::RandomRouting;

TEST(RelaxedEditDistance, RandomWiringsAgainstBruteForce) {
  RandomRouting random(6);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const bool is_deep = repeat % 30 == 0;
    const auto routing = [&] {
      return is_deep ? random.make(2, {2, 1}, 1 + random.below(2), 1) : random.make(2, {1 + random.below(3)}, 2, 1);
    };
    const Routing a = routing();
    const Routing b = routing();
    ASSERT_EQ(relaxed_edit_distance(a, b, 2), test::relaxed_by_force(a, b, 2))
        << wiring_text(a) << " against " << wiring_text(b);
  }
}

TEST(RelaxedEditDistance, NeverAboveTheStrictOne) {
  RandomRouting random(7);
  for (int repeat = 0; repeat < 100; ++repeat) {
    const Routing a = random.make(6, {3, 3, 2}, 2, 2);
    const Routing b = random.make(6, {3, 3, 2}, 2, 2);
    const int relaxed = relaxed_edit_distance(a, b, 6);
    ASSERT_LE(relaxed, edit_distance(a, b, 6).distance);
    ASSERT_EQ(relaxed, relaxed_edit_distance(random.renamed(b), random.renamed(a), 6));
    ASSERT_EQ(relaxed_edit_distance(a, random.renamed(a), 6), 0);
  }
}

TEST(RelaxedEditDistance, SaysSoWhereGraphsAreTooLarge) {
  RandomRouting random(8);
  const Routing wide = random.make(6, {40, 40}, 2, 2);
  EXPECT_THROW(relaxed_edit_distance(wide, wide, 6), ConfigError);
}

// graph_edit_distance of networkx 3.6.1 on the same graphs: with node_match on the labels for the relaxed distance,
// with node_subst_cost 100 for unlike nodes for the strict one.
struct NetworkxPair {
  int inputs;
  Routing a, b;
  int strict, relaxed;
};
const std::vector<NetworkxPair> kNetworkxPairs = {
    {4, {{{{0, 3}, {3, 2}}, {{1, 0}, {0, 1}}}, {}, {1, 0}}, {{{{2, 1}, {2, 0}}, {{0, 1}, {1, 0}}}, {}, {0, 1}}, 4, 3},
    {3,
     {{{{1, 0}, {1, 0}}, {{1, 0}, {0, 1}}}, {}, {1, 0}},
     {{{{1, 2}, {2, 1}, {0, 2}}, {{2, 1}, {1, 0}}}, {}, {0, 1}},
     9,
     7},
    {4, {{{{1, 0}, {1, 3}}, {{1, 0}, {0, 1}}}, {}, {0, 1}}, {{{{2, 3}, {2, 1}}, {{0, 1}, {0, 1}}}, {}, {0, 1}}, 4, 3},
    {4, {{{{3, 1}, {1, 2}}, {{0, 1}, {1, 0}}}, {}, {1, 0}}, {{{{2, 0}, {1, 0}}, {{1, 0}, {0, 1}}}, {}, {1, 0}}, 4, 3},
    {4,
     {{{{3, 2}, {1, 3}}, {{0, 1}, {1, 0}}}, {}, {0, 1}},
     {{{{3, 1}, {1, 0}, {2, 0}}, {{1, 2}, {1, 2}}}, {}, {0, 1}},
     7,
     5},
    {4,
     {{{{0, 1}, {2, 3}}, {{1, 0}, {0, 1}}}, {}, {0, 1}},
     {{{{0, 2}, {1, 2}, {3, 1}}, {{0, 2}, {1, 0}}}, {}, {0, 1}},
     9,
     7},
    {4,
     {{{{1, 3}, {0, 1}, {0, 3}}, {{1, 2}, {0, 2}}}, {}, {0, 1}},
     {{{{2, 0}, {2, 1}, {1, 2}}, {{2, 0}, {2, 1}}}, {}, {1, 0}},
     8,
     6},
    {3,
     {{{{1, 2}, {2, 0}, {0, 2}}, {{0, 1}, {2, 0}}}, {}, {0, 1}},
     {{{{2, 1}, {1, 2}, {0, 1}}, {{1, 2}, {2, 0}}}, {}, {0, 1}},
     6,
     3},
    {4,
     {{{{1, 3}, {3, 1}}, {{1, 0}, {0, 1}}}, {}, {1, 0}},
     {{{{2, 1}, {2, 3}, {1, 3}}, {{1, 2}, {2, 0}}}, {}, {1, 0}},
     7,
     7},
    {3, {{{{0, 2}, {1, 2}}, {{1, 0}, {1, 0}}}, {}, {1, 0}}, {{{{0, 2}, {1, 2}}, {{0, 1}, {0, 1}}}, {}, {0, 1}}, 0, 0},
};

TEST(RelaxedEditDistance, AgreesWithNetworkx) {
  for (const NetworkxPair& pair : kNetworkxPairs) {
    EXPECT_EQ(edit_distance(pair.a, pair.b, pair.inputs).distance, pair.strict) << wiring_text(pair.a);
    EXPECT_EQ(relaxed_edit_distance(pair.a, pair.b, pair.inputs), pair.relaxed) << wiring_text(pair.a);
  }
}

}  // namespace
}  // namespace modlab::measures
