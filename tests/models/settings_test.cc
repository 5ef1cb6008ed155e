#include "models/settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "core/errors.h"

namespace modlab::models {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

Words expand(const std::string& name, const Words& words) { return expand_values(*find_setting(name), words); }

RunSpec spec_with(const std::vector<std::pair<const char*, const char*>>& values) {
  RunSpec spec;
  for (const auto& [name, value] : values) {
    find_setting(name)->set(spec, value);
  }
  return spec;
}

TEST(Settings, AreFoundWithDashesAndUnderscores) {
  ASSERT_NE(find_setting("weight_decay"), nullptr);
  EXPECT_EQ(find_setting("weight-decay"), find_setting("weight_decay"));
  EXPECT_EQ(find_setting("elephants"), nullptr);
}

TEST(Settings, EveryValueComesBackAsItWasSet) {
  const std::vector<std::pair<const char*, json>> values = {{"task", "mine.yaml"},
                                                            {"model", "modular-fc"},
                                                            {"ratio", 0.3},
                                                            {"split_seed", 4294967295U},
                                                            {"seed", 123},
                                                            {"epochs", 7},
                                                            {"batch_size", 4},
                                                            {"lr", 0.25},
                                                            {"lr_input", 0.125},
                                                            {"lr_module", 0.5},
                                                            {"weight_decay", 1e-4},
                                                            {"decay_structural", false},
                                                            {"tau", 5.0},
                                                            {"noise", 0.2},
                                                            {"gumbel", "sample"},
                                                            {"hidden", {9, 7}},
                                                            {"density", 0.1},
                                                            {"modules", {6, 4}},
                                                            {"slots", {4, 2}},
                                                            {"pool", 3},
                                                            {"fan_in", 4},
                                                            {"module_widths", {4, 1}},
                                                            {"known_inputs", true},
                                                            {"known_modules", true},
                                                            {"known_outputs", true},
                                                            {"outputs_from", "all"},
                                                            {"task_input", "scalar"},
                                                            {"init", "xavier"},
                                                            {"optimizer", "rmsprop"},
                                                            {"loss", "mse"},
                                                            {"schedule", "cosine"},
                                                            {"gamma", 0.5},
                                                            {"samples", 300},
                                                            {"test_samples", 50},
                                                            {"disjoint_validation", true},
                                                            {"normalize", true},
                                                            {"images", {"a.gz", "b"}},
                                                            {"labels", {"c", "d.gz"}},
                                                            {"image_module", "conv"},
                                                            {"image_widths", {9, 3}},
                                                            {"image_slots", 5},
                                                            {"image_pool", 2},
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
  RunSpec spec;
  for (const auto& [name, value] : values) {
    find_setting(name)->set(spec, setting_text(value));
  }
  for (const auto& [name, value] : values) {
    EXPECT_EQ(find_setting(name)->get(spec), value) << name;
  }
  // All of the table, but for the one that stands for two others.
  EXPECT_EQ(values.size() + 1, settings().size());
}

TEST(Settings, StructuralRateSetsBothAndIsShownOnlyWhereItIsOne) {
  RunSpec spec = spec_with({{"lr_structural", "0.3"}});
  EXPECT_EQ(spec.lr_input, 0.3);
  EXPECT_EQ(spec.lr_module, 0.3);
  EXPECT_EQ(find_setting("lr_structural")->get(spec), 0.3);
  find_setting("lr_module")->set(spec, "0.2");
  EXPECT_EQ(spec.lr_input, 0.3);
  EXPECT_EQ(find_setting("lr_structural")->get(spec), json());
}

TEST(Settings, NoTemperatureIsNone) {
  EXPECT_EQ(spec_with({{"tau", "none"}}).tau, std::nullopt);
  EXPECT_EQ(find_setting("tau")->get(spec_with({{"tau", "none"}})), json());
}

TEST(Settings, RefusedValuesSayWhatIsAllowed) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"model", "densse"},   {"ratio", "-0.1"}, {"ratio", "nan"},          {"split_seed", "4294967296"},
      {"seed", "-1"},        {"seed", "1.5"},   {"epochs", "0"},           {"batch_size", "0"},
      {"lr", "-1"},          {"lr", "inf"},     {"lr_structural", "x"},    {"weight_decay", "nan"},
      {"tau", "0"},          {"tau", "-1"},     {"noise", "-0.1"},         {"gumbel", "always"},
      {"hidden", "36,0"},    {"hidden", "36,"}, {"hidden", "36,x"},        {"density", "1.1"},
      {"modules", "0"},      {"pool", "0"},     {"fan_in", "0"},           {"known_inputs", "maybe"},
      {"init", "zeros"},     {"loss", "hinge"}, {"schedule", "linear"},    {"gamma", "0"},
      {"optimizer", "lion"}, {"slots", "5000"}, {"outputs_from", "first"}, {"task_input", "none"}};
  for (const auto& [name, value] : kWrong) {
    RunSpec spec;
    try {
      find_setting(name)->set(spec, value);
      ADD_FAILURE() << name << " took " << value;
    } catch (const ConfigError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(name), std::string::npos) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
}

