#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>

#include "core/errors.h"
#include "entry.h"
#include "experiments/mask/masked_bits.h"
#include "io/sqlite.h"
#include "report/gallery_masks.h"
#include "report/gallery_rules.h"
#include "report/report_data.h"
#include "report/tables.h"
#include "small_images.h"
#include "studies/batch.h"
#include "studies/claims.h"
#include "studies/workbench.h"
#include "temporary_folder.h"

// A valid store with hostile values in it: the bytes choose tables, columns, rows and what stands there.
namespace {

using modlab::experiments::FinishedRun;
using modlab::io::Database;
using modlab::studies::OpenedStudy;
using modlab::test::TemporaryFolder;

constexpr auto kStudy =
    "name: fuzzed\ntitle: Fuzzed\ntune: none\nparameters: {seed: [0, 1]}\ngrids:\n"
    "  - {series: bits, parameters: {task: A+B, model: modular-shared, epochs: 3}}\n"
    "  - {series: sculpted, parameters: {model: sculpted, task: sculpt/4-1-4, hidden: \"6\", epochs: 5, unit_steps: "
    "\"70\", edge_steps: \"2.5\", prune_threshold: 50}}\n"
    "  - {series: rules, parameters: {task: rules-mlp, model: [modular, monolithic], rules: 2, width: 8, "
    "iterations: 4, evaluate_every: 2, batch_size: 4, test_samples: 64}}\n"
    "  - {series: masked, parameters: {task: depth1, model: masked, network: dense, hidden: \"4\", epochs: 3, "
    "mask_steps: 3, beta: 0.01, controls: false}}\n";
constexpr auto kRest =
    "figures: [{id: F, title: All, x: series, measures: [test_accuracy, edges, flops]}]\n"
    "claims: [{id: C, text: More., checks: [{value: bits, measure: test_accuracy, expect: at_least}]}]\n";

// Images that stay at hand: without them a study on images cannot be planned.
const TemporaryFolder& images() {
  static const TemporaryFolder kFolder;
  static const bool kWritten = (modlab::test::SmallImages().write(kFolder), true);
  (void)kWritten;
  return kFolder;
}

std::string study_text() {
  const modlab::test::SmallImages small;
  const std::string before = images().path().string() + "/";
  return std::string(kStudy) +
         "  - {series: images, parameters: {task: mnist-xor-and, model: modular, epochs: 1, samples: 1, test_samples: "
         "1, image_widths: \"5\", images: \"" +
         small.images(before)[0] + "," + small.images(before)[1] + "\", labels: \"" + small.labels(before)[0] + "," +
         small.labels(before)[1] + "\"}}\n" + kRest;
}

// Made once: a store of a few runs that were really trained.
const std::string& valid_store() {
  static const std::string kBytes = [] {
    const TemporaryFolder folder;
    folder.write("fuzzed.yaml", study_text());
    {
      modlab::studies::StudyInWork work(
          modlab::studies::make_request(folder.file("fuzzed.yaml"), {}, "", folder.file("out")), {});
      work.execute();
    }
    return folder.read("out/study.sqlite");
  }();
  return kBytes;
}

// Numbers, texts and choices from the bytes; zeros when they are used up.
class Bytes {
 public:
  explicit Bytes(std::string_view data) : data_(data) {}

  bool is_empty() const { return data_.empty(); }
  std::uint8_t byte() {
    if (data_.empty()) {
      return 0;
    }
    const auto first = static_cast<std::uint8_t>(data_.front());
    data_.remove_prefix(1);
    return first;
  }
  std::string text() {
    const std::size_t wanted = byte();
    const std::size_t length = std::min(wanted, data_.size());
    const std::string taken(data_.substr(0, length));
    data_.remove_prefix(length);
    return taken;
  }

