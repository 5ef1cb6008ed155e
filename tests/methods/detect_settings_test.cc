#include "methods/detect/detect_settings.h"

#include <gtest/gtest.h>

#include "core/errors.h"

namespace modlab::methods {
namespace {

using Names = std::vector<std::string>;

template <typename Choice>
void expect_names(const Names& expected) {
  EXPECT_EQ(choice_names<Choice>(), expected);
  for (const std::string& name : expected) {
    EXPECT_EQ(name_of(read_choice<Choice>("choice", name)), name);
  }
}

TEST(DetectSettings, HasThePublishedNames) {
  expect_names<Direction>({"outgoing", "incoming", "bidirectional"});
  expect_names<Linkage>({"average", "complete", "single", "ward"});
  expect_names<Distance>({"cosine", "jaccard", "euclidean"});
  expect_names<ClusterIndex>({"modularity-metric", "silhouette", "ch-index", "db-index"});
  EXPECT_EQ(read_choice<Direction>("direction", "bidirectional"), Direction::kBoth);
  EXPECT_EQ(name_of(ClusterIndex::kDaviesBouldin), "db-index");
}

TEST(DetectSettings, SaysWhatThereIs) {
  try {
    read_choice<Distance>("distance", "cosin");
    FAIL() << "'cosin' is no distance";
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()),
              "distance must be one of cosine, jaccard, euclidean, not 'cosin'; did you mean 'cosine'?");
  }
}

}  // namespace
}  // namespace modlab::methods