TEST(ExpandValues, NumbersAreListsAndRanges) {
  EXPECT_EQ(expand("lr", {"0.1"}), (Words{"0.1"}));
  EXPECT_EQ(expand("lr", {"0.1,0.01"}), (Words{"0.1", "0.01"}));
  EXPECT_EQ(expand("lr", {"0.1", "0.01"}), (Words{"0.1", "0.01"}));
  EXPECT_EQ(expand("seed", {"0..3"}), (Words{"0", "1", "2", "3"}));
  EXPECT_EQ(expand("seed", {"7..7"}), (Words{"7"}));
  EXPECT_EQ(expand("seed", {"0..2,10,20..21"}), (Words{"0", "1", "2", "10", "20", "21"}));
  EXPECT_EQ(expand("seed", {"9223372036854775806..9223372036854775807"}),
            (Words{"9223372036854775806", "9223372036854775807"}));
  EXPECT_EQ(expand("model", {"dense,modular"}), (Words{"dense", "modular"}));
}

TEST(ExpandValues, ATaskIsNeverARange) {
  EXPECT_EQ(expand("task", {"../mine.yaml,depth2"}), (Words{"../mine.yaml", "depth2"}));
}

TEST(ExpandValues, ListSettingsAreSplitAtSemicolonsAndWords) {
  EXPECT_EQ(expand("modules", {"3,2"}), (Words{"3,2"}));
  EXPECT_EQ(expand("modules", {"3,2;6,4"}), (Words{"3,2", "6,4"}));
  EXPECT_EQ(expand("modules", {"3,2", "6,4"}), (Words{"3,2", "6,4"}));
  EXPECT_EQ(expand("hidden", {"36"}), (Words{"36"}));
  EXPECT_EQ(expand("hidden", {"36;48"}), (Words{"36", "48"}));
  // As the published flags have it: --num_modules 3 2.
  EXPECT_EQ(expand("modules", {"3", "2"}), (Words{"3,2"}));
  EXPECT_EQ(expand("module_widths", {"2", "12", "1"}), (Words{"2,12,1"}));
}

TEST(ExpandValues, BrokenRangesAreRefused) {
  for (const char* text : {"5..1", "0..", "..9", "a..b", "0..1..2", "0...3", "0..99999999999", "0.1..0.5",
                           "-9223372036854775808..9223372036854775807", "0..2999999,0..2999999"}) {
    EXPECT_THROW(expand("seed", {text}), ConfigError) << text;
  }
}

TEST(SettingsJson, LeavesOutWhatMeansNothingToTheModel) {
  const auto names = [](const char* model) {
    std::set<std::string> found;
    const nlohmann::ordered_json object = settings_json(spec_with({{"model", model}}));
    for (const auto& [name, value] : object.items()) {
      found.insert(name);
    }
    return found;
  };
  EXPECT_TRUE(names("dense").contains("hidden"));
  for (const char* name : {"tau", "pool", "slots", "modules", "density", "lr_input", "lr_structural", "gumbel"}) {
    EXPECT_FALSE(names("dense").contains(name)) << name;
  }
  EXPECT_TRUE(names("sparse").contains("density"));
  EXPECT_TRUE(names("modular").contains("modules"));
  for (const char* name : {"pool", "slots", "lr_module", "known_modules", "hidden", "task_input"}) {
    EXPECT_FALSE(names("modular").contains(name)) << name;
  }
  EXPECT_TRUE(names("modular-shared").contains("pool"));
  EXPECT_FALSE(names("modular-shared").contains("modules"));
}

