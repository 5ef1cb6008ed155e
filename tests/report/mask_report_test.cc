// The report of a study of masked networks.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/errors.h"
#include "engine/kernels/kernels.h"
#include "experiments/mask/mask_picture.h"
#include "experiments/mask/masked_bits.h"
#include "report/gallery_masks.h"
#include "report/page.h"
#include "report/report_data.h"
#include "report/typescript_form.h"
#include "small_images.h"
#include "studies/batch.h"
#include "studies/made_up_study.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;
using test::MadeUpStudy;

constexpr auto kBits =
    "model: masked, network: dense, task: depth1, hidden: \"8\", epochs: 10, mask_steps: 20, beta: 0.01, controls: "
    "false";

std::string mask_study(const std::string& parameters, const std::string& more = "") {
  return fmt::format("name: masked\ntitle: Masked\ntune: none\n{}parameters: {{{}, {}}}\n", more, kBits, parameters);
}

void mask_all(MadeUpStudy& study) {
  studies::Batch batch(studies::missing_runs(study.plan, {}), {1, &engine::kernels()},
                       studies::wanted_for(study.plan.keep));
  batch.execute([&](auto&& finished) { study.store.add(finished); });
}

ordered_json masked_cells(MadeUpStudy& study) {
  return gallery_masks(experiments::masked_bits(), study.findings(), study.store);
}

void replace_blob(MadeUpStudy& study, const std::string& id, const std::string& name, const std::string& data) {
  io::Database database(study.store.path(), io::Database::Mode::kWrite);
  database.prepare("INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)").bind(1, id).bind(2, name).bind_blob(3, data).run();
}

void execute_sql(MadeUpStudy& study, const std::string& sql) {
  io::Database(study.store.path(), io::Database::Mode::kWrite).execute(sql);
}

ordered_json json_blob(MadeUpStudy& study, const std::string& id, const std::string& name) {
  return ordered_json::parse(study.store.blob(id, name).value());
}

TEST(MaskReport, HasTheFormThatThePageExpects) {
  MadeUpStudy study(
      "name: masked\ntitle: Masked\ntune: none\nparameters: {seed: [0, 1]}\ngrids:\n"
      "  - {series: bits, parameters: {model: masked, task: depth1, network: [dense, modular], hidden: \"8\", "
      "epochs: 10, mask_steps: 20, beta: auto}}\n"
      "  - {series: digits, parameters: {model: masked, task: add-mul, network: fnn, digits: 1, hidden: \"12\", "
      "steps: 10, mask_steps: 10}}\n"
      "  - {series: sculpted, parameters: {model: masked-sculpted, task: sculpt/4-1-4, hidden: \"6\", epochs: 5, "
      "unit_steps: \"70\", edge_steps: \"2.5\", prune_threshold: 10, mask_steps: 10, beta: 0.01}}\n");
  mask_all(study);
  const studies::Findings findings = study.findings();
  const ordered_json report = report_data(findings, studies::evaluate_claims(findings), study.store);
  const test::TypescriptForm form(std::string(MODLAB_TEST_DIR) + "/../web/src/report.ts");
  form.expect(ordered_json::parse(report.dump()), "Report", "report");
  EXPECT_NE(page(report).find("Masked"), std::string::npos);
  EXPECT_TRUE(report["gallery"].empty());
  EXPECT_TRUE(report["mixtures"].is_null());

  const ordered_json& cells = report["masks"];
  ASSERT_EQ(cells.size(), 4U);
  EXPECT_EQ(cells[0]["task"], "depth1");
  EXPECT_EQ(cells[0]["series"], "bits");
  const ordered_json& dense = cells[0]["networks"][0];
  EXPECT_EQ(dense["targets"], ordered_json({"y0", "y1"}));
  EXPECT_EQ(dense["inputs"].size(), 6U);
  EXPECT_EQ(dense["outputs"], ordered_json({"y0", "y1"}));
  EXPECT_GT(dense["betas"].size(), 1U) << "beta was looked for";
  EXPECT_FALSE(dense["masks"][1]["again"].is_null());
  EXPECT_TRUE(dense["masks"][1]["confusion"].is_null()) << "answers of bits have no operation";
  const ordered_json& digits = cells[2]["networks"][0];
  EXPECT_TRUE(digits["inputs"].empty());
  EXPECT_TRUE(digits["betas"].is_null()) << "beta was given";
  EXPECT_EQ(digits["masks"][2]["confusion"].size(), 2U);
  EXPECT_EQ(digits["masks"][2]["inverse_confusion"][1].size(), 3U);
  EXPECT_EQ(cells[3]["runs"], 2) << "both networks learned enough to be pruned";
  EXPECT_FALSE(cells[3]["networks"][0]["tensors"][1]["picture"].is_null());
}

