// The report of a study of sculpted networks.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/errors.h"
#include "engine/kernels/kernels.h"
#include "experiments/sculpt/sculpt.h"
#include "experiments/sculpt/trial_record.h"
#include "io/compress.h"
#include "methods/sculpt/branches.h"
#include "models/ideal_network.h"
#include "models/layered_network_file.h"
#include "report/gallery_sculpted.h"
#include "report/page.h"
#include "report/report_data.h"
#include "report/sculpted_drawing.h"
#include "report/typescript_form.h"
#include "studies/batch.h"
#include "studies/made_up_study.h"
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
  studies::Batch batch(studies::missing_runs(study.plan, {}), {1, &engine::kernels()},
                       studies::wanted_for(study.plan.keep));
  batch.execute([&](auto&& finished) { study.store.add(finished); });
}

ordered_json report_of(MadeUpStudy& study) {
  const studies::Findings findings = study.findings();
  return report_data(findings, studies::evaluate_claims(findings), study.store);
}

ordered_json cells_of(MadeUpStudy& study) { return gallery_sculpted(study.findings(), study.store); }

void change_blob(MadeUpStudy& study, const std::string& id, const std::string& name, const std::string& data) {
  io::Database database(study.store.path(), io::Database::Mode::kWrite);
  database.prepare("INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)").bind(1, id).bind(2, name).bind_blob(3, data).run();
}

void change_edges(MadeUpStudy& study, const std::string& id, int edges) {
  io::Database database(study.store.path(), io::Database::Mode::kWrite);
  database.execute(fmt::format("UPDATE results SET edges = {} WHERE run = '{}'", edges, id));
}