// Names of saved networks: they must stay the same when the program changes.
TEST(RunId, IsPinned) {
  EXPECT_EQ(run_id(RunSpec{}), "cbf29ce484222325");
  EXPECT_EQ(run_id(spec_with({{"task", "depth3"},
                              {"model", "modular"},
                              {"ratio", "0.3"},
                              {"split_seed", "41"},
                              {"seed", "17"},
                              {"lr", "0.1"},
                              {"lr_input", "0.01"},
                              {"tau", "none"},
                              {"modules", "6,4,2"}})),
            "3e155ffa6b7a9185");
}

TEST(RunId, DiffersWithEverySettingThatApplies) {
  std::set<std::string> ids = {run_id(spec_with({{"model", "modular-shared"}}))};
  const std::pair<const char*, const char*> kChanges[] = {{"task", "depth1"},
                                                          {"model", "modular"},
                                                          {"ratio", "0.4"},
                                                          {"split_seed", "41"},
                                                          {"seed", "1"},
                                                          {"epochs", "10"},
                                                          {"batch_size", "4"},
                                                          {"lr", "0.02"},
                                                          {"lr_input", "0.02"},
                                                          {"lr_module", "0.02"},
                                                          {"weight_decay", "0"},
                                                          {"decay_structural", "false"},
                                                          {"tau", "1"},
                                                          {"noise", "0"},
                                                          {"gumbel", "batch"},
                                                          {"slots", "4,2"},
                                                          {"pool", "4"},
                                                          {"module_widths", "2,8,1"},
                                                          {"fan_in", "3"},
                                                          {"known_inputs", "true"},
                                                          {"known_modules", "true"},
                                                          {"known_outputs", "true"},
                                                          {"outputs_from", "all"},
                                                          {"init", "xavier"},
                                                          {"optimizer", "sgd"},
                                                          {"loss", "mse"},
                                                          {"schedule", "cosine"},
                                                          {"gamma", "0.5"}};
  for (const auto& [name, value] : kChanges) {
    EXPECT_TRUE(ids.insert(run_id(spec_with({{"model", "modular-shared"}, {name, value}}))).second) << name;
  }
}

TEST(RunId, IsIndependentOfSettingsThatDoNotApply) {
  const std::string dense = run_id(spec_with({{"model", "dense"}}));
  for (const auto& [name, value] : std::vector<std::pair<const char*, const char*>>{{"tau", "1"},
                                                                                    {"pool", "7"},
                                                                                    {"slots", "9,9"},
                                                                                    {"modules", "9,9"},
                                                                                    {"lr_structural", "1"},
                                                                                    {"density", "0.5"},
                                                                                    {"gumbel", "batch"},
                                                                                    {"fan_in", "3"},
                                                                                    {"known_outputs", "true"}}) {
    EXPECT_EQ(run_id(spec_with({{"model", "dense"}, {name, value}})), dense) << name;
  }
  const std::string modular = run_id(spec_with({{"model", "modular"}}));
  for (const auto& [name, value] : std::vector<std::pair<const char*, const char*>>{
           {"pool", "7"}, {"slots", "9,9"}, {"lr_module", "1"}, {"hidden", "7"}, {"task_input", "scalar"}}) {
    EXPECT_EQ(run_id(spec_with({{"model", "modular"}, {name, value}})), modular) << name;
  }
  // A setting given its default value is the default.
  EXPECT_EQ(run_id(spec_with({{"lr", "0.01"}, {"tau", "2"}})), run_id(RunSpec{}));
}

TEST(SettingsPage, IsTheCommittedOne) {
  std::ostringstream page;
  page << std::ifstream(MODLAB_TEST_DIR "/../docs/settings.md", std::ios::binary).rdbuf();
  EXPECT_EQ(settings_markdown(), page.str()) << "docs/settings.md is older than the table; write it again";
}

}  // namespace
}  // namespace modlab::models