// Of classes, what is said for which; a table that is damaged is refused with the run's name.
TEST(MaskReport, ShowsClasses) {
  MadeUpStudy study(
      "name: masked\ntitle: Masked\ntune: none\nparameters: {model: masked, task: cifar10, classes: cat}\n");
  const auto kept = [](double diagonal) {
    return ordered_json{{"name", "all"},
                        {"accuracy", {{"without cat", 50}}},
                        {"inverse", {{"without cat", 10}}},
                        {"kept", {{"out_layer.weight", 3}}},
                        {"weights", {{"out_layer.weight", 4}}},
                        {"ambiguous", 5},
                        {"class_confusion", {{diagonal, 100 - diagonal}, {0, 100}}}};
  };
  ordered_json details = {{"beta", 0.1},
                          {"unmasked", {{"without cat", 60}}},
                          {"class_names", {"cat", "dog"}},
                          {"stages", {kept(80), kept(20)}}};
  const experiments::Run& run = study.plan.runs[0].run;
  experiments::Result result;
  result.snapshots["best"] = {{"unmasked_accuracy", 60}, {"control_accuracy", 50}, {"relative_drop", 75}};
  result.blobs["details"] = details.dump();
  study.store.add(std::vector<experiments::FinishedRun>{{&run, result}});
  const studies::Findings findings = study.findings();
  const ordered_json report = report_data(findings, studies::evaluate_claims(findings), study.store);
  const test::TypescriptForm form(std::string(MODLAB_TEST_DIR) + "/../web/src/report.ts");
  form.expect(ordered_json::parse(report.dump()), "Report", "report");
  const ordered_json& network = report["masks"][0]["networks"][0];
  EXPECT_EQ(network["classes"], ordered_json({"cat", "dog"}));
  EXPECT_EQ(network["masks"][1]["class_confusion"][0], ordered_json({20.0, 80.0}));
  for (const ordered_json& table :
       {ordered_json{{1, 2}, {3}}, ordered_json{{-5, 105}, {0, 100}}, ordered_json("all")}) {
    details["stages"][1]["class_confusion"] = table;
    replace_blob(study, run.id(), "details", details.dump());
    EXPECT_THROW(report_data(findings, studies::evaluate_claims(findings), study.store), FormatError) << table.dump();
  }
}

// Tasks one after the other: no control mask, and what a later mask takes over from earlier ones.
TEST(MaskReport, ShowsMasksThatFollowEachOther) {
  const test::TemporaryFolder folder;
  const test::SmallImages small{.digits = 8};
  small.write(folder);
  const auto files = [&](const std::vector<std::string>& names) {
    return fmt::format("\"{},{}\"", (folder.path() / names[0]).string(), (folder.path() / names[1]).string());
  };
  MadeUpStudy study(fmt::format(
      "name: masked\ntitle: Masked\ntune: none\nparameters: {{model: masked, task: permuted-mnist, hidden: \"12,8\", "
      "tasks: 3, mask_steps: 20, mask_batch: 16, images: {}, labels: {}}}\n",
      files(small.images()), files(small.labels())));
  mask_all(study);
  const studies::Findings findings = study.findings();
  const ordered_json report = report_data(findings, studies::evaluate_claims(findings), study.store);
  const test::TypescriptForm form(std::string(MODLAB_TEST_DIR) + "/../web/src/report.ts");
  form.expect(ordered_json::parse(report.dump()), "Report", "report");
  ASSERT_EQ(report["masks"].size(), 1U);
  const ordered_json& network = report["masks"][0]["networks"][0];
  EXPECT_EQ(network["control"], false);
  ASSERT_EQ(network["masks"].size(), 3U);
  EXPECT_EQ(network["masks"][1]["name"], "T2");
  EXPECT_FALSE(network["masks"][1]["accuracy"][1].is_null());
  EXPECT_TRUE(network["masks"][1]["accuracy"][2].is_null()) << "learned later";
  const ordered_json details = json_blob(study, study.plan.runs[0].id(), "details");
  for (const ordered_json& tensor : network["tensors"]) {
    const std::string name = tensor["name"];
    const bool is_own = name.starts_with("layers.0.");
    EXPECT_EQ(tensor["sharing"].is_null(), is_own) << name;
    EXPECT_FALSE(tensor["picture"].is_null()) << name;
    EXPECT_TRUE(tensor["earlier"][0].is_null()) << name << ": the first one has none before it";
    EXPECT_EQ(tensor["earlier"][2].is_null(), is_own) << name;
    if (!is_own) {
      EXPECT_NEAR(tensor["earlier"][2]["shared"].get<double>(), details["stages"][2]["shared"][name].get<double>(),
                  1e-4);
    }
  }
}