ordered_json details_of(MadeUpStudy& study, const std::string& id) {
  return ordered_json::parse(study.store.blob(id, "details").value());
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

// How long the weights of a stored history are.
std::size_t history_bytes(const ordered_json& tied) {
  std::size_t bytes = 0;
  std::size_t before = 0;
  for (const ordered_json& step : tied["steps"]) {
    if (step[5] == true) {
      bytes += before == 0 ? step[3].get<std::size_t>() : before;
      before = step[3];
    }
  }
  return bytes;
}

// The same edges, and weights that are their shares of the largest in their layer, to half a step of 127.
void expect_same_weights(const methods::PrunedMlp& shares, const methods::PrunedMlp& truth) {
  for (const methods::LayerPlace& place : methods::layer_places(truth.shape)) {
    const std::size_t end = place.weights + static_cast<std::size_t>(place.in) * place.out;
    float largest = 0;
    for (std::size_t at = place.weights; at < end; ++at) {
      largest = std::max(largest, std::abs(truth.parameters[at]));
    }
    ASSERT_GT(largest, 0);
    for (std::size_t at = place.weights; at < end; ++at) {
      EXPECT_EQ(shares.kept[at], truth.kept[at]);
      EXPECT_NEAR(shares.parameters[at], truth.parameters[at] / largest, 0.5 / 127 + 1e-6);
    }
  }
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
  const ordered_json details = details_of(study, shown["id"])["tied"][0];
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
      // The store has weights in steps of 1/127, and what is less than half of one has no sign.
      EXPECT_TRUE((letter >= 32) == (edge.weight < 0) || std::abs(edge.weight) < 0.51 / 127 * largest);
      EXPECT_NEAR(static_cast<double>(letter % 32) / 31, std::abs(edge.weight) / largest, 0.5 / 31 + 0.5 / 127 + 1e-6);
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
      edges_.push_back(static_cast<int>(study_.store.snapshots(run.id()).at("best").at("edges")));
    }
  }

  // One trial's networks, by whether they have the true modules.
  void judge(std::size_t seed, const std::vector<ordered_json>& successes, int more_edges = 0) {
    const std::string id = study_.plan.runs[seed].id();
    ordered_json details = details_of(study_, id);
    // The first network always has its history.
    first_.try_emplace(seed, details["tied"][0], study_.store.blob(id, "history/0").value());
    const auto& [first, history] = first_.at(seed);
    details["tied"] = ordered_json::array();
    for (const ordered_json& success : successes) {
      change_blob(study_, id, fmt::format("history/{}", details["tied"].size()), history);
      details["tied"].push_back(first);
      details["tied"].back()["success"] = success;
    }
    change_blob(study_, id, "details", details.dump());
    if (!successes.empty()) {
      change_edges(study_, id, edges_[seed] + more_edges);
    }
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
  std::vector<int> edges_;                                             // [seed]
  std::map<std::size_t, std::pair<ordered_json, std::string>> first_;  // of a seed: its first network, and the history
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

TEST_F(SculptedChoices, WithoutAHistoryANetworkIsDrawnAsItIs) {
  const ordered_json before = cells_of(study_)[0]["networks"][0];
  ASSERT_GT(before["drawing"]["networks"].size(), 1U);
  ASSERT_FALSE(before["history"].empty());
  io::Database(study_.store.path(), io::Database::Mode::kWrite)
      .execute("DELETE FROM blobs WHERE name LIKE 'history/%'");
  const ordered_json after = cells_of(study_)[0]["networks"][0];
  EXPECT_EQ(after["id"], before["id"]);
  EXPECT_TRUE(after["history"].empty());
  ASSERT_EQ(after["drawing"]["networks"].size(), 1U);
  EXPECT_EQ(edges_by_step(after["drawing"]).back(), edges_by_step(before["drawing"]).back());
  for (const char* same : {"modules", "layers", "weights"}) {
    EXPECT_EQ(after["drawing"][same], before["drawing"][same]) << same;
  }
}

TEST_F(SculptedChoices, DamagedDetailsAreSaid) {
  for (const char* details : {"", "{}", "[1]", R"({"tied": [{}]})", R"({"tied": 3})", R"({"epochs": 9, "tied": 3})",
                              R"({"epochs": 9, "tied": [{}]})"}) {
    change_blob(study_, study_.plan.runs[0].id(), "details", details);
    EXPECT_THROW(cells_of(study_), FormatError) << details;
  }
}

TEST_F(SculptedChoices, DetailsThatCannotBeAreRefusedWithTheNameOfTheirRun) {
  const std::string id = study_.plan.runs[1].id();
  const ordered_json good = details_of(study_, id);
  const std::string history = study_.store.blob(id, "history/0").value();
  const auto message = [&]() -> std::string {
    try {
      cells_of(study_);
    } catch (const FormatError& error) {
      return error.what();
    }
    return "no error";
  };
  const auto message_for = [&](const std::function<void(ordered_json & details)>& change) {
    ordered_json details = good;
    change(details);
    change_blob(study_, id, "details", details.dump());
    const std::string found = message();
    change_blob(study_, id, "details", good.dump());
    return found;
  };
  const auto names_the_run = [&](const std::string& text) { return text.find(id) != std::string::npos; };
  ASSERT_EQ(message_for([](ordered_json&) {}), "no error");

  EXPECT_PRED1(names_the_run, message_for([](ordered_json& details) { details["epochs"] = -1; }));
  EXPECT_PRED1(names_the_run, message_for([](ordered_json& details) {
                 models::LayeredNetwork other;
                 other.widths = {4, 3, 4};
                 other.connections = {{{{0, 0, 1}}, {}}, {{{0, 0, 1}}, {}}};
                 details["tied"][0]["network"] = models::to_json_line({"other", models::checked(other, "other"), {}});
               }))
      << "a network of another shape";
  EXPECT_PRED1(names_the_run, message_for([](ordered_json& details) {
                 ordered_json* before = nullptr;
                 for (ordered_json& step : details["tied"][0]["steps"]) {
                   if (step[5] == true) {
                     if (before != nullptr) {
                       step[3] = (*before)[3].get<int>() + 1;
                       return;
                     }
                     before = &step;
                   }
                 }
               }))
      << "pruning adds no edges";
  EXPECT_PRED1(names_the_run, message_for([](ordered_json& details) {
                 for (ordered_json& step : details["tied"][0]["steps"]) {
                   if (step[5] == true) {
                     step[3] = step[3].get<int>() - 1;
                     return;
                   }
                 }
               }))
      << "steps that the history does not fit";
  EXPECT_PRED1(names_the_run, message_for([](ordered_json& details) { details["tied"][0]["steps"][0][3] = -1; }));
  EXPECT_PRED1(names_the_run, message_for([](ordered_json& details) { details["tied"][0]["steps"][0][4] = 101; }));
  EXPECT_PRED1(names_the_run, message_for([](ordered_json& details) { details["tied"][0]["steps"][0][0] = "melt"; }));
  EXPECT_PRED1(names_the_run, message_for([](ordered_json& details) { details["tied"][0]["steps"][0].erase(5); }));

  for (const std::size_t left : {std::size_t{0}, std::size_t{1}, history.size() / 2, history.size() - 1}) {
    change_blob(study_, id, "history/0", history.substr(0, left));
    EXPECT_PRED1(names_the_run, message()) << left << " of " << history.size() << " bytes";
  }
  const std::string short_history = io::compress(io::expand(history, history_bytes(good["tied"][0]), "").substr(1));
  change_blob(study_, id, "history/0", short_history);
  EXPECT_PRED1(names_the_run, message()) << "whole, but too short";
  change_blob(study_, id, "history/0", history);
  EXPECT_EQ(message(), "no error");
}

// What is recorded of a trial comes back from the store; weights with as many steps as a byte has.
TEST(TrialRecord, AHistoryComesBackFromTheStore) {
  MadeUpStudy study(study_text("", "  task: {value: sculpt/4-2-4}\n  hidden: {value: \"24,24\"}\n"));
  const experiments::Run& run = study.plan.runs.at(0).run;
  const methods::SculptRun spec = experiments::sculpt_run(run.values);
  const auto suite = tasks::cached_task(spec.task);
  const tasks::Task& task = suite->tasks.front();
  methods::SculptResult recorded;
  methods::SculptProgress progress;
  methods::sculpt_networks(std::span(&spec, 1), 1, engine::kernels(), progress,
                           [&](std::size_t, methods::SculptResult result) { recorded = std::move(result); });
  ASSERT_FALSE(recorded.outcome.winners.empty());
  study.store.add(std::vector<experiments::FinishedRun>{{&run, experiments::record_trial(run, spec, task, recorded)}});

  const experiments::StoredTrial read = experiments::read_trial(
      run, spec, task, [&](const std::string& name) { return study.store.blob(run.id(), name); }, study.store.path());
  EXPECT_EQ(read.epochs, recorded.epochs);
  EXPECT_FALSE(read.is_given);
  ASSERT_EQ(read.tied.size(), recorded.outcome.winners.size());
  ASSERT_TRUE(read.tied.front().carved) << "the first is always worth showing";
  for (std::size_t at = 0; at < read.tied.size(); ++at) {
    const methods::SculptedNetwork& expected = recorded.outcome.winners[at];
    EXPECT_EQ(read.tied[at].unit_step, expected.unit_step);
    EXPECT_EQ(read.tied[at].edge_step, expected.edge_step);
    if (!read.tied[at].carved) {
      continue;
    }
    const methods::SculptedNetwork& found = *read.tied[at].carved;
    EXPECT_EQ(models::to_json_line({"", methods::to_layered(found.network), {}}),
              models::to_json_line({"", methods::to_layered(expected.network), {}}));
    ASSERT_EQ(found.steps.size(), expected.steps.size());
    int accepted = 0;
    for (std::size_t number = 0; number < found.steps.size(); ++number) {
      SCOPED_TRACE(fmt::format("step {}", number));
      const methods::PruneStep& step = found.steps[number];
      const methods::PruneStep& truth = expected.steps[number];
      EXPECT_EQ(step.stage, truth.stage);
      EXPECT_EQ(step.percent, truth.percent);
      EXPECT_EQ(step.units, truth.units);
      EXPECT_EQ(step.edges, truth.edges);
      EXPECT_EQ(step.accuracy, truth.accuracy);
      EXPECT_EQ(step.accepted, truth.accepted);
      ASSERT_EQ(step.kept != nullptr, step.accepted);
      if (step.accepted) {
        expect_same_weights(methods::network_after(step, found), methods::network_after(truth, expected));
        ++accepted;
      }
    }
    EXPECT_GT(accepted, 3) << "the dense network, and some steps of pruning";
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
  network.steps.push_back(methods::step_of(methods::Stage::kDense, 0, network.network, 100, true));
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
