// The report of a study of sculpted networks.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "core/errors.h"
#include "engine/kernels/kernels.h"
#include "methods/sculpt/judged_trial.h"
#include "models/ideal_network.h"
#include "models/layered_network_file.h"
#include "report/gallery_sculpted.h"
#include "report/page.h"
#include "report/report_data.h"
#include "report/sculpted_drawing.h"
#include "report/typescript_form.h"
#include "studies/made_up_study.h"
#include "studies/run_sculpted.h"
#include "tasks/task_file.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using test::MadeUpStudy;

constexpr auto kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr auto kParameters =
    "  model: {value: sculpted}\n  epoch_search: {value: true}\n  unit_steps: {value: \"50\"}\n"
    "  edge_steps: {value: \"2.5\"}\n";

std::string study_text(const std::string& more, const std::string& parameters) {
  return "name: carved\ntitle: Carved\nabout: \"\"\ntune: none\nkeep: results\n" + more + "parameters:\n" +
         std::string(kParameters) + parameters;
}

void sculpt(MadeUpStudy& study) {
  methods::SculptProgress progress;
  studies::run_sculpted(studies::missing_runs(study.plan, {}), study.plan.suites, 1, engine::kernels(), progress,
                        study.store);
}

ordered_json report_of(MadeUpStudy& study) {
  const studies::Findings findings = study.findings();
  return report_data(findings, studies::evaluate_claims(findings), study.store);
}

ordered_json cells_of(MadeUpStudy& study) { return gallery_sculpted(study.findings(), study.store); }

// The store with other details of one run, and perhaps another number of edges.
void change(MadeUpStudy& study, const std::string& id, const std::string& details, std::optional<int> edges) {
  io::Database database(study.store.path(), io::Database::Mode::kWrite);
  database.prepare("UPDATE sculpted SET details = ? WHERE run = ?").bind(1, details).bind(2, id).run();
  if (edges) {
    database.execute(
        fmt::format("UPDATE sculpted SET measures = json_set(measures, '$.edges', {}) WHERE run = '{}'", *edges, id));
  }
}

// As web/src/sculpted_network.ts reads them: places of the edges that are left after each step, among all there can be.
std::vector<std::vector<std::size_t>> edges_by_step(const ordered_json& drawing) {
  std::size_t all = 0;
  for (std::size_t layer = 1; layer < drawing["layers"].size(); ++layer) {
    all += drawing["layers"][layer - 1]["places"].size() * drawing["layers"][layer]["places"].size();
  }
  std::vector<std::size_t> left(all);
  std::iota(left.begin(), left.end(), 0);
  std::vector<std::vector<std::size_t>> steps;
  for (const std::string letters : drawing["networks"]) {
    EXPECT_EQ(letters.size(), left.size());
    std::vector<std::size_t> next;
    for (std::size_t at = 0; at < left.size(); ++at) {
      if (letters[at] != '.') {
        next.push_back(left[at]);
      }
    }
    steps.push_back(next);
    left = next;
  }
  return steps;
}

