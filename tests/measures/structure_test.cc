#include "measures/structure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/errors.h"
#include "io/file.h"
#include "io/inflate.h"
#include "measures/distributions.h"
#include "models/layered_network_file.h"

namespace modlab::measures {
namespace {

using models::LayeredNetwork;
using models::NamedNetwork;
using nlohmann::json;
using Numbers = std::vector<double>;
using Table = std::vector<Numbers>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The groups of the task [4,2,4].
const Groups kPairs = {{{0, 1}, {2, 3}}, {{0, 1}, {2, 3}}};

std::string data_file(const std::string& name) { return MODLAB_TEST_DIR "/data/sculpt/" + name; }

void expect_near(double found, double expected, double relative) {
  EXPECT_NEAR(found, expected, relative * std::abs(expected));
}

// The published dense networks and the figures that were computed of them and of others.
class Published : public testing::Test {
 protected:
  static const std::vector<NamedNetwork>& networks() {
    static const std::vector<NamedNetwork> kNetworks = models::read_layered_networks(data_file("dense64.json.gz"));
    return kNetworks;
  }
  static const json& figures() {
    static const json kFigures = json::parse(io::inflate_stream(
        io::read_file(data_file("dense_edge_stats.json.gz"), 1 << 20), io::Wrapping::kGzip, 1 << 24, "figures"));
    return kFigures;
  }
  // The figures of a dense network.
  static json figures_of(const NamedNetwork& named) {
    for (const json& entry : figures()) {
      if (entry["kind"] == "dense" && entry["arch"] == json(named.network.widths) &&
          entry["modularity"] == json(named.about["modularity"]) && entry["seed"] == json(named.about["seed"])) {
        return entry;
      }
    }
    ADD_FAILURE() << "no figures of " << named.id;
    return {};
  }
  static const LayeredNetwork& network_of(const std::vector<int>& widths, int seed) {
    return std::ranges::find_if(
               networks(),
               [&](const NamedNetwork& named) { return named.network.widths == widths && named.about["seed"] == seed; })
        ->network;
  }