TEST(MaskReport, OtherStudiesHaveNone) {
  MadeUpStudy study("parameters: {task: depth1, model: modular}\n");
  study.train([](const studies::PlannedRun&) { return test::made_up(90, 90, 90); });
  const studies::Findings findings = study.findings();
  EXPECT_TRUE(report_data(findings, studies::evaluate_claims(findings), study.store)["masks"].is_null());
}

TEST(MaskReport, NumbersAndPicturesAreTheStoredOnes) {
  MadeUpStudy study(mask_study("seed: 3, split_seed: 41"));
  mask_all(study);
  const ordered_json network = masked_cells(study)[0]["networks"][0];
  const std::string id = study.plan.runs[0].id();
  EXPECT_EQ(network["id"], id);
  EXPECT_EQ(network["settings"], "split 41, seed 3");
  const ordered_json details = json_blob(study, id, "details");
  const ordered_json picture = json_blob(study, id, experiments::kMaskPicture);
  ASSERT_EQ(network["masks"].size(), 3U);
  for (std::size_t mask = 0; mask < 3; ++mask) {
    const ordered_json& stage = details["stages"][mask];
    EXPECT_NEAR(network["masks"][mask]["accuracy"][1].get<double>(), stage["accuracy"]["y1"].get<double>(), 0.00501);
    EXPECT_NEAR(network["masks"][mask]["inverse"][0].get<double>(), stage["inverse"]["y0"].get<double>(), 0.00501);
    EXPECT_EQ(network["masks"][mask]["histogram"], picture["histograms"][mask]);
    EXPECT_EQ(network["tensors"][1]["kept"][mask], stage["kept"]["layer1.weight"]);
  }
  ASSERT_EQ(network["tensors"].size(), 2U);
  for (std::size_t tensor = 0; tensor < 2; ++tensor) {
    const ordered_json& shown = network["tensors"][tensor];
    const std::string letters = shown["picture"]["letters"];
    EXPECT_EQ(letters, picture["tensors"][tensor]["letters"]);
    EXPECT_EQ(shown["picture"]["rows"].get<int>() * shown["picture"]["columns"].get<int>(), shown["weights"]);
    // A and C: the first target does not keep it; A and B: the second does not.
    const auto keepers = [&](const char* of) {
      return std::ranges::count_if(letters,
                                   [&](char letter) { return std::string(of).find(letter) != std::string::npos; });
    };
    EXPECT_EQ(shown["kept"][1], keepers("BD"));
    EXPECT_EQ(shown["kept"][2], keepers("CD"));
    const ordered_json& sharing = details["sharing"][shown["name"].get<std::string>()];
    EXPECT_NEAR(shown["sharing"]["iou"].get<double>(), sharing["iou"].get<double>(), 0.000051);
    EXPECT_NEAR(shown["sharing"]["iomin_chance"].get<double>(), sharing["iomin_chance"].get<double>(), 0.000051);
  }
  EXPECT_NEAR(network["sharing"]["iou"].get<double>(), details["sharing"]["all"]["iou"].get<double>(), 0.000051);
}

