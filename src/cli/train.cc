#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "cli/arguments.h"
#include "cli/planning_note.h"
#include "cli/progress_bar.h"
#include "cli/published_flags.h"
#include "cli/run_list.h"
#include "cli/terminal.h"
#include "cli/threads.h"
#include "cli/train_table.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/notice.h"
#include "core/text.h"
#include "io/file.h"
#include "report/comparison_text.h"
#include "report/epoch_table.h"
#include "report/run_table.h"
#include "studies/comparison.h"
#include "studies/workbench.h"

namespace modlab::cli {
namespace {

const std::vector<Option>& own_train_options() {
  static const std::vector<Option> kOptions = {
      {"from", Arity::kOne, "DIR", "train runs of a study again: with --run, and to the same bits", {}},
      {"run", Arity::kMany, "ID", "names of those runs, as tables and the report have them", {}},
      {"threads", Arity::kOne, "N", "threads to train on; default: all cores", {}},
      {"compare",
       Arity::kOptional,
       "SETTING",
       "print differences between its values (default: models), paired by split and seed, with intervals",
       {}},
      {"json", Arity::kSwitch, "", "print one JSON object instead of the table", {}},
      {"csv", Arity::kOne, "FILE", "write one line a run as CSV: settings and measures", {}},
      {"curves", Arity::kOne, "FILE", "write losses and accuracies by epoch as CSV", {}},
      {"save", Arity::kOne, "DIR", "write every network as ID.safetensors, with its settings in ID.json", {}},
      {"help", Arity::kOptional, "all", "this text, for the task and model at hand; or for all", {}},
  };
  return kOptions;
}

void print_train_help(const Arguments& arguments) {
  const bool all = arguments.text("help") == "all";
  print_help(
      "modlab train: train one network or a population on a task\n\n"
      "  modlab train --task depth2 --model modular-shared --seed 0..99\n"
      "  modlab train --task depth2 --model dense,modular-shared --ratio 0.3,0.5,0.7 --seed 0..24\n"
      "  modlab train --model dense,modular-shared --split-seed 40..49 --seed 0..9 --compare\n"
      "  modlab train --task mnist-xor-and --model modular-shared --samples 100 --epochs 30\n\n"
      "Lists (0.1,0.01) and ranges (0..99) in any setting multiply into a population. The flags of the\n"
      "published script work too. A run of a study is replayed with --from DIR --run ID.\n{}\n{}Output\n{}",
      all ? "" : "These are the settings of the task and model named here; `--help all` lists those of every kind.\n",
      describe_settings(arguments, all), describe_options(own_train_options()));
}

// Writes what runs were after every epoch, in the order of the runs, though they finish in any. Kinds differ in what
// they know of an epoch: writing begins when a run of each is there, and a column is there if some kind has it.
class CurveWriter {
 public:
  CurveWriter(const std::string& path, const std::vector<experiments::Run>& runs) : file_(path), keys_(runs) {
    for (const experiments::Run& run : runs) {
      if (std::ranges::find(kinds_, run.kind) == kinds_.end()) {
        kinds_.push_back(run.kind);
      }
    }
  }

  void add(std::size_t number, const experiments::Run& run, const std::string& table) {
    const auto added = waiting_.emplace(number, std::pair(keys_.start(number, run), report::EpochTable(table))).first;
    if (examples_.size() < kinds_.size() && examples_.emplace(run.kind, added->second.second).second &&
        examples_.size() == kinds_.size()) {
      for (const experiments::Experiment* kind : kinds_) {
        examples_.at(kind).add_names(columns_);
      }
      file_.write(keys_.header() + "," + join_text(columns_, ",") + "\n");
    }
    for (auto next = waiting_.find(next_run_); !columns_.empty() && next != waiting_.end();
         next = waiting_.find(next_run_)) {
      file_.write(next->second.second.lines(next->second.first, columns_));
      waiting_.erase(next);
      ++next_run_;
    }
  }
  void commit() { file_.commit(); }

