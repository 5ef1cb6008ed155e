#include "models/rules/rule_shape.h"

#include <gtest/gtest.h>

#include "core/errors.h"

namespace modlab::models {
namespace {

using tasks::RuleFamily;
using tasks::RuleOutput;

constexpr RuleModel kModels[] = {RuleModel::kMonolithic, RuleModel::kModular, RuleModel::kModularOp,
                                 RuleModel::kGtModular};
constexpr int kRules[] = {2, 8, 32};

RuleShape shape_of(const tasks::RuleTaskSettings& settings, RuleModel model, int width) {
  return rule_shape(settings, model, settings.rules, width);
}

std::size_t count(const tasks::RuleTaskSettings& settings, RuleModel model, int width) {
  return rule_layout(shape_of(settings, model, width)).count;
}

struct Published {
  int width;
  std::size_t counts[3][4];  // [rules][model]
};

void expect_counts(tasks::RuleTaskSettings settings, std::span<const Published> published) {
  for (const Published& row : published) {
    for (int column = 0; column < 3; ++column) {
      settings.rules = kRules[column];
      for (int model = 0; model < 4; ++model) {
        EXPECT_EQ(count(settings, kModels[model], row.width), row.counts[column][model])
            << "width " << row.width << ", " << settings.rules << " rules, model " << model;
      }
    }
  }
}

TEST(RuleShape, PublishedCountsOfSums) {
  const Published published[] = {
      {32, {{35361, 35619, 35555, 35489}, {35553, 36585, 36713, 36449}, {36321, 40449, 41345, 40289}}},
      {64, {{140353, 140867, 140739, 140609}, {140737, 142793, 143049, 142529}, {142273, 150497, 152289, 150209}}},
      {128, {{559233, 560259, 560003, 559745}, {560001, 564105, 564617, 563585}, {563073, 579489, 583073, 578945}}},
      {512,
       {{8921601, 8925699, 8924675, 8923649},
        {8924673, 8941065, 8943113, 8939009},
        {8936961, 9002529, 9016865, 9000449}}},
  };
  expect_counts({.family = RuleFamily::kMlp}, published);
  expect_counts({.family = RuleFamily::kMlp, .output = RuleOutput::kClassification}, published);
}

TEST(RuleShape, PublishedCountsOfSearches) {
  const Published published[] = {
      {32, {{28609, 29827, 29891, 29729}, {27241, 29641, 29585, 29441}, {30499, 33377, 33251, 33089}}},
      {64, {{112513, 116995, 117123, 116801}, {105169, 113545, 113433, 113153}, {110533, 121441, 121157, 120865}}},
      {128, {{446209, 463363, 463619, 462977}, {413089, 444169, 443945, 443393}, {419209, 456609, 456041, 455489}}},
      {512,
       {{7093249, 7358467, 7359491, 7356929},
        {6518401, 6986761, 6985865, 6983681},
        {6432289, 6956577, 6954305, 6952193}}},
  };
  expect_counts({.family = RuleFamily::kMha}, published);
  for (const RuleModel model : kModels) {
    EXPECT_EQ(count({.family = RuleFamily::kMha, .rules = 8, .search = 2}, model, 64),
              count({.family = RuleFamily::kMha, .rules = 8}, model, 64) + 2U * 8 * 64);
  }
}

TEST(RuleShape, PublishedCountsOfSystems) {
  const Published published[] = {
      {32, {{105760, 104494, 103400, 103036}, {105952, 103842, 101866, 101210}, {106720, 98000, 95088, 94128}}},
      {64, {{410144, 406652, 404466, 403738}, {410528, 404606, 400662, 399350}, {412064, 395264, 389280, 387296}}},
      {128,
       {{1614880, 1611696, 1607314, 1605854},
        {1615648, 1597020, 1589140, 1586516},
        {1618720, 1587296, 1575168, 1571136}}},
  };
  expect_counts({.family = RuleFamily::kRnn}, published);
  // Classes: 31 outputs fewer.
  for (const RuleModel model : kModels) {
    const RuleShape shape = shape_of({.family = RuleFamily::kRnn, .rules = 8}, model, 64);
    const std::size_t state =
        static_cast<std::size_t>(shape.has_modules() ? shared_state(shape) : shape.second_width());
    EXPECT_EQ(count({.family = RuleFamily::kRnn, .output = RuleOutput::kClassification, .rules = 8}, model, 64),
              count({.family = RuleFamily::kRnn, .rules = 8}, model, 64) - 31 * (state + 1));
  }
}

TEST(RuleShape, PublishedWidths) {
  struct Row {
    int width;
    int state[5];
    int behind_heads[5];
  };
  const Row rows[] = {{32, {91, 62, 41, 26, 15}, {48, 35, 24, 14, 8}},
                      {64, {182, 124, 82, 52, 31}, {96, 70, 48, 29, 17}},
                      {128, {365, 249, 164, 104, 63}, {192, 140, 96, 59, 34}},
                      {256, {730, 499, 329, 209, 127}, {384, 281, 192, 119, 68}},
                      {512, {1460, 999, 659, 419, 255}, {768, 563, 384, 238, 136}}};
  for (const Row& row : rows) {
    for (int place = 0; place < 5; ++place) {
      const int rules = 2 << place;
      EXPECT_EQ(shared_state(shape_of({.family = RuleFamily::kRnn, .rules = rules}, RuleModel::kModular, row.width)),
                row.state[place]);
      EXPECT_EQ(module_units_behind_heads(
                    shape_of({.family = RuleFamily::kMha, .rules = rules}, RuleModel::kModular, row.width)),
                row.behind_heads[place]);
    }
  }
}

TEST(RuleShape, ModulesWithoutUnitsAreRefused) {
  EXPECT_THROW(shape_of({.rules = 32}, RuleModel::kModular, 4), ConfigError);
  EXPECT_NO_THROW(shape_of({.rules = 32}, RuleModel::kMonolithic, 4));
  EXPECT_THROW(shape_of({.family = RuleFamily::kMha, .rules = 32}, RuleModel::kMonolithic, 8), ConfigError);
  EXPECT_THROW(shape_of({.family = RuleFamily::kMha, .rules = 3}, RuleModel::kModular, 4), ConfigError);
}

}  // namespace
}  // namespace modlab::models