  static void expect_tests(const Separation& found, const json& t_and_p, double relative) {
    ASSERT_EQ(found.tests.size(), 2U);
    for (std::size_t test = 0; test < 2; ++test) {
      ASSERT_TRUE(found.tests[test]);
      expect_near(found.tests[test]->t, t_and_p[2 * test].get<double>(), relative);
      expect_near(found.tests[test]->p, t_and_p[2 * test + 1].get<double>(), relative);
    }
  }
};

// Specification 8.3, 2.
TEST_F(Published, AllDenseNetworksHaveTheirFigures) {
  ASSERT_EQ(networks().size(), 64U);
  int with_tests = 0;
  int with_counts = 0;
  for (const NamedNetwork& named : networks()) {
    const json expected = figures_of(named);
    if (expected.contains("path_product")) {
      ++with_tests;
      const Table products = path_products(named.network);
      for (std::size_t input = 0; input < 4; ++input) {
        for (std::size_t output = 0; output < 4; ++output) {
          expect_near(products[input][output], expected["path_product"][input][output].get<double>(), 1e-6);
        }
      }
      // The file's weights have seven decimals. Differences of nearly equal means show it, here and in any other
      // program that begins with them; the next test begins with the published products.
      expect_tests(separation(products, kPairs), expected["t1_p1_t2_p2"], 1e-5);
    }
    if (expected.contains("N90_per_hidden_layer")) {
      ++with_counts;
      for (int layer = 1; layer + 1 < named.network.layers(); ++layer) {
        EXPECT_EQ(units_for_share(path_sums(named.network, layer), 90), expected["N90_per_hidden_layer"][layer - 1]);
      }
    }
  }
  EXPECT_EQ(with_tests, 36);
  EXPECT_EQ(with_counts, 28);
}

TEST_F(Published, TheTestsOfAllPublishedProducts) {
  int tested = 0;
  int without_cross = 0;
  for (const json& entry : figures()) {
    if (!entry.contains("path_product")) {
      continue;
    }
    ++tested;
    const auto products = entry["path_product"].get<Table>();
    const Separation found = separation(products, kPairs);
    expect_tests(found, entry["t1_p1_t2_p2"], 1e-9);
    if (products[0][2] == 0 && products[0][3] == 0 && products[1][2] == 0 && products[1][3] == 0) {
      ++without_cross;
      EXPECT_NEAR(found.tests[0]->df, 3, 1e-12);
    }
  }
  EXPECT_EQ(tested, 36 + 216 + 36);
  EXPECT_GT(without_cross, 100);
}

// AC-1, as printed.
TEST_F(Published, FigureOneB) {
  const Table products = path_products(network_of({4, 48, 48, 48, 4}, 1));
  const Table printed = {{593.07, 873.50, 721.21, 818.03},
                         {571.15, 841.27, 697.88, 789.90},
                         {649.16, 963.20, 817.90, 925.28},
                         {674.72, 1000.26, 849.64, 960.89}};
  for (std::size_t input = 0; input < 4; ++input) {
    for (std::size_t output = 0; output < 4; ++output) {
      EXPECT_NEAR(products[input][output], printed[input][output], 0.0051);
    }
  }
  const Separation found = separation(products, kPairs);
  EXPECT_NEAR(found.tests[0]->t, 0.44, 0.0051);
  EXPECT_NEAR(found.tests[0]->p, 0.66, 0.0051);
  EXPECT_NEAR(found.tests[1]->t, -0.68, 0.0051);
  EXPECT_NEAR(found.tests[1]->p, 0.27, 0.0051);
  EXPECT_FALSE(found.is_separable());
}

// AC-4: with one hidden layer all are separable, with more none is, whatever the seed.
TEST_F(Published, TableOne) {
  for (const int width : {24, 36, 48}) {
    for (int hidden = 1; hidden <= 3; ++hidden) {
      std::vector<int> widths(hidden + 2, width);
      widths.front() = widths.back() = 4;
      for (const int seed : {0, 1, 2, 5}) {
        EXPECT_EQ(separation(path_products(network_of(widths, seed)), kPairs).is_separable(), hidden == 1)
            << width << " units, " << hidden << " layers, seed " << seed;
      }
    }
  }
}

// AC-2 and AC-3: the tests of figures 3a and 4a from the products printed there, as far as two decimals of those tell.
TEST(PublishedProducts, FiguresThreeAAndFourA) {
  const Table edges = {{54.16, 54.16, 0, 0}, {56.76, 56.76, 0, 0}, {0, 0, 72.42, 72.42}, {0, 0, 70.25, 70.25}};
  const Separation without_edges = separation(edges, kPairs);
  EXPECT_NEAR(without_edges.tests[0]->t, -73.86, 0.3);
  EXPECT_NEAR(without_edges.tests[1]->t, -113.88, 0.6);
  EXPECT_TRUE(without_edges.is_separable());
  const Table units = {{48.95, 48.17, 0, 0}, {49.71, 48.91, 0, 0}, {0, 0, 65.11, 66.11}, {0, 0, 60.85, 61.79}};
  const Separation without_units = separation(units, kPairs);
  EXPECT_NEAR(without_units.tests[0]->t, -156.11, 1.2);
  EXPECT_NEAR(without_units.tests[1]->t, -49.98, 0.2);
  EXPECT_TRUE(without_units.is_separable());
}

// AC-5: figure 34, seed 1, as printed; rows are widths, columns numbers of hidden layers.
TEST_F(Published, FigureThirtyFour) {
  const Table t_first = {{-19.43, 1.58, -1.77}, {-20.31, 5.62, 3.91}, {-9.11, -2.35, 0.44}};
  const Table t_second = {{-8.50, -6.35, 2.08}, {-11.78, -6.44, -1.78}, {-13.50, 5.15, -0.68}};
  const Table p_first = {{0, 0.91, 0.06}, {0, 1, 1}, {0, 0.03, 0.66}};
  const Table p_second = {{0, 0, 0.96}, {0, 0, 0.06}, {0, 1, 0.27}};
  const int units[] = {24, 36, 48};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t hidden = 1; hidden <= 3; ++hidden) {
      std::vector<int> widths(hidden + 2, units[row]);
      widths.front() = widths.back() = 4;
      const Separation found = separation(path_products(network_of(widths, 1)), kPairs);
      EXPECT_NEAR(found.tests[0]->t, t_first[row][hidden - 1], 0.0051);
      EXPECT_NEAR(found.tests[1]->t, t_second[row][hidden - 1], 0.0051);
      EXPECT_NEAR(found.tests[0]->p, p_first[row][hidden - 1], 0.0051);
      EXPECT_NEAR(found.tests[1]->p, p_second[row][hidden - 1], 0.0051);
    }
  }
}