TEST(SculptedReport, HasTheFormThatThePageExpects) {
  MadeUpStudy study(
      study_text("figures:\n"
                 "  - {id: F1, title: Bars, kind: bars, x: task, series: hidden_layers, measures: "
                 "[true_modules, edges]}\n"
                 "  - {id: F2, title: Heat, kind: heatmap, x: lr, y: series, measures: [true_modules, "
                 "dense_accuracy]}\n",
                 "  task: {values: [sculpt/4-2-4, depth1]}\n  hidden: {values: [\"24\", \"12,12\"]}\n"
                 "  lr: {value: 0.05}\n  batch_size: {value: 4}\n"));
  sculpt(study);
  const ordered_json report = report_of(study);
  const test::TypescriptForm form(std::string(MODLAB_TEST_DIR) + "/../web/src/report.ts");
  form.expect(ordered_json::parse(report.dump()), "Report", "report");
  EXPECT_NE(page(report).find("Carved"), std::string::npos);
  EXPECT_TRUE(report["gallery"].empty());
  ASSERT_EQ(report["sculpted"].size(), 2U) << "one width for each task";
  EXPECT_GT(report["overview"]["trainings"].get<double>(), 20);
  for (const ordered_json& task : report["tasks"]) {
    EXPECT_TRUE(task["picture"].get<std::string>().starts_with("<svg "));
  }
  const ordered_json& bars = report["figures"][0];
  EXPECT_EQ(bars["series"]["order"], ordered_json({"1 hidden layer", "2 hidden layers"}));
  EXPECT_EQ(bars["series"]["label"], "hidden layers");
  const ordered_json& heat = report["figures"][1];
  EXPECT_EQ(heat["x"]["label"], "learning rate");
  EXPECT_EQ(heat["y"]["label"], "series");
  EXPECT_EQ(heat["measures"][0]["is_share"], true);
  EXPECT_EQ(bars["measures"][1]["is_share"], false);
}

TEST(SculptedReport, OtherStudiesHaveNone) {
  MadeUpStudy study("parameters: {task: depth1, model: modular}\n");
  study.train([](const studies::PlannedRun&) { return test::made_up(90, 90, 90); });
  const ordered_json report = report_of(study);
  EXPECT_TRUE(report["sculpted"].is_null());
  EXPECT_TRUE(report["tasks"][0]["picture"].is_null());
  EXPECT_TRUE(report["overview"]["trainings"].is_null());
}

TEST(SculptedReport, ANetworkIsTheStoredOneAtEveryStep) {
  MadeUpStudy study(study_text("", "  task: {value: sculpt/4-2-4}\n  hidden: {value: \"24,24\"}\n"));
  sculpt(study);
  const ordered_json cell = cells_of(study)[0];
  EXPECT_EQ(cell["trials"], 1);
  EXPECT_EQ(cell["learned"], 1);
  ASSERT_EQ(cell["networks"].size(), 1U);
  const ordered_json& shown = cell["networks"][0];
  const ordered_json details = ordered_json::parse(*study.store.sculpt_details(shown["id"]));
  const models::LayeredNetwork stored =
      models::parse_layered_networks(details["network"].get<std::string>(), "network").front().network;

  // The history is the stored one.
  ASSERT_EQ(shown["history"].size(), details["steps"].size());
  for (std::size_t step = 0; step < details["steps"].size(); ++step) {
    EXPECT_EQ(shown["history"][step]["stage"], details["steps"][step][0]);
    EXPECT_EQ(shown["history"][step]["edges"], details["steps"][step][3]);
    EXPECT_EQ(shown["history"][step]["accepted"], details["steps"][step][5]);
  }
  // After each accepted step as many edges are drawn as it left.
  const auto steps = edges_by_step(shown["drawing"]);
  std::vector<std::size_t> accepted;
  for (const ordered_json& step : shown["history"]) {
    if (step["accepted"] == true) {
      accepted.push_back(step["edges"]);
    }
  }
  std::vector<std::size_t> drawn;
  std::ranges::transform(steps, std::back_inserter(drawn), &std::vector<std::size_t>::size);
  EXPECT_EQ(drawn, accepted);
  EXPECT_EQ(drawn.front(), shown["dense_edges"].get<std::size_t>());

  // The last ones are the stored edges with their weights, and a letter says a weight's sign and strength.
  const std::string& letters = shown["drawing"]["networks"].back().get_ref<const std::string&>();
  std::string kept;
  std::ranges::copy_if(letters, std::back_inserter(kept), [](char letter) { return letter != '.'; });
  std::size_t at = 0;
  std::size_t first_of_layer = 0;
  for (std::size_t layer = 0; layer < stored.connections.size(); ++layer) {
    float largest = 0;
    for (const models::Edge& edge : stored.connections[layer].edges) {
      largest = std::max(largest, std::abs(edge.weight));
    }
    const std::size_t below = static_cast<std::size_t>(stored.widths[layer]);
    for (const models::Edge& edge : stored.connections[layer].edges) {
      ASSERT_LT(at, steps.back().size());
      EXPECT_EQ(steps.back()[at], first_of_layer + static_cast<std::size_t>(edge.to) * below + edge.from);
      EXPECT_NEAR(shown["drawing"]["weights"][at].get<double>(), edge.weight, 0.005 * std::abs(edge.weight) + 1e-9);
      const auto letter = std::string(kLetters).find(kept[at]);
      EXPECT_EQ(letter >= 32, edge.weight < 0);
      EXPECT_NEAR(static_cast<double>(letter % 32) / 31, std::abs(edge.weight) / largest, 0.5 / 31 + 1e-6);
      ++at;
    }
    first_of_layer += below * static_cast<std::size_t>(stored.widths[layer + 1]);
  }
  EXPECT_EQ(at, steps.back().size());

  // Modules are called as in the task, and units stand in their areas.
  for (const ordered_json& module : shown["drawing"]["modules"]) {
    EXPECT_EQ(module["name"], "S" + std::to_string(module["truth"].get<int>() + 1)) << module;
  }
  std::size_t units = 0;
  for (const ordered_json& layer : shown["drawing"]["layers"]) {
    for (const ordered_json& place : layer["places"]) {
      units += place.is_null() ? 0 : 1;
      EXPECT_TRUE(place.is_null() || std::ranges::any_of(shown["drawing"]["modules"], [&](const ordered_json& box) {
                    return place[0] > box["left"] && place[0] < box["left"].get<double>() + box["width"].get<double>();
                  }));
    }
  }
  EXPECT_EQ(units, 4 + shown["units"].get<std::size_t>() + 4);
}

