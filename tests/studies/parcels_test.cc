#include "studies/parcels.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/errors.h"
#include "engine/kernels/kernels.h"
#include "studies/ranks/handout.h"
#include "studies/shard.h"
#include "studies/workbench.h"

namespace modlab::studies {
namespace {

std::vector<experiments::Run> runs_in(const std::string& study, const std::string& preset) {
  return missing_runs(plan_study(load_study(study), preset), {});
}

std::set<std::uint64_t> numbers_of(const std::vector<experiments::Run>& runs) {
  std::set<std::uint64_t> numbers;
  for (const experiments::Run& run : runs) {
    numbers.insert(run.number);
  }
  return numbers;
}

TEST(Parcels, HoldEveryRunOnceLargestFirst) {
  for (const char* study : {"boolean", "sculpt-validation", "rules-mlp", "masks-boolean", "masks-arithmetic",
                            "masks-transfer", "masks-sculpted", "masks-cifar"}) {
    const std::vector<experiments::Run> runs = runs_in(study, "quick");
    const std::vector<Parcel> parcels = make_parcels(runs);
    std::set<std::uint32_t> seen;
    double before = std::numeric_limits<double>::infinity();
    for (const Parcel& parcel : parcels) {
      EXPECT_FALSE(parcel.runs.empty());
      EXPECT_GT(parcel.effort, 1) << study << ": its kind says how much work a run is";
      EXPECT_LE(parcel.effort, before) << study;
      before = parcel.effort;
      for (const std::uint32_t run : parcel.runs) {
        EXPECT_TRUE(seen.insert(run).second) << study;
      }
    }
    EXPECT_EQ(seen.size(), runs.size()) << study;
  }
}

TEST(Parcels, FillTheLanesOfOneShape) {
  const std::vector<experiments::Run> runs = runs_in("boolean", "quick");
  EXPECT_EQ(experiments::kMostLanes % engine::kernels().lanes, 0);
  std::map<std::string, int> parcels_of_shape;
  std::map<std::string, int> runs_of_shape;
  const auto shape = [&](std::uint32_t run) {
    std::string text;
    for (std::size_t at = 0; at < runs[run].values.size(); ++at) {
      const settings::Setting& setting = runs[run].values.setting_at(at);
      text += setting.is_free ? "" : runs[run].values.text_at(at) + "|";
    }
    return text;
  };
  for (const Parcel& parcel : make_parcels(runs)) {
    EXPECT_LE(parcel.runs.size(), static_cast<std::size_t>(experiments::kMostLanes));
    ++parcels_of_shape[shape(parcel.runs.front())];
    for (const std::uint32_t run : parcel.runs) {
      EXPECT_EQ(shape(run), shape(parcel.runs.front()));
      ++runs_of_shape[shape(run)];
    }
  }
  for (const auto& [text, count] : parcels_of_shape) {
    EXPECT_EQ(count, (runs_of_shape[text] + experiments::kMostLanes - 1) / experiments::kMostLanes) << text;
  }
}

TEST(Parcels, RunsThatShareWorkStayTogether) {
  const Study study = study_with("sculpt-validation", {"cluster_linkage=average,single", "seed=0..3"});
  const std::vector<experiments::Run> runs = missing_runs(plan_study(study, "quick"), {});
  ASSERT_FALSE(runs.empty());
  std::set<std::uint64_t> carvings;
  for (const Parcel& parcel : make_parcels(runs)) {
    EXPECT_GE(parcel.runs.size(), 2U);
    const std::uint64_t key = runs[parcel.runs.front()].kind->share_key(runs[parcel.runs.front()]);
    EXPECT_TRUE(carvings.insert(key).second) << "all of them are in one parcel";
    for (const std::uint32_t run : parcel.runs) {
      EXPECT_EQ(runs[run].kind->share_key(runs[run]), key);
    }
  }
}

TEST(Shards, AreAllOfTheStudyEachRunOnceAndAboutTheSameWork) {
  for (const char* study : {"boolean", "rules-mlp", "masks-boolean"}) {
    const std::vector<experiments::Run> runs = runs_in(study, "quick");
    const double largest = make_parcels(runs).front().effort;
    constexpr int kCount = 7;
    std::set<std::uint64_t> all;
    std::vector<double> efforts;
    for (int number = 1; number <= kCount; ++number) {
      const std::vector<experiments::Run> part = runs_of({number, kCount}, runs);
      for (const std::uint64_t run : numbers_of(part)) {
        EXPECT_TRUE(all.insert(run).second);
      }
      double effort = 0;
      for (const Parcel& parcel : make_parcels(part)) {
        effort += parcel.effort;
      }
      efforts.push_back(effort);
    }
    EXPECT_EQ(all, numbers_of(runs));
    const auto [least, most] = std::ranges::minmax(efforts);
    EXPECT_LE(most - least, largest) << study;
  }
}

TEST(Shards, MoreThanThereIsWork) {
  const std::vector<experiments::Run> runs = runs_in("masks-transfer", "quick");
  const auto count = static_cast<int>(runs.size()) + 5;
  std::set<std::uint64_t> all;
  for (int number = 1; number <= count; ++number) {
    all.merge(numbers_of(runs_of({number, count}, runs)));
  }
  EXPECT_EQ(all, numbers_of(runs));
}

TEST(Shards, AreNamedFromOne) {
  EXPECT_EQ(parse_shard("3/16"), (Shard{3, 16}));
  EXPECT_TRUE(parse_shard("1/1").is_whole());
  for (const char* text :
       {"0/16", "17/16", "-1/4", "3", "3/", "/16", "3/16/2", "3/0", "a/b", "1/100001", "", "3/99999999999"}) {
    EXPECT_THROW(parse_shard(text), ConfigError) << text;
  }
}

TEST(Handout, GivesEverythingOnceManyAtFirstAndFewInTheEnd) {
  Choices seeds{"seed", {}};
  for (int seed = 0; seed < 3000; ++seed) {
    seeds.values.push_back(std::to_string(seed));
  }
  const std::vector<experiments::Run> runs = all_combinations({{"task", {"depth1"}}, {"model", {"modular"}}, seeds});
  Handout handout(runs);
  constexpr int kTakers = 4;
  std::set<std::uint32_t> seen;
  std::vector<std::size_t> sizes;
  while (true) {
    const std::vector<std::uint32_t> places = handout.next(kTakers);
    if (places.empty()) {
      break;
    }
    sizes.push_back(places.size());
    for (const std::uint32_t place : places) {
      EXPECT_TRUE(seen.insert(place).second);
      handout.note_finished(runs[place].number);
    }
  }
  EXPECT_EQ(seen.size(), runs.size());
  EXPECT_NEAR(handout.share_finished(), 1, 1e-9);
  EXPECT_EQ(handout.finished(), runs.size());
  EXPECT_GT(sizes.front(), 2U * experiments::kMostLanes);
  EXPECT_LE(sizes.back(), static_cast<std::size_t>(experiments::kMostLanes));
  EXPECT_LT(sizes.size(), runs.size() / experiments::kMostLanes);
}

}  // namespace
}  // namespace modlab::studies