 private:
  io::AtomicFile file_;
  report::RunKeys keys_;
  std::vector<const experiments::Experiment*> kinds_;  // in the order of the runs
  std::map<const experiments::Experiment*, report::EpochTable> examples_;
  std::vector<std::string> columns_;
  std::map<std::size_t, std::pair<std::string, report::EpochTable>> waiting_;
  std::size_t next_run_ = 0;
};

// Where the results of a population go: table or JSON, CSV, curves, saved networks.
class Results {
 public:
  // Places that cannot be written come to light here, before anything is trained.
  Results(const std::vector<experiments::Run>& runs, const Arguments& arguments)
      : runs_(runs),
        as_json_(arguments.is_on("json")),
        folder_(arguments.text("save")),
        compares_(arguments.has("compare")),
        compared_(arguments.text("compare")),
        summaries_(runs.size()),
        objects_(as_json_ ? runs.size() : 0) {
    for (std::size_t number = 0; number < runs.size(); ++number) {
      place_[runs[number].number] = number;
    }
    if (arguments.has("csv")) {
      table_.emplace(arguments.text("csv"));
    }
    if (arguments.has("curves")) {
      curves_.emplace(arguments.text("curves"), runs);
    }
    if (!folder_.empty()) {
      io::prepare_folder(folder_);
    }
    if (compares_) {
      comparisons();  // says if there is nothing to compare
    }
  }

  // From any thread.
  void take(std::vector<experiments::FinishedRun>&& finished) {
    const std::lock_guard lock(mutex_);
    for (experiments::FinishedRun& run : finished) {
      take_one(*run.run, std::move(run.result));
    }
  }

  // Throws Interrupted if not all runs arrived.
  void commit() {
    if (finished_ < runs_.size()) {
      throw Interrupted(fmt::format("Stopped: {} of {} networks are done{}.", finished_, runs_.size(),
                                    folder_.empty() ? "; nothing was written" : " and saved in " + folder_));
    }
    if (table_) {
      std::vector<report::RunRow> rows;
      for (std::size_t number = 0; number < runs_.size(); ++number) {
        rows.push_back({&runs_[number], summaries_[number].diverged, &summaries_[number].numbers});
      }
      table_->write(report::run_table(rows));
      table_->commit();
    }
    if (curves_) {
      curves_->commit();
    }
  }

  void print(double seconds, int threads, const char* target) const {
    if (as_json_) {
      nlohmann::ordered_json output;
      output["runs"] = objects_;
      if (compares_) {
        output["comparisons"] = nlohmann::ordered_json::array();
        for (const studies::Comparison& comparison : comparisons()) {
          output["comparisons"].push_back(report::comparison_json(comparison));
        }
      }
      output["seconds"] = seconds;
      output["threads"] = threads;
      output["target"] = target;
      fmt::print("{}\n", output.dump());
      return;
    }
    fmt::print("{}", train_table(runs_, summaries_));
    if (compares_) {
      print_comparisons();
    }
    fmt::print("{} network{} in {:.2f} s, {} ({}, {} thread{}).\n", runs_.size(), runs_.size() == 1 ? "" : "s", seconds,
               rate_text(static_cast<double>(runs_.size()), seconds), target, threads, threads == 1 ? "" : "s");
  }

 private:
  std::vector<studies::Comparison> comparisons() const {
    std::vector<studies::ComparedRun> compared;
    for (std::size_t number = 0; number < runs_.size(); ++number) {
      compared.push_back({&runs_[number], &summaries_[number].numbers});
    }
    return studies::compare_runs(compared, compared_);
  }

  void print_comparisons() const {
    for (const studies::Comparison& comparison : comparisons()) {
      fmt::print("\n{} against {}{}: {}\n  {}\n", comparison.value, comparison.reference,
                 comparison.where.empty() ? "" : " (" + comparison.where + ")", comparison.measure->label,
                 report::comparison_text(comparison));
    }
    fmt::print("\n");
  }