TEST(SculptedReport, TheCommandNamesWhatIsNotTheDefault) {
  MadeUpStudy study(study_text("", "  task: {value: sculpt/4-2-4}\n  hidden: {value: \"24\"}\n  seed: {value: 3}\n"));
  sculpt(study);
  const ordered_json network = cells_of(study)[0]["networks"][0];
  EXPECT_EQ(network["command"], fmt::format("modlab sculpt --task sculpt/4-2-4 --seed 3 --epochs {} --batch-size 8 "
                                            "--lr 0.05 --hidden 24 --unit-steps 50 --edge-steps 2.5",
                                            network["epochs"].get<int>()));
}

// Four trials of one cell, whose details can be changed.
class SculptedChoices : public testing::Test {
 protected:
  SculptedChoices()
      : study_(study_text("", "  task: {value: sculpt/4-2-4}\n  hidden: {value: \"24\"}\n  seed: {values: [0..3]}\n")) {
    sculpt(study_);
    for (const studies::PlannedRun& run : study_.plan.runs) {
      edges_.push_back(static_cast<int>(study_.store.results().at(run.id).sculpted.at("edges")));
    }
  }

  // One trial's networks, by whether they have the true modules.
  void judge(std::size_t seed, const std::vector<ordered_json>& successes, int more_edges = 0) {
    const std::string& id = study_.plan.runs[seed].id;
    ordered_json details = ordered_json::parse(*study_.store.sculpt_details(id));
    const ordered_json first = details["tied"][0];
    details["tied"] = ordered_json::array();
    for (const ordered_json& success : successes) {
      details["tied"].push_back(first);
      details["tied"].back()["success"] = success;
    }
    change(study_, id, details.dump(), successes.empty() ? std::nullopt : std::optional(edges_[seed] + more_edges));
  }

  struct Shown {
    std::vector<std::string> ranks;
    int seed = 0;
    ordered_json success;

