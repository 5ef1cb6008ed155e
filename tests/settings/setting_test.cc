#include "settings/setting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/errors.h"
#include "settings/setting_values.h"
#include "settings/spec_table.h"

namespace modlab::settings {
namespace {

using nlohmann::json;
using Role = Setting::Role;
using Words = std::vector<std::string>;

// Runs of no kind in particular.
struct Toy {
  std::string task = "garden";
  std::string model = "flat";
  long long split = 0;
  long long seed = 0;
  double lr = 0.01;
  double left = 1;
  double right = 1;
  std::optional<double> rest = 2.0;
  std::vector<int> sizes;
  int count = 0;
  bool is_kept = false;
};

bool is_deep(const Toy& toy) { return toy.model == "deep"; }

double read_side(const std::string& text) { return read_real("side", text, 0, 10, "a number from 0 to 10"); }

Setting toy_setting(const char* name, Role role = Role::kPlain, bool Setting::*flag = nullptr) {
  Setting setting;
  setting.name = name;
  setting.role = role;
  setting.label = setting.name == "lr" ? "learning rate" : "";
  if (flag != nullptr) {
    setting.*flag = true;
  }
  return setting;
}

// `both` stands for left and right, `sizes` means something to deep models only, and `layers` follows from it.
const SpecTable<Toy>& toys() {
  static const SpecTable<Toy> kTable(std::vector<SpecSetting<Toy>>{
      {toy_setting("task", Role::kTask), [](Toy& toy, const std::string& text) { toy.task = text; },
       [](const Toy& toy) { return json(toy.task); }},
      {toy_setting("model", Role::kModel),
       [](Toy& toy, const std::string& text) {
         constexpr Word<int> kModels[] = {{"flat", 0}, {"deep", 1}};
         toy.model = word_for(read_word("model", text, kModels), kModels);
       },
       [](const Toy& toy) { return json(toy.model); }},
      {toy_setting("split", Role::kSplit, &Setting::is_free),
       [](Toy& toy, const std::string& text) { toy.split = read_integer("split", text, 0, 99, "a whole number"); },
       [](const Toy& toy) { return json(toy.split); }},
      {toy_setting("seed", Role::kSeed, &Setting::is_free),
       [](Toy& toy, const std::string& text) { toy.seed = read_integer("seed", text, 0, 99, "a whole number"); },
       [](const Toy& toy) { return json(toy.seed); }},
      {toy_setting("lr"), [](Toy& toy, const std::string& text) { toy.lr = read_rate("lr", text); },
       [](const Toy& toy) { return json(toy.lr); }},
      {toy_setting("both", Role::kPlain, &Setting::sets_others),
       [](Toy& toy, const std::string& text) { toy.left = toy.right = read_side(text); },
       [](const Toy& toy) { return toy.left == toy.right ? json(toy.left) : json(); }},
      {toy_setting("left"), [](Toy& toy, const std::string& text) { toy.left = read_side(text); },
       [](const Toy& toy) { return json(toy.left); }},
      {toy_setting("right"), [](Toy& toy, const std::string& text) { toy.right = read_side(text); },
       [](const Toy& toy) { return json(toy.right); }},
      {toy_setting("rest"),
       [](Toy& toy, const std::string& text) {
         toy.rest = text == "none" ? std::nullopt : std::optional(read_real("rest", text, 0, 10, "a number or none"));
       },
       [](const Toy& toy) { return toy.rest ? json(*toy.rest) : json(); }},
      {toy_setting("sizes", Role::kPlain, &Setting::is_list),
       [](Toy& toy, const std::string& text) { toy.sizes = read_sizes("sizes", text); },
       [](const Toy& toy) { return json(toy.sizes); }, is_deep},
      {toy_setting("count", Role::kPlain, &Setting::is_size),
       [](Toy& toy, const std::string& text) {
         toy.count = static_cast<int>(read_integer("count", text, 1, 99, "a whole number from 1 to 99"));
       },
       [](const Toy& toy) { return json(toy.count); }},
      {toy_setting("is_kept"), [](Toy& toy, const std::string& text) { toy.is_kept = read_truth("is_kept", text); },
       [](const Toy& toy) { return json(toy.is_kept); }},
      {toy_setting("layers", Role::kFact), nullptr, [](const Toy& toy) { return json(toy.sizes.size()); }, is_deep}});
  return kTable;
}

const Setting& setting(const std::string& name) { return *std::ranges::find(toys().settings(), name, &Setting::name); }

Words expand(const std::string& name, const Words& words) { return expand_values(setting(name), words); }

Toy toy_with(const Given& given) {
  Toy toy;
  toys().apply(given, toy);
  return toy;
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
  EXPECT_EQ(expand("sizes", {"3,2"}), (Words{"3,2"}));
  EXPECT_EQ(expand("sizes", {"3,2;6,4"}), (Words{"3,2", "6,4"}));
  EXPECT_EQ(expand("sizes", {"3,2", "6,4"}), (Words{"3,2", "6,4"}));
  EXPECT_EQ(expand("sizes", {"36"}), (Words{"36"}));
  EXPECT_EQ(expand("sizes", {"36;48"}), (Words{"36", "48"}));
  // As the published flags have it: --num_modules 3 2.
  EXPECT_EQ(expand("sizes", {"3", "2"}), (Words{"3,2"}));
  EXPECT_EQ(expand("sizes", {"2", "12", "1"}), (Words{"2,12,1"}));
}

TEST(ExpandValues, BrokenRangesAreRefused) {
  for (const char* text : {"5..1", "0..", "..9", "a..b", "0..1..2", "0...3", "0..99999999999", "0.1..0.5",
                           "-9223372036854775808..9223372036854775807", "0..2999999,0..2999999"}) {
    EXPECT_THROW(expand("seed", {text}), ConfigError) << text;
  }
}

TEST(SettingText, IsWhatTheCommandLineHas) {
  EXPECT_EQ(setting_text(0.1), "0.1");
  EXPECT_EQ(setting_text(1.0), "1.0");
  EXPECT_EQ(setting_text(7), "7");
  EXPECT_EQ(setting_text("deep"), "deep");
  EXPECT_EQ(setting_text(true), "true");
  EXPECT_EQ(setting_text(nullptr), "none");
  EXPECT_EQ(setting_text({3, 2}), "3,2");
  EXPECT_EQ(setting_text({"a.gz", "b"}), "a.gz,b");
  EXPECT_EQ(setting_text(json::array()), "");
}

TEST(SettingText, IsReadBack) {
  const Given given = {{"task", "meadow"}, {"model", "deep"}, {"split", "4"},     {"seed", "3"},
                       {"lr", "0.1"},      {"left", "0.5"},   {"right", "2.0"},   {"rest", "none"},
                       {"sizes", "3,2"},   {"count", "5"},    {"is_kept", "true"}};
  const Values values = toys().values(toy_with(given));
  for (const auto& [name, text] : given) {
    EXPECT_EQ(values.text(name), text) << name;
    EXPECT_EQ(setting(name).read(text), values.get(name)) << name;
  }
  EXPECT_EQ(values.text("both"), "none") << "left and right differ";
  EXPECT_EQ(values.text("layers"), "2");
  Toy again;
  toys().read(values, again);
  EXPECT_EQ(toys().by_name(again), toys().by_name(toy_with(given)));
}

TEST(SettingText, InPictures) {
  EXPECT_EQ(setting("is_kept").shown(), "is kept");
  EXPECT_EQ(setting("lr").shown(), "learning rate");
  EXPECT_EQ(setting("lr").panel_text("0.1"), "learning rate 0.1");
  EXPECT_EQ(setting("model").panel_text("deep"), "deep");
  EXPECT_EQ(setting("layers").panel_text("2"), "2 layers");
  EXPECT_EQ(setting("layers").panel_text("1"), "1 layer");
}

TEST(SpecTable, LaterSettingsRefineWhatEarlierOnesStandFor) {
  const Toy toy = toy_with({{"left", "4"}, {"both", "3"}});
  EXPECT_EQ(toy.left, 4);
  EXPECT_EQ(toy.right, 3);
}

TEST(SpecTable, RefusedValuesSayWhatIsAllowed) {
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{{"model", "deepp"},
                                                                                   {"seed", "-1"},
                                                                                   {"seed", "1.5"},
                                                                                   {"seed", ""},
                                                                                   {"lr", "-1"},
                                                                                   {"lr", "inf"},
                                                                                   {"lr", "fast"},
                                                                                   {"rest", "nan"},
                                                                                   {"sizes", "36,0"},
                                                                                   {"sizes", "36,"},
                                                                                   {"sizes", "36,x"},
                                                                                   {"sizes", "5000"},
                                                                                   {"count", "0"},
                                                                                   {"is_kept", "maybe"}}) {
    Toy toy;
    try {
      toys().set(toy, name, text);
      ADD_FAILURE() << name << " took " << text;
    } catch (const ConfigError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(name), std::string::npos) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
    EXPECT_EQ(toys().by_name(toy), toys().by_name(Toy{}));
    EXPECT_THROW(setting(name).read(text), ConfigError) << name;
  }
}

TEST(SpecTable, LeavesOutWhatMeansNothing) {
  const Values flat = toys().values({});
  EXPECT_FALSE(flat.has("sizes"));
  EXPECT_FALSE(flat.has("layers"));
  EXPECT_EQ(flat.text("sizes"), "");
  EXPECT_TRUE(flat.get("sizes").is_null());
  const Values deep = toys().values(toy_with({{"model", "deep"}}));
  EXPECT_TRUE(deep.has("sizes"));
  EXPECT_TRUE(deep.has("layers"));
  EXPECT_TRUE(deep.to_json().contains("sizes"));
  EXPECT_FALSE(deep.to_json().contains("layers")) << "a fact is not kept";
  const auto names_for = [](const Toy& toy) {
    std::set<std::string> names;
    for (const Setting* each : toys().settings_for(toy)) {
      names.insert(each->name);
    }
    return names;
  };
  EXPECT_FALSE(names_for({}).contains("sizes"));
  EXPECT_TRUE(names_for(toy_with({{"model", "deep"}})).contains("sizes"));
  EXPECT_FALSE(names_for(toy_with({{"model", "deep"}})).contains("layers")) << "nobody sets a fact";
}

TEST(SpecTable, NobodySetsAFact) {
  Toy toy;
  EXPECT_THROW(toys().set(toy, "layers", "2"), std::logic_error);
  EXPECT_THROW(toys().set(toy, "elephants", "2"), std::logic_error);
}

TEST(SpecTable, SharedKeysLeaveOutWhatNetworksOfABlockMayDifferIn) {
  const std::string key = toys().shared_key({});
  EXPECT_EQ(toys().shared_key(toy_with({{"seed", "4"}, {"split", "2"}})), key);
  EXPECT_NE(toys().shared_key(toy_with({{"lr", "4"}})), key);
  EXPECT_NE(toys().shared_key(toy_with({{"model", "deep"}})), key);
}

TEST(GivenFromJson, LeavesOutWhatPlaysNoPart) {
  const auto object = nlohmann::ordered_json::parse(
      R"({"task": "meadow", "lr": 0.5, "rest": null, "both": 3, "count": 0, "sizes": [], "layers": 2, "other": 1})");
  EXPECT_EQ(given_from_json(object, toys().settings()), (Given{{"task", "meadow"}, {"lr", "0.5"}, {"rest", "none"}}));
}

TEST(ToyValues, ShareARowAndDifferInSomePlaces) {
  const Values values = toys().values(toy_with({{"lr", "0.1"}}));
  const auto place = static_cast<std::uint32_t>(values.place("seed").value());
  const Values other = values.with({{place, json(7)}});
  EXPECT_EQ(other.row(), values.row());
  EXPECT_EQ(other.text("seed"), "7");
  EXPECT_EQ(other.get("seed"), json(7));
  EXPECT_EQ(other.to_json().at("seed"), 7);
  EXPECT_EQ(other.text("lr"), "0.1");
  EXPECT_EQ(values.text("seed"), "0");
}

// FNV-1a of "NAME=VALUE" lines.
TEST(ToyId, IsPinned) {
  EXPECT_EQ(toys().id({}), "cbf29ce484222325");
  EXPECT_EQ(toys().id(toy_with({{"task", "meadow"},
                                {"model", "deep"},
                                {"split", "2"},
                                {"seed", "3"},
                                {"lr", "0.1"},
                                {"rest", "none"},
                                {"sizes", "3,2"}})),
            "376e1cc2b685731e");
}

TEST(ToyId, DiffersWithEverySettingThatApplies) {
  std::set<std::string> ids = {toys().id(toy_with({{"model", "deep"}}))};
  for (const auto& [name, text] : Given{{"task", "meadow"},
                                        {"model", "flat"},
                                        {"split", "1"},
                                        {"seed", "1"},
                                        {"lr", "0.1"},
                                        {"left", "3"},
                                        {"right", "3"},
                                        {"rest", "none"},
                                        {"sizes", "3,2"},
                                        {"count", "1"},
                                        {"is_kept", "true"}}) {
    Toy toy = toy_with({{"model", "deep"}});
    toys().set(toy, name, text);
    EXPECT_TRUE(ids.insert(toys().id(toy)).second) << name;
  }
}

TEST(ToyId, IsIndependentOfWhatDoesNotApplyAndOfDefaults) {
  EXPECT_EQ(toys().id(toy_with({{"sizes", "7"}})), toys().id({}));
  EXPECT_EQ(toys().id(toy_with({{"lr", "0.010"}, {"rest", "2"}, {"both", "1"}})), toys().id({}));
  EXPECT_EQ(toys().id(toy_with({{"both", "3"}})), toys().id(toy_with({{"left", "3"}, {"right", "3"}})));
}

// The names of a million runs are made without making their structs.
TEST(ToyId, OfValuesIsThatOfTheStruct) {
  const Toy toy = toy_with({{"lr", "0.1"}, {"seed", "9"}, {"split", "1"}});
  const Values values = toys().values(toy_with({{"lr", "0.1"}}));
  const RunNames names(*values.row(), toys().by_name({}));
  const Values own = values.with({{static_cast<std::uint32_t>(values.place("seed").value()), json(9)},
                                  {static_cast<std::uint32_t>(values.place("split").value()), json(1)}});
  EXPECT_EQ(id_text(names.number(own)), toys().id(toy));
}

TEST(IdText, IsSixteenDigitsAndReadBack) {
  EXPECT_EQ(id_text(0), "0000000000000000");
  EXPECT_EQ(id_text(0xcbf29ce484222325U), "cbf29ce484222325");
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    EXPECT_EQ(id_number(id_text(number)), number);
  }
  for (const char* text : {"", "1", "cbf29ce48422232", "cbf29ce4842223255", "CBF29CE484222325", "cbf29ce48422232g",
                           "-bf29ce484222325", " bf29ce484222325"}) {
    EXPECT_EQ(id_number(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace modlab::settings