// AC-8: figure 2b, means and population deviations over the four seeds, as printed.
TEST_F(Published, UnitsForNinetyPercentGrowWithWidth) {
  struct Printed {
    int width;
    double mean[2];
    double deviation[2];
  };
  const Printed rows[] = {{8, {5, 5.5}, {1.22, 0.5}},        {12, {7.75, 6.75}, {0.83, 0.43}},
                          {16, {11.75, 10.5}, {1.30, 0.87}}, {20, {15, 13.5}, {0.71, 0.87}},
                          {24, {17, 16}, {0, 1.41}},         {36, {27.5, 28}, {1.12, 0.71}},
                          {48, {38, 36}, {2.12, 1.58}}};
  for (const Printed& row : rows) {
    for (int layer = 1; layer <= 2; ++layer) {
      double sum = 0;
      double squares = 0;
      for (const int seed : {0, 1, 2, 5}) {
        const int count = units_for_share(path_sums(network_of({4, row.width, row.width, 16}, seed), layer), 90);
        sum += count;
        squares += count * count;
      }
      const double mean = sum / 4;
      EXPECT_EQ(mean, row.mean[layer - 1]) << row.width;
      EXPECT_NEAR(std::sqrt(squares / 4 - mean * mean), row.deviation[layer - 1], 0.0051) << row.width;
    }
  }
}

// Two inputs, two hidden units, two outputs.
LayeredNetwork small() {
  LayeredNetwork network;
  network.widths = {2, 2, 2};
  network.connections = {{{{0, 0, 2}, {1, 0, -3}, {1, 1, 5}}, {100, 100}}, {{{0, 0, -7}, {0, 1, 1}, {1, 1, 0.5F}}, {}}};
  return checked(network, "x");
}

TEST(PathProducts, ByHand) {
  EXPECT_EQ(path_products(small()), (Table{{14, 2}, {21, 5.5}}));
  EXPECT_EQ(path_products(small(), 1), (Table{{7, 1}, {0, 0.5}}));
  EXPECT_EQ(path_products(small(), 2), (Table{{1, 0}, {0, 1}}));
  EXPECT_EQ(path_sums(small(), 0), (Numbers{16, 26.5}));
  EXPECT_EQ(path_sums(small(), 1), (Numbers{8, 0.5}));
}

TEST(PathProducts, AreSummedInDoublePrecision) {
  LayeredNetwork network;
  network.widths = {1, 2, 1};
  network.connections = {{{{0, 0, 1}, {0, 1, 1e-9F}}, {}}, {{{0, 0, 1}, {1, 0, 1}}, {}}};
  EXPECT_EQ(path_products(checked(network, "x"))[0][0], 1 + static_cast<double>(1e-9F));
}