    friend bool operator==(const Shown&, const Shown&) = default;
    friend void PrintTo(const Shown& shown, std::ostream* out) {
      *out << ordered_json(shown.ranks) << " of seed " << shown.seed << ", " << shown.success;
    }
  };
  std::vector<Shown> shown() {
    std::vector<Shown> networks;
    const ordered_json cell = cells_of(study_).at(0);
    for (const ordered_json& network : cell["networks"]) {
      networks.push_back({network["ranks"], network["seed"], network["success"]});
    }
    return networks;
  }

  MadeUpStudy study_;
  std::vector<int> edges_;  // [seed]
};

TEST_F(SculptedChoices, TypicalBestAndFailed) {
  judge(0, {false}, 300);
  judge(1, {true, false}, 100);
  judge(2, {false, true, true}, 200);
  judge(3, {});
  EXPECT_EQ(shown(), (std::vector<Shown>{{{"typical"}, 2, true}, {{"best"}, 1, true}, {{"failed"}, 0, false}}));
}

TEST_F(SculptedChoices, OneNetworkMayBeSeveral) {
  for (const std::size_t seed : {0U, 1U, 2U, 3U}) {
    judge(seed, {true}, 100 - edges_[seed]);
  }
  EXPECT_EQ(shown(), (std::vector<Shown>{{{"typical", "best"}, 1, true}}));
  judge(2, {true, true, false}, 100 - edges_[2]);
  EXPECT_EQ(shown(), (std::vector<Shown>{{{"typical", "best"}, 1, true}, {{"failed"}, 2, false}}));
}

TEST_F(SculptedChoices, WithoutATruthTheSparsestIsBest) {
  for (const std::size_t seed : {0U, 1U, 2U, 3U}) {
    judge(seed, {nullptr}, 100 * (4 - static_cast<int>(seed)));
  }
  EXPECT_EQ(shown(), (std::vector<Shown>{{{"typical"}, 2, nullptr}, {{"best"}, 3, nullptr}}));
}

TEST_F(SculptedChoices, WhereNothingIsLearnedThereIsNothingToDraw) {
  for (const std::size_t seed : {0U, 1U, 2U, 3U}) {
    judge(seed, {});
  }
  EXPECT_EQ(shown(), (std::vector<Shown>{{{"failed"}, 0, nullptr}}));
  const ordered_json cell = cells_of(study_)[0];
  EXPECT_EQ(cell["learned"], 0);
  EXPECT_TRUE(cell["networks"][0]["drawing"].is_null());
  EXPECT_TRUE(cell["networks"][0]["edges"].is_null());
  EXPECT_GT(cell["networks"][0]["accuracy"].get<double>(), 50);
}

TEST_F(SculptedChoices, ANetworkThatComesOutOtherwiseIsNotDrawn) {
  const ordered_json before = cells_of(study_)[0]["networks"][0];
  ASSERT_FALSE(before["drawing"].is_null());
  for (const std::size_t seed : {0U, 1U, 2U, 3U}) {
    judge(seed, {true}, seed == before["seed"] ? 1 : 100);
  }
  const ordered_json cell = cells_of(study_).at(0);
  const auto after = std::ranges::find_if(
      cell["networks"], [&](const ordered_json& network) { return network["seed"] == before["seed"]; });
  ASSERT_NE(after, cell["networks"].end());
  EXPECT_TRUE((*after)["drawing"].is_null());
  EXPECT_TRUE((*after)["history"].empty());
  EXPECT_EQ((*after)["edges"], edges_[before["seed"]] + 1);
}

TEST_F(SculptedChoices, DamagedDetailsAreSaid) {
  for (const char* details : {"", "{}", "[1]", R"({"tied": [{}]})", R"({"tied": 3})"}) {
    change(study_, study_.plan.runs[0].id, details, std::nullopt);
    EXPECT_THROW(cells_of(study_), FormatError) << details;
  }
}