 private:
  std::string_view data_;
};

// What may stand in a place that is meant for something else.
std::string hostile_value(Bytes& bytes) {
  static const char* const kValues[] = {
      "NULL",   "0",     "-1",          "1",  "426.6", "1e308", "-1e308", "2000000000",
      "'many'", "x'00'", "zeroblob(9)", "''", "'[]'",  "'{}'",  "9e999",  "'{\"epochs\":2000000000,\"tied\":[]}'"};
  const std::uint8_t choice = bytes.byte();
  if (choice % 4 != 0) {
    return kValues[choice / 4 % std::size(kValues)];
  }
  std::string quoted = "'";
  for (const char letter : bytes.text()) {
    quoted += letter == '\'' ? "''" : letter == '\0' ? "0" : std::string(1, letter);
  }
  return quoted + "'";
}

void spoil(Database& database, Bytes& bytes) {
  static const char* const kPlaces[][3] = {{"runs", "settings", "id"},
                                           {"runs", "kind", "id"},
                                           {"runs", "id", "id"},
                                           {"runs", "seconds", "id"},
                                           {"results", "run", "run"},
                                           {"results", "snapshot", "run"},
                                           {"results", "test_accuracy", "run"},
                                           {"results", "validation_accuracy", "run"},
                                           {"results", "best_epoch", "run"},
                                           {"results", "train_rows", "run"},
                                           {"results", "edges", "run"},
                                           {"results", "id_loss", "run"},
                                           {"results", "best_iteration", "run"},
                                           {"blobs", "data", "run"},
                                           {"blobs", "name", "run"},
                                           {"blobs", "run", "run"},
                                           {"study", "text", "name"},
                                           {"study", "preset", "name"},
                                           {"study", "overrides", "name"},
                                           {"tasks", "fingerprint", "name"},
                                           {"task_texts", "text", "task"},
                                           {"task_texts", "member", "task"},
                                           {"grid", "run", "run"},
                                           {"origins", "networks", "machine"},
                                           {"setting_names", "name", "name"}};
  static const char* const kSchema[] = {"DROP TABLE blobs",
                                        "ALTER TABLE results DROP COLUMN test_accuracy",
                                        "DELETE FROM results",
                                        "DELETE FROM runs",
                                        "PRAGMA user_version = 3",
                                        "PRAGMA user_version = 4",
                                        "ALTER TABLE results ADD COLUMN \"odd name\" REAL",
                                        "DELETE FROM study",
                                        "CREATE TRIGGER t BEFORE INSERT ON runs BEGIN DELETE FROM results; END",
                                        ("DROP VIEW chosen; DROP VIEW run_results; DROP VIEW run_settings; DROP TABLE "
                                         "runs; CREATE VIEW runs AS WITH RECURSIVE n(id) AS "
                                         "(SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, 'bits' AS kind FROM n")};
  const std::uint8_t choice = bytes.byte();
  std::string sql;
  if (choice % 8 == 0) {
    sql = kSchema[bytes.byte() % std::size(kSchema)];
  } else if (choice % 8 == 1) {
    // A piece of a blob, so that what is read inside a valid stream is spoilt too.
    sql = "UPDATE blobs SET data = CAST(substr(data, 1, " + std::to_string(bytes.byte()) + ") || " +
          hostile_value(bytes) + " || substr(data, " + std::to_string(bytes.byte()) +
          ") AS BLOB) WHERE rowid % 3 = " + std::to_string(bytes.byte() % 3);
  } else {
    const auto& [table, column, key] = kPlaces[bytes.byte() % std::size(kPlaces)];
    sql = std::string("UPDATE ") + table + " SET " + column + " = " + hostile_value(bytes) + " WHERE " +
          (bytes.byte() % 2 == 0 ? "1" : std::string(key) + " > '8'");
  }
  try {
    database.execute(sql);
  } catch (const modlab::UserError&) {
    // Not every change can be made.
  }
}

// A UserError is an answer.
void ask(const std::function<void()>& question) {
  try {
    question();
  } catch (const modlab::UserError&) {
  }
}

}  // namespace

std::vector<std::string> modlab::fuzz::seeds() {
  std::vector<std::string> list;
  for (int first = 0; first < 24; ++first) {
    list.push_back({static_cast<char>(first), static_cast<char>(5 * first), static_cast<char>(7 * first), 4, 'a', 'b',
                    'c', '{', 1, 2, 3});
  }
  return list;
}

// Whatever stands in a store, its findings, claims, report, tables, curves and replay are answers or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemporaryFolder kFolder;
  const std::string folder = kFolder.file("out");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  kFolder.write("out/study.sqlite", valid_store());
  {
    Database database(folder + "/study.sqlite", Database::Mode::kWrite);
    Bytes bytes({reinterpret_cast<const char*>(data), size});
    for (int change = 0; change < 4 && !bytes.is_empty(); ++change) {
      spoil(database, bytes);
    }
  }
  ask([&] {
    OpenedStudy opened(folder);
    const modlab::studies::Findings& findings = opened.findings();
    const auto claims = modlab::studies::evaluate_claims(findings);
    ask([&] { modlab::report::report_data(findings, claims, opened.store()); });
    // Other kinds may have been found damaged before these.
    ask([&] { modlab::report::gallery_rules(findings, opened.store()); });
    ask([&] { modlab::report::gallery_masks(modlab::experiments::masked_bits(), findings, opened.store()); });
    ask([&] { modlab::report::runs_csv(findings); });
    for (const modlab::studies::Record& record : findings.records()) {
      const modlab::experiments::Run& run = record.run->run;
      ask([&] {
        if (const std::optional<std::string> curve = opened.store().blob(run.id(), "curve")) {
          run.kind->curve_csv(run, opened.store().snapshots(run.id()), *curve, opened.store().path());
        }
      });
      ask([&] { opened.store().run(run.id()); });
    }
  });
  return 0;
}