  void take_one(const experiments::Run& run, experiments::Result&& result) {
    const std::size_t number = place_.at(run.number);
    summaries_[number] = {result.diverged, result.snapshots.at("best"), result.seconds};
    if (as_json_ || !folder_.empty()) {
      nlohmann::ordered_json object = run.kind->run_json(run, result);
      if (!folder_.empty()) {
        save(run.id(), object, result);
      }
      if (as_json_) {
        objects_[number] = std::move(object);
      }
    }
    if (curves_) {
      curves_->add(number, run, result.blobs["epochs.csv"]);
    }
    ++finished_;
  }

  // "file.safetensors" becomes ID.safetensors.
  void save(const std::string& id, const nlohmann::ordered_json& run, const experiments::Result& result) const {
    constexpr std::string_view kFile = "file";
    io::write_file(folder_ + "/" + id + ".json", run.dump(2) + "\n");
    for (const auto& [name, bytes] : result.blobs) {
      if (name.starts_with("file.")) {
        io::write_file(folder_ + "/" + id + name.substr(kFile.size()), bytes);
      }
    }
  }

  const std::vector<experiments::Run>& runs_;
  std::unordered_map<std::uint64_t, std::size_t> place_;  // of a run, which the batch may have put elsewhere
  bool as_json_;
  std::string folder_;
  bool compares_;
  std::string compared_;  // the setting; empty: the model
  std::mutex mutex_;
  std::vector<RunSummary> summaries_;
  std::vector<nlohmann::ordered_json> objects_;
  std::optional<io::AtomicFile> table_;
  std::optional<CurveWriter> curves_;
  std::size_t finished_ = 0;
};

// The runs to train: what the settings multiply to, or runs of a study by name.
studies::StoredRuns wanted_runs(const Arguments& arguments) {
  if (!arguments.has("run") && !arguments.has("from")) {
    return {{}, runs_from(arguments)};
  }
  if (!arguments.has("run") || !arguments.has("from")) {
    throw ConfigError("--run names runs of a study and --from its folder; give both");
  }
  for (const std::string& name : experiments::setting_names()) {
    if (arguments.has(name)) {
      throw ConfigError(fmt::format("--run replays a run as it was; leave --{} out", name));
    }
  }
  studies::StoredRuns stored = studies::stored_runs(arguments.text("from"), arguments.words("run"));
  if (!std::ranges::all_of(stored.runs, [](const experiments::Run& run) { return run.kind->is_replayable(); })) {
    give_notice("what runs on libtorch is the same on the same machine with as many threads, not on every one");
  }
  return stored;
}

}  // namespace

int run_train(std::span<const std::string> words) {
  std::vector<Option> options = setting_options();
  options.insert(options.end(), own_train_options().begin(), own_train_options().end());
  const std::vector<Option> published = published_options();
  options.insert(options.end(), published.begin(), published.end());
  const Arguments arguments(words, options);
  if (arguments.has("help")) {
    print_train_help(arguments);
    return 0;
  }
  if (!arguments.positional().empty()) {
    throw ConfigError(
        fmt::format("'{}' belongs to no setting; settings begin with --", arguments.positional().front()));
  }
  const int threads = thread_count(arguments);
  const experiments::Resources resources{threads, &engine::kernels()};
  const experiments::Wanted wanted{
      .structure = arguments.has("csv"), .epoch_table = arguments.has("curves"), .network_file = arguments.has("save")};
  const studies::StoredRuns asked = while_planning([&] { return wanted_runs(arguments); });
  const std::vector<experiments::Run>& runs = asked.runs;
  studies::Batch batch = while_planning([&] { return studies::Batch(runs, resources, wanted); });

  std::optional<ProgressBar> bar(std::in_place, watched(batch), arguments.is_on("json"));
  Results results(runs, arguments);
  batch.execute([&](std::vector<experiments::FinishedRun>&& finished) { results.take(std::move(finished)); });
  const double seconds = bar->seconds();
  results.commit();
  // From here on Ctrl-C may end the program as it likes: nothing is half written.
  bar.reset();
  results.print(seconds, threads, resources.kernels->target);
  return 0;
}

}  // namespace modlab::cli
