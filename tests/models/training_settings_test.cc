#include "models/training_settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/errors.h"

namespace modlab::models {
namespace {

using nlohmann::json;
using Pairs = std::vector<std::pair<const char*, const char*>>;

RunSpec spec_with(const Pairs& values) {
  RunSpec spec;
  for (const auto& [name, value] : values) {
    bit_settings().set(spec, name, value);
  }
  return spec;
}
std::string id_with(const Pairs& values) { return bit_settings().id(spec_with(values)); }

// Sets all of `values` and expects them back.
template <typename Spec>
void expect_back(const settings::SpecTable<Spec>& table, const std::vector<std::pair<const char*, json>>& values) {
  Spec spec;
  for (const auto& [name, value] : values) {
    table.set(spec, name, settings::setting_text(value));
  }
  for (const auto& [name, value] : values) {
    EXPECT_EQ(table.get(spec, name), value) << name;
  }
  // All of the table, but for the one that stands for two others and for what follows from others.
  const auto facts = std::ranges::count(table.settings(), settings::Setting::Role::kFact, &settings::Setting::role);
  EXPECT_EQ(values.size() + 1 + static_cast<std::size_t>(facts), table.settings().size());
}

TEST(Settings, EveryValueComesBackAsItWasSet) {
  expect_back(bit_settings(), {{"task", "mine.yaml"},
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
                               {"gamma", 0.5}});
}

TEST(Settings, EveryValueOfImagesComesBackAsItWasSet) {
  expect_back(image_settings(), {{"task", "mine.yaml"},
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
                                 {"image_pool", 2}});
}

TEST(Settings, StructuralRateSetsBothAndIsShownOnlyWhereItIsOne) {
  RunSpec spec = spec_with({{"lr_structural", "0.3"}});
  EXPECT_EQ(spec.lr_input, 0.3);
  EXPECT_EQ(spec.lr_module, 0.3);
  EXPECT_EQ(bit_settings().get(spec, "lr_structural"), 0.3);
  bit_settings().set(spec, "lr_module", "0.2");
  EXPECT_EQ(spec.lr_input, 0.3);
  EXPECT_EQ(bit_settings().get(spec, "lr_structural"), json());
}

TEST(Settings, NoTemperatureIsNone) {
  EXPECT_EQ(spec_with({{"tau", "none"}}).tau, std::nullopt);
  EXPECT_EQ(bit_settings().get(spec_with({{"tau", "none"}}), "tau"), json());
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
      bit_settings().set(spec, name, value);
      ADD_FAILURE() << name << " took " << value;
    } catch (const ConfigError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(name), std::string::npos) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
}

TEST(SettingsJson, LeavesOutWhatMeansNothingToTheModel) {
  const auto names = [](const char* model) {
    std::set<std::string> found;
    const nlohmann::ordered_json object = bit_settings().values(spec_with({{"model", model}})).to_json();
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
  EXPECT_EQ(bit_settings().id({}), "cbf29ce484222325");
  EXPECT_EQ(id_with({{"task", "depth3"},
                     {"model", "modular"},
                     {"ratio", "0.3"},
                     {"split_seed", "41"},
                     {"seed", "17"},
                     {"lr", "0.1"},
                     {"lr_input", "0.01"},
                     {"tau", "none"},
                     {"modules", "6,4,2"}}),
            "3e155ffa6b7a9185");
}

TEST(RunId, DiffersWithEverySettingThatApplies) {
  std::set<std::string> ids = {id_with({{"model", "modular-shared"}})};
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
    EXPECT_TRUE(ids.insert(id_with({{"model", "modular-shared"}, {name, value}})).second) << name;
  }
}

TEST(RunId, IsIndependentOfSettingsThatDoNotApply) {
  const std::string dense = id_with({{"model", "dense"}});
  for (const auto& [name, value] : Pairs{{"tau", "1"},
                                         {"pool", "7"},
                                         {"slots", "9,9"},
                                         {"modules", "9,9"},
                                         {"lr_structural", "1"},
                                         {"density", "0.5"},
                                         {"gumbel", "batch"},
                                         {"fan_in", "3"},
                                         {"known_outputs", "true"}}) {
    EXPECT_EQ(id_with({{"model", "dense"}, {name, value}}), dense) << name;
  }
  const std::string modular = id_with({{"model", "modular"}});
  for (const auto& [name, value] :
       Pairs{{"pool", "7"}, {"slots", "9,9"}, {"lr_module", "1"}, {"hidden", "7"}, {"task_input", "scalar"}}) {
    EXPECT_EQ(id_with({{"model", "modular"}, {name, value}}), modular) << name;
  }
  // A setting given its default value is the default.
  EXPECT_EQ(id_with({{"lr", "0.01"}, {"tau", "2"}}), bit_settings().id({}));
}

}  // namespace
}  // namespace modlab::models