TEST(SculptedReport, TheStudySaysWhichCellsAreShown) {
  const std::string grid = "  task: {value: sculpt/4-2-4}\n  hidden: {values: [\"12\", \"24\", \"12,12\"]}\n";
  MadeUpStudy open(study_text("", grid));
  sculpt(open);
  ASSERT_EQ(cells_of(open).size(), 1U);
  EXPECT_TRUE(cells_of(open)[0]["cell"].get<std::string>().ends_with("hidden 12"));
  MadeUpStudy selected(study_text("gallery: {hidden: [\"24\", \"12,12\"]}\n", grid));
  sculpt(selected);
  ASSERT_EQ(cells_of(selected).size(), 2U);
  EXPECT_TRUE(cells_of(selected)[1]["cell"].get<std::string>().ends_with("hidden 12,12"));
}

// A network with one edge for each pair, as if it had just been trained.
methods::SculptedNetwork carved(const std::vector<int>& widths, const std::vector<std::array<int, 3>>& edges) {
  methods::SculptedNetwork network;
  network.network = methods::unpruned_mlp({.widths = widths}, models::Init::kTorch, 0);
  std::ranges::fill(network.network.kept, std::uint8_t{0});
  const std::vector<methods::LayerPlace> places = methods::layer_places(network.network.shape);
  for (const auto& [layer, from, to] : edges) {
    const methods::LayerPlace& place = places[layer];
    const std::size_t at = place.weights + static_cast<std::size_t>(to * place.in + from);
    network.network.kept[at] = 1;
    network.network.parameters[at] = 1;
  }
  methods::clear_pruned(network.network);
  network.steps.push_back(methods::step_of(methods::Stage::kDense, 0, network.network, 100, true, true));
  return network;
}

std::vector<std::string> names_of(const methods::SculptedNetwork& network, const std::string& task) {
  const methods::Detection detection = methods::detect(methods::to_layered(network.network), {});
  std::vector<std::string> names;
  const ordered_json drawing = sculpted_drawing(network, detection, tasks::load_task(task).tasks.front());
  for (const ordered_json& module : drawing["modules"]) {
    const std::string truth = module["truth"].is_null() ? "" : fmt::format(" {}", module["truth"].get<int>());
    names.push_back(module["name"].get<std::string>() + truth);
  }
  return names;
}

// With exactly the units and edges of the task's graph.
methods::SculptedNetwork ideal(const std::string& task) {
  const models::LayeredNetwork network = models::ideal_network(*tasks::load_task(task).tasks.front().graph).network;
  std::vector<std::array<int, 3>> edges;
  for (int layer = 0; layer + 1 < network.layers(); ++layer) {
    for (const models::Edge& edge : network.connections[layer].edges) {
      edges.push_back({layer, edge.from, edge.to});
    }
  }
  return carved(network.widths, edges);
}

TEST(SculptedReport, ModulesAreCalledByWhatTheyHold) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of(ideal("sculpt/4-1-2-16"), "sculpt/4-1-2-16"), (Names{"G 0", "F1 1", "F2 2"}));
  EXPECT_EQ(names_of(ideal("sculpt/8-2-1-2-16"), "sculpt/8-2-1-2-16"), (Names{"A 0", "B 1", "MID 2", "Z1 3", "Z2 4"}))
      << "also one without inputs and outputs";
  const auto joined = carved({4, 1, 2}, {{0, 0, 0}, {0, 1, 0}, {0, 2, 0}, {0, 3, 0}, {1, 0, 0}, {1, 0, 1}});
  EXPECT_EQ(names_of(joined, "sculpt/4-1-2-2"), (Names{"G + F1 + F2"}));
  const auto halves = carved({4, 2, 2}, {{0, 0, 0}, {0, 1, 0}, {0, 2, 1}, {0, 3, 1}, {1, 0, 0}, {1, 1, 1}});
  EXPECT_EQ(names_of(halves, "sculpt/4-1-2-2"), (Names{"G* + F1", "G* + F2"}));
  EXPECT_EQ(names_of(halves, "depth1"), (Names{"m1 0", "m2 1"})) << "a task without modules";
}

}  // namespace
}  // namespace modlab::report
