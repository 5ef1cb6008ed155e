#include "methods/sculpt/sculpt_settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/errors.h"

namespace modlab::methods {
namespace {

using nlohmann::json;
using settings::Given;
using settings::Setting;

TEST(SculptSettings, EveryValueComesBackAsItWasSet) {
  const std::vector<std::pair<const char*, json>> values = {{"task", "mine.yaml"},
                                                            {"model", "sculpted"},
                                                            {"seed", 123},
                                                            {"epochs", 7},
                                                            {"batch_size", 4},
                                                            {"lr", 0.25},
                                                            {"weight_decay", 1e-4},
                                                            {"noise", 0.2},
                                                            {"hidden", {9, 7}},
                                                            {"init", "xavier"},
                                                            {"optimizer", "rmsprop"},
                                                            {"loss", "mse"},
                                                            {"prune_threshold", 98.5},
                                                            {"unit_steps", {40.0, 20.0}},
                                                            {"edge_steps", {2.5}},
                                                            {"unit_score", "path-product"},
                                                            {"unit_norm", "units-below"},
                                                            {"unit_scale", "local-global"},
                                                            {"unit_schedule", "cubic"},
                                                            {"edge_schedule", "lottery"},
                                                            {"epoch_search", true},
                                                            {"checkpoint", "published"},
                                                            {"keep_failed_retraining", true},
                                                            {"prune_unlearned", true},
                                                            {"keep_connected", true},
                                                            {"cluster_features", "bidirectional"},
                                                            {"cluster_linkage", "ward"},
                                                            {"cluster_distance", "euclidean"},
                                                            {"cluster_index", "silhouette"},
                                                            {"cluster_threshold", 0.3},
                                                            {"module_merging", 0.6}};
  SculptRun run;
  for (const auto& [name, value] : values) {
    sculpt_settings().set(run, name, settings::setting_text(value));
  }
  for (const auto& [name, value] : values) {
    EXPECT_EQ(sculpt_settings().get(run, name), value) << name;
  }
  // All of the table, but for what follows from others.
  const auto facts = std::ranges::count(sculpt_settings().settings(), Setting::Role::kFact, &Setting::role);
  EXPECT_EQ(values.size() + static_cast<std::size_t>(facts), sculpt_settings().settings().size());
}

TEST(SculptSettings, RefusedValuesSayWhatIsAllowed) {
  const std::pair<const char*, const char*> kWrong[] = {{"seed", "-1"},
                                                        {"epochs", "0"},
                                                        {"batch_size", "0"},
                                                        {"lr", "-1"},
                                                        {"noise", "-0.1"},
                                                        {"hidden", "36,0"},
                                                        {"init", "zeros"},
                                                        {"optimizer", "lion"},
                                                        {"loss", "hinge"},
                                                        {"prune_threshold", "101"},
                                                        {"unit_steps", "101"},
                                                        {"unit_steps", "20,20"},
                                                        {"edge_steps", "0,2"},
                                                        {"edge_steps", "x"},
                                                        {"unit_score", "weights"},
                                                        {"unit_norm", "median"},
                                                        {"unit_scale", "everywhere"},
                                                        {"unit_schedule", "quadratic"},
                                                        {"edge_schedule", "quadratic"},
                                                        {"epoch_search", "maybe"},
                                                        {"checkpoint", "first"},
                                                        {"keep_connected", "maybe"},
                                                        {"cluster_features", "sideways"},
                                                        {"cluster_linkage", "median"},
                                                        {"cluster_distance", "cosin"},
                                                        {"cluster_index", "none"},
                                                        {"cluster_threshold", "-1"},
                                                        {"module_merging", "1.1"}};
  for (const auto& [name, value] : kWrong) {
    SculptRun run;
    try {
      sculpt_settings().set(run, name, value);
      ADD_FAILURE() << name << " took " << value;
    } catch (const ConfigError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(name), std::string::npos) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
}

TEST(SculptSettings, WordsOfThePublishedFlagsAreUnderstood) {
  for (const auto& [name, words] : std::vector<std::pair<std::string, std::pair<std::string, std::string>>>{
           {"unit_score", {"activation_gradient_product", "loss-sensitivity"}},
           {"unit_norm", {"None", "none"}},
           {"unit_norm", {"mean_std", "mean-deviation"}},
           {"unit_norm", {"std", "deviation"}},
           {"unit_norm", {"sum_scores", "sum"}},
           {"unit_norm", {"prev_num_units", "units-below"}},
           {"unit_norm", {"num_units", "units"}},
           {"unit_scale", {"local_global", "local-global"}},
           {"edge_schedule", {"lth", "lottery"}}}) {
    SculptRun run;
    sculpt_settings().set(run, name, words.first);
    EXPECT_EQ(sculpt_settings().get(run, name), words.second);
  }
}

}  // namespace
}  // namespace modlab::methods