TEST(MaskReport, ShowsTheLeastTheMedianAndTheMostShared) {
  MadeUpStudy study(mask_study("seed: [0, 1, 2, 3, 4, 5]"));
  mask_all(study);
  const char* shared[] = {"0.5", "0.1", "0.9", "0.3", "0.2", "0.4"};
  for (std::size_t seed = 0; seed < 6; ++seed) {
    execute_sql(study,
                fmt::format("UPDATE results SET iou = {} WHERE run = '{}'", shared[seed], study.plan.runs[seed].id()));
  }
  // Of a network that did not learn nothing was masked.
  execute_sql(study, fmt::format("UPDATE results SET unmasked_accuracy = NULL, iou = NULL WHERE run = '{}'",
                                 study.plan.runs[5].id()));
  execute_sql(study, fmt::format("DELETE FROM blobs WHERE run = '{}'", study.plan.runs[5].id()));
  const ordered_json cell = masked_cells(study)[0];
  EXPECT_EQ(cell["runs"], 5);
  std::map<std::string, std::string> ids;
  for (const ordered_json& network : cell["networks"]) {
    ids[network["rank"]] = network["id"];
  }
  EXPECT_EQ(ids, (std::map<std::string, std::string>{{"least", study.plan.runs[1].id()},
                                                     {"median", study.plan.runs[3].id()},
                                                     {"most", study.plan.runs[2].id()}}));
}

TEST(MaskReport, OfAnOlderStoreShowsWhatThereIs) {
  MadeUpStudy study(mask_study("seed: 0"));
  mask_all(study);
  const ordered_json with = masked_cells(study)[0]["networks"][0];
  EXPECT_TRUE(with["exact"].get<bool>());
  execute_sql(study, fmt::format("DELETE FROM blobs WHERE name = '{}'", experiments::kMaskPicture));
  ordered_json without = masked_cells(study)[0]["networks"][0];
  EXPECT_FALSE(without["exact"].get<bool>());
  EXPECT_TRUE(without["tensors"][0]["picture"].is_null());
  EXPECT_TRUE(without["masks"][0]["histogram"].is_null());
  EXPECT_EQ(without["sharing"], with["sharing"]);
  EXPECT_EQ(without["tensors"][1]["sharing"], with["tensors"][1]["sharing"]);
}

TEST(MaskReport, ResultsAloneHaveNoPictures) {
  MadeUpStudy study(mask_study("seed: 0", "keep: results\n"));
  mask_all(study);
  EXPECT_FALSE(study.store.blob(study.plan.runs[0].id(), experiments::kMaskPicture).has_value());
  EXPECT_TRUE(masked_cells(study)[0]["networks"][0]["tensors"][0]["picture"].is_null());
}

TEST(MaskReport, TheGalleryNamesCells) {
  MadeUpStudy study(mask_study("seed: 0, ratio: [0.3, 0.7]") + "gallery: {ratio: [0.7]}\n");
  mask_all(study);
  const ordered_json cells = masked_cells(study);
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_EQ(cells[0]["cell"], "masked, depth1, ratio 0.7");
}

TEST(MaskReport, OneTargetSharesNothing) {
  MadeUpStudy study(mask_study("seed: 0, targets: y0+y1"));
  mask_all(study);
  const ordered_json network = masked_cells(study)[0]["networks"][0];
  EXPECT_EQ(network["targets"].size(), 1U);
  EXPECT_TRUE(network["sharing"].is_null());
  EXPECT_TRUE(network["tensors"][0]["sharing"].is_null());
  EXPECT_FALSE(network["tensors"][0]["picture"].is_null());
}

