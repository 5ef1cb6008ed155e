#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <thread>

#include "cli/arguments.h"
#include "cli/progress_bar.h"
#include "cli/published_flags.h"
#include "cli/run_list.h"
#include "cli/threads.h"
#include "cli/train_table.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/text.h"
#include "io/file.h"
#include "io/json_text.h"
#include "models/population.h"
#include "models/saved_network.h"
#include "models/settings.h"
#include "studies/store.h"
#include "tasks/truth_table.h"

namespace modlab::cli {
namespace {

const std::vector<Option>& own_train_options() {
  static const std::vector<Option> kOptions = {
      {"from", Arity::kOne, "DIR", "train runs of a study again: with --run, and to the same bits", {}},
      {"run", Arity::kMany, "ID", "names of those runs, as tables and the report have them", {}},
      {"threads", Arity::kOne, "N", "threads to train on; default: all cores", {}},
      {"json", Arity::kSwitch, "", "print one JSON object instead of the table", {}},
      {"curves", Arity::kOne, "FILE", "write losses and accuracies of every epoch as CSV", {}},
      {"save", Arity::kOne, "DIR", "write every network as ID.safetensors, with its settings in ID.json", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

void print_train_help() {
  fmt::print(
      "modlab train: train one network or a population on a task\n\n"
      "  modlab train --task depth2 --model modular-shared --seed 0..99\n"
      "  modlab train --task depth2 --model dense,modular-shared --ratio 0.3,0.5,0.7 --seed 0..24\n"
      "  modlab train --task mnist-xor-and --model modular-shared --samples 100 --epochs 30\n\n"
      "Lists (0.1,0.01) and ranges (0..99) in any setting multiply into a population. The flags of the\n"
      "published script work too. A run of a study is replayed with --from DIR --run ID.\n\nSettings\n{}\nOutput\n{}",
      describe_options(setting_options()), describe_options(own_train_options()));
}

// Writes the curves of runs in their order, though they finish in any.
class CurveWriter {
 public:
  CurveWriter(const std::string& path, const models::Plan& plan) : plan_(plan), file_(path) {
    const bool on_images = std::ranges::any_of(plan.runs, &models::RunSpec::on_images);
    parts_ = on_images ? engine::kScoreParts : engine::kParts;
    const models::PartRows names = models::part_rows(plan.runs.front(), plan.suite_of(plan.runs.front()));
    std::string header = "run,id,epoch";
    for (const char* quantity : {"loss", "accuracy", "row_accuracy"}) {
      for (std::size_t part = 0; part < parts_; ++part) {
        header += fmt::format(",{}_{}", models::part_name(part, names), quantity);
      }
    }
    file_.write(header + "\n");
  }

  void add(std::size_t run, std::vector<engine::Scores>&& curve) {
    waiting_.emplace(run, std::move(curve));
    for (auto next = waiting_.find(next_run_); next != waiting_.end(); next = waiting_.find(next_run_)) {
      write(next_run_++, next->second);
      waiting_.erase(next);
    }
  }
  void commit() { file_.commit(); }

 private:
  void write(std::size_t run, const std::vector<engine::Scores>& curve) {
    const models::RunSpec& spec = plan_.runs[run];
    const models::PartRows rows = models::part_rows(spec, plan_.suite_of(spec));
    const std::string id = models::run_id(spec);
    std::string text;
    for (std::size_t epoch = 0; epoch < curve.size(); ++epoch) {
      text += fmt::format("{},{},{}", run, id, epoch + 1);
      // A part that a run does not have (a table may mix tasks) stays empty.
      const auto each_part = [&](const auto& value) {
        for (std::size_t part = 0; part < parts_; ++part) {
          text += rows[part] > 0 ? "," + value(curve[epoch].parts[part], rows[part]) : ",";
        }
      };
      using engine::PartScore;
      each_part([](const PartScore& score, int) { return fmt::format("{}", score.loss); });
      each_part([&](const PartScore& score, int count) {
        return fmt::format("{:.6g}", 100.0 * score.right_bits / (count * rows.outputs));
      });
      each_part(
          [](const PartScore& score, int count) { return fmt::format("{:.6g}", 100.0 * score.right_rows / count); });
      text += '\n';
    }
    file_.write(text);
  }

  const models::Plan& plan_;
  io::AtomicFile file_;
  std::size_t parts_ = 0;
  std::map<std::size_t, std::vector<engine::Scores>> waiting_;
  std::size_t next_run_ = 0;
};

void save_network(const std::string& folder, const models::RunSpec& spec, const engine::Layout& layout,
                  const engine::LaneResult& result, const nlohmann::ordered_json& run) {
  const std::string path = folder + "/" + models::run_id(spec);
  io::write_file(path + ".json", run.dump(2) + "\n");
  io::write_file(path + ".safetensors", io::encode_safetensors(models::to_tensor_file(layout, result, run)));
}

std::string base_rates(const models::Plan& plan) {
  std::string text;
  for (const auto& [name, suite] : plan.suites) {
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", name, 100.0 * tasks::always_zero_accuracy(suite));
  }
  return text;
}

// Where the results of a population go: table or JSON, curves, saved networks.
class Results {
 public:
  // Places that cannot be written come to light here, before anything is trained.
  Results(const models::Plan& plan, const Arguments& arguments)
      : plan_(plan),
        as_json_(arguments.is_on("json")),
        folder_(arguments.text("save")),
        summaries_(plan.runs.size()),
        objects_(as_json_ ? plan.runs.size() : 0) {
    if (arguments.has("curves")) {
      curves_.emplace(arguments.text("curves"), plan);
    }
    if (!folder_.empty()) {
      io::prepare_folder(folder_);
    }
  }

  void take(std::size_t run, const models::Blueprint& blueprint, engine::LaneResult&& result) {
    const models::RunSpec& spec = plan_.runs[run];
    const models::PartRows rows = models::part_rows(spec, plan_.suite_of(spec));
    const auto accuracy = [&](engine::Part part) {
      const int count = rows[static_cast<std::size_t>(part)];
      return count > 0 ? 100.0 * result.best.scores[part].right_bits / (count * rows.outputs) : 0;
    };
    summaries_[run] = {result.diverged, result.best.epoch, accuracy(engine::Part::kTest), accuracy(engine::Part::kSeen),
                       result.seconds};
    if (as_json_ || !folder_.empty()) {
      nlohmann::ordered_json object =
          models::run_json(spec, result, rows, static_cast<int>(plan_.suite_of(spec).tasks.size()));
      if (!folder_.empty()) {
        save_network(folder_, spec, blueprint.layout, result, object);
      }
      if (as_json_) {
        objects_[run] = std::move(object);
      }
    }
    if (curves_) {
      curves_->add(run, std::move(result.curve));
    }
    ++finished_;
  }

  // Throws Interrupted if not all runs arrived.
  void commit() {
    if (finished_ < plan_.runs.size()) {
      throw Interrupted(fmt::format("Stopped: {} of {} networks are done{}.", finished_, plan_.runs.size(),
                                    folder_.empty() ? "; nothing was written" : " and saved in " + folder_));
    }
    if (curves_) {
      curves_->commit();
    }
  }

  void print(double seconds, int threads, const char* target) const {
    if (as_json_) {
      nlohmann::ordered_json output;
      output["runs"] = objects_;
      output["seconds"] = seconds;
      output["threads"] = threads;
      output["target"] = target;
      fmt::print("{}\n", output.dump());
      return;
    }
    fmt::print("{}\n", train_table(plan_, summaries_));
    const bool on_images = std::ranges::any_of(plan_.runs, &models::RunSpec::on_images);
    fmt::print(
        "{} accuracy is per bit, at the first best validation epoch; always 0 scores {}.\n",
        on_images ? "Unseen (digit combinations in no training sample) and seen (new images of the others)" : "Test",
        base_rates(plan_));
    const double rate = static_cast<double>(plan_.runs.size()) / seconds;
    fmt::print("{} network{} in {:.2f} s, {} ({}, {} thread{}).\n", plan_.runs.size(),
               plan_.runs.size() == 1 ? "" : "s", seconds,
               rate >= 1 ? fmt::format("{:.0f} a second", rate) : fmt::format("{:.1f} s each", 1 / rate), target,
               threads, threads == 1 ? "" : "s");
  }

 private:
  const models::Plan& plan_;
  bool as_json_;
  std::string folder_;
  std::vector<RunSummary> summaries_;
  std::vector<nlohmann::ordered_json> objects_;
  std::optional<CurveWriter> curves_;
  std::size_t finished_ = 0;
};

// The runs to train: what the settings multiply to, or runs of a study by name.
std::vector<models::RunSpec> wanted_runs(const Arguments& arguments) {
  if (!arguments.has("run") && !arguments.has("from")) {
    return runs_from(arguments);
  }
  if (!arguments.has("run") || !arguments.has("from")) {
    throw ConfigError("--run names runs of a study and --from its folder; give both");
  }
  for (const models::Setting& setting : models::settings()) {
    if (arguments.has(setting.name)) {
      throw ConfigError(fmt::format("--run replays a run as it was; leave --{} out", setting.name));
    }
  }
  studies::Store store = studies::Store::open(arguments.text("from"));
  std::vector<models::RunSpec> runs;
  for (const std::string& id : arguments.words("run")) {
    const std::optional<std::string> settings = store.settings(id);
    if (!settings) {
      throw ConfigError(fmt::format("{} has no run '{}'; `modlab export` lists them", store.path(), id));
    }
    runs.push_back(models::spec_from_json(io::parse_json(*settings), store.path()));
  }
  return runs;
}

}  // namespace

int run_train(std::span<const std::string> words) {
  std::vector<Option> options = setting_options();
  options.insert(options.end(), own_train_options().begin(), own_train_options().end());
  const std::vector<Option> published = published_options();
  options.insert(options.end(), published.begin(), published.end());
  const Arguments arguments(words, options);
  if (arguments.has("help")) {
    print_train_help();
    return 0;
  }
  if (!arguments.positional().empty()) {
    throw ConfigError(
        fmt::format("'{}' belongs to no setting; settings begin with --", arguments.positional().front()));
  }
  const int threads = thread_count(arguments);
  const engine::Kernels<float>& kernels = engine::kernels();
  const std::vector<models::RunSpec> runs = wanted_runs(arguments);
  if (std::ranges::any_of(runs, &models::RunSpec::is_sculpted)) {
    throw ConfigError("a sculpted network is pruned as well as trained; use `modlab sculpt`");
  }
  const models::Plan plan = models::make_plan(runs);

  engine::Progress progress;
  std::optional<ProgressBar> bar(std::in_place, progress,
                                 networks_trained(progress, plan.runs.size(), models::total_epochs(plan)),
                                 arguments.is_on("json"));
  Results results(plan, arguments);
  models::train_population(plan, threads, kernels, progress,
                           [&](std::size_t run, const models::Blueprint& blueprint, engine::LaneResult&& result) {
                             results.take(run, blueprint, std::move(result));
                           });
  const double seconds = bar->seconds();
  results.commit();
  // From here on Ctrl-C may end the program as it likes: nothing is half written.
  bar.reset();
  results.print(seconds, threads, kernels.target);
  return 0;
}

}  // namespace modlab::cli