TEST(PathProducts, TooLargeATableIsRefusedAndItsSumsAreNot) {
  LayeredNetwork network;
  network.widths = {200'000, 1'000};
  network.connections = {{{{199'999, 999, -2}}, {}}};
  network = checked(network, "x");
  EXPECT_THROW(path_products(network), ConfigError);
  EXPECT_EQ(path_sums(network, 0).back(), 2);
}

TEST(UnitsForShare, ByHand) {
  const Numbers values = {1, 4, 3, 2};
  EXPECT_EQ(units_for_share(values, 39), 1);
  // A prefix of exactly the share counts as within it.
  EXPECT_EQ(units_for_share(values, 40), 2);
  EXPECT_EQ(units_for_share(values, 69), 2);
  EXPECT_EQ(units_for_share(values, 71), 3);
  EXPECT_EQ(units_for_share(values, 90), 4);
  EXPECT_EQ(units_for_share(values, 100), 4);
}

TEST(UnitsForShare, UnitsWithoutPathsNeverCount) {
  EXPECT_EQ(units_for_share(Numbers{0, 5, 0, 5}, 100), 2);
  EXPECT_EQ(units_for_share(Numbers{0, 5, 0, 5}, 90), 2);
  EXPECT_EQ(units_for_share(Numbers{0, 0}, 90), 0);
  EXPECT_EQ(units_for_share({}, 90), 0);
}

TEST(UnitsForShare, PercentHasARange) {
  for (const double percent : {0.0, -1.0, 100.5, std::nan("")}) {
    EXPECT_THROW(units_for_share(Numbers{1}, percent), ConfigError) << percent;
  }
}

TEST(WelchTest, ByHand) {
  // Means 2 and 5, variances 1 and 4 of 3 and 3 values.
  const auto test = welch_smaller(Numbers{1, 2, 3}, Numbers{3, 5, 7});
  ASSERT_TRUE(test);
  EXPECT_DOUBLE_EQ(test->mean_first, 2);
  EXPECT_DOUBLE_EQ(test->mean_second, 5);
  EXPECT_DOUBLE_EQ(test->t, -3 / std::sqrt(5.0 / 3));
  EXPECT_DOUBLE_EQ(test->df, 25.0 / 9 / (1.0 / 18 + 16.0 / 18));
  EXPECT_DOUBLE_EQ(test->p, student_cdf(test->t, test->df));
  const auto other = welch_smaller(Numbers{3, 5, 7}, Numbers{1, 2, 3});
  EXPECT_DOUBLE_EQ(other->t, -test->t);
  EXPECT_NEAR(other->p, 1 - test->p, 1e-15);
}

TEST(WelchTest, OneSideWithoutVariance) {
  const auto test = welch_smaller(Numbers{0, 0, 0, 0}, Numbers{54.16, 54.2, 56.76, 56.8});
  EXPECT_DOUBLE_EQ(test->df, 3);
  EXPECT_TRUE(is_significant(test));
}

TEST(WelchTest, NoVarianceAtAll) {
  const auto smaller = welch_smaller(Numbers{0.1, 0.1, 0.1}, Numbers{0.3, 0.3});
  EXPECT_EQ(smaller->t, -kInfinity);
  EXPECT_EQ(smaller->p, 0);
  EXPECT_EQ(smaller->df, 1);
  const auto larger = welch_smaller(Numbers{0.3, 0.3}, Numbers{0.1, 0.1, 0.1});
  EXPECT_EQ(larger->t, kInfinity);
  EXPECT_EQ(larger->p, 1);
  for (const double value : {0.0, 0.1, 1e300}) {
    const auto equal = welch_smaller(Numbers(4, value), Numbers(4, value));
    EXPECT_EQ(equal->t, 0);
    EXPECT_EQ(equal->p, 0.5);
    EXPECT_FALSE(is_significant(equal));
  }
}

TEST(WelchTest, DoesNotDependOnTheScale) {
  const auto test = welch_smaller(Numbers{1, 2, 3}, Numbers{3, 5, 7});
  for (const double scale : {1e-300, 1e-20, 1e200, 1e307}) {
    const auto scaled = welch_smaller(Numbers{scale, 2 * scale, 3 * scale}, Numbers{3 * scale, 5 * scale, 7 * scale});
    expect_near(scaled->t, test->t, 1e-12);
    expect_near(scaled->df, test->df, 1e-12);
  }
}

TEST(WelchTest, WhatCannotBeTested) {
  EXPECT_FALSE(welch_smaller(Numbers{1}, Numbers{2, 3}));
  EXPECT_FALSE(welch_smaller(Numbers{1, 2}, Numbers{}));
  EXPECT_FALSE(welch_smaller(Numbers{1, 2}, Numbers{2, kInfinity}));
  EXPECT_FALSE(welch_smaller(Numbers{1, std::nan("")}, Numbers{2, 3}));
  EXPECT_FALSE(is_significant(std::nullopt));
}

TEST(Separation, CrossPairsAreThoseWithAllOtherGroups) {
  const Table products = {{9, 8, 1, 2, 50}, {8, 9, 2, 1, 50}, {1, 0, 7, 3, 50}};
  // The last output and no group: it plays no part. The second input is in two groups.
  const Groups groups = {{{0, 1}, {1, 2}, {2, 0}}, {{0, 1}, {2}, {3}}};
  const Separation found = separation(products, groups);
  ASSERT_EQ(found.tests.size(), 3U);
  EXPECT_DOUBLE_EQ(found.tests[0]->mean_first, 1.5);
  EXPECT_DOUBLE_EQ(found.tests[0]->mean_second, 8.5);
  EXPECT_DOUBLE_EQ(found.tests[1]->mean_first, (8 + 9 + 1 + 1 + 0 + 3) / 6.0);
  EXPECT_DOUBLE_EQ(found.tests[1]->mean_second, 4.5);
  EXPECT_DOUBLE_EQ(found.tests[2]->mean_first, (1 + 0 + 7 + 9 + 8 + 1) / 6.0);
  EXPECT_DOUBLE_EQ(found.tests[2]->mean_second, 2.5);
  EXPECT_TRUE(is_significant(found.tests[0]));
  EXPECT_FALSE(found.is_separable());
}

TEST(Separation, AllTestsMustBePossibleAndSignificant) {
  EXPECT_TRUE(separation({{9, 8, 0, 0}, {8, 9, 0, 0}, {0, 0, 5, 6}, {0, 0, 6, 5}}, kPairs).is_separable());
  EXPECT_FALSE(separation({{9, 8, 0, 0}, {8, 9, 0, 0}, {5, 6, 5, 6}, {6, 5, 6, 5}}, kPairs).is_separable());
  // No path at all separates nothing.
  EXPECT_FALSE(separation(Table(4, Numbers(4, 0.0)), kPairs).is_separable());
  const Separation single = separation({{9, 0}, {0, 9}}, {{{0}, {1}}, {{0}, {1}}});
  EXPECT_FALSE(single.tests[0]);
  EXPECT_FALSE(single.is_separable());
}

TEST(Separation, GroupsThatMeanNothingAreRefused) {
  const Table products(4, Numbers(4, 1.0));
  const auto refused = [&](const Groups& groups) { EXPECT_THROW(separation(products, groups), ConfigError); };
  refused({});
  refused({{{0, 1}}, {{0, 1}}});
  refused({{{0, 1}, {2, 3}}, {{0, 1}}});
  refused({{{0, 1}, {}}, {{0, 1}, {2}}});
  refused({{{0, 1}, {2, 4}}, {{0, 1}, {2}}});
  refused({{{0, -1}, {2, 3}}, {{0, 1}, {2}}});
  refused({{{0, 0}, {2, 3}}, {{0, 1}, {2}}});
  refused({{{0, 1}, {2, 3}}, {{0, 1}, {1, 2}}});
}

}  // namespace
}  // namespace modlab::measures