TEST(MaskReport, WhatCannotBeIsRefusedWithTheNameOfItsRun) {
  MadeUpStudy study(mask_study("seed: 0"));
  mask_all(study);
  const std::string id = study.plan.runs[0].id();
  const auto message = [&](const std::string& blob, const std::string& data) -> std::string {
    const std::string before = study.store.blob(id, blob).value();
    replace_blob(study, id, blob, data);
    std::string said = "no error";
    try {
      masked_cells(study);
    } catch (const FormatError& error) {
      said = error.what();
    }
    replace_blob(study, id, blob, before);
    return said;
  };
  const auto names_the_run = [&](const std::string& text) { return text.find(id) != std::string::npos; };
  for (const char* blob : {"details", experiments::kMaskPicture}) {
    ASSERT_EQ(message(blob, json_blob(study, id, blob).dump()), "no error");
    for (const char* data :
         {"", "{}", "[]", "null", "3", "[[]]", "{\"stages\":[]}", "{\"unmasked\":{},\"tensors\":[]}"}) {
      EXPECT_PRED1(names_the_run, message(blob, data)) << blob << ": " << data;
    }
  }
  using Change = std::function<void(ordered_json&)>;
  const std::tuple<const char*, const char*, Change> changes[] = {
      {"details", "a stage less", [](ordered_json& json) { json["stages"].erase(2); }},
      {"details", "no beta", [](ordered_json& json) { json.erase("beta"); }},
      {"details", "more than all", [](ordered_json& json) { json["unmasked"]["y0"] = 101; }},
      {"details", "less than nothing", [](ordered_json& json) { json["stages"][1]["accuracy"]["y1"] = -1; }},
      {"details", "a target less", [](ordered_json& json) { json["stages"][1]["inverse"].erase("y1"); }},
      {"details", "an odd name", [](ordered_json& json) { json["stages"][1]["name"] = 7; }},
      {"details", "more kept than there is",
       [](ordered_json& json) { json["stages"][1]["kept"]["layer0.weight"] = 1e9; }},
      {"details", "half a weight", [](ordered_json& json) { json["stages"][0]["kept"]["layer0.weight"] = 0.5; }},
      {"details", "words", [](ordered_json& json) { json["stages"][2]["ambiguous"] = "many"; }},
      {"details", "shares above one", [](ordered_json& json) { json["sharing"]["all"]["iou"] = 1.5; }},
      {"details", "a tensor less", [](ordered_json& json) { json["sharing"].erase("layer0.weight"); }},
      {"details", "odd answers",
       [](ordered_json& json) {
         json["stages"][0]["confusion"] = {{1, 2}, {3, 4}};
       }},
      {"details", "odd betas", [](ordered_json& json) { json["betas"] = 3; }},
      {"details", "a beta alone",
       [](ordered_json& json) {
         json["betas"] = {{{"beta", 1}}};
       }},
      {"details", "odd warnings", [](ordered_json& json) { json["warnings"] = {1}; }},
      {"masks", "a bin less", [](ordered_json& json) { json["histograms"][0].erase(0); }},
      {"masks", "a mask less", [](ordered_json& json) { json["histograms"].erase(0); }},
      {"masks", "a negative count", [](ordered_json& json) { json["histograms"][0][3] = -4; }},
      {"masks", "another tensor", [](ordered_json& json) { json["tensors"][0]["name"] = "layer7.weight"; }},
      {"masks", "a tensor less", [](ordered_json& json) { json["tensors"].erase(1); }},
      {"masks", "another shape", [](ordered_json& json) { json["tensors"][0]["shape"][0] = 3; }},
      {"masks", "other cells", [](ordered_json& json) { json["tensors"][0]["cells"][0] = 3; }},
      {"masks", "blocks that are too many", [](ordered_json& json) { json["exact"] = false; }},
      {"masks", "no kind of cells", [](ordered_json& json) { json["exact"] = "yes"; }},
      {"masks", "a letter less",
       [](ordered_json& json) {
         json["tensors"][0]["letters"] = json["tensors"][0]["letters"].get<std::string>().substr(1);
       }},
      {"masks", "another letter",
       [](ordered_json& json) {
         json["tensors"][0]["letters"] = "?" + json["tensors"][0]["letters"].get<std::string>().substr(1);
       }},
  };
  for (const auto& [blob, name, change] : changes) {
    ordered_json json = json_blob(study, id, blob);
    change(json);
    EXPECT_PRED1(names_the_run, message(blob, json.dump())) << name;
  }
}

}  // namespace
}  // namespace modlab::report
