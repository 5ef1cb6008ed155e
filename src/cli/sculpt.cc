#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "cli/arguments.h"
#include "cli/planning_note.h"
#include "cli/progress_bar.h"
#include "cli/run_list.h"
#include "cli/terminal.h"
#include "cli/threads.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/text.h"
#include "experiments/sculpt/sculpt.h"
#include "experiments/sculpt/trial_files.h"
#include "experiments/sculpt/trials.h"
#include "methods/detect/unit_names.h"
#include "methods/sculpt/judged_trial.h"
#include "methods/sculpt/sculpt_settings.h"

namespace modlab::cli {
namespace {

const std::vector<Option>& own_sculpt_options() {
  static const std::vector<Option> kOptions = {
      {"save", Arity::kOne, "DIR", "where networks and histories go; default: sculpted", {}},
      {"replace", Arity::kFlag, "", "write into that folder though it holds an earlier run's networks", {}},
      {"branch", Arity::kOne, "NAMES", "also grow random, reinitialised, rewound, one-shot from the history", {}},
      {"level", Arity::kOne, "N", "of the history to branch from: accepted steps, 0 is dense; default: the last", {}},
      {"branch_seeds", Arity::kOne, "SEEDS", "for each branch; default: 0..9", {}},
      {"threads", Arity::kOne, "N", "threads to train on; default: all cores", {}},
      {"json", Arity::kSwitch, "", "print one JSON object instead of the table", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

// The settings of a sculpted network, but for its model.
std::vector<Option> sculpt_setting_options() {
  std::vector<Option> options;
  for (const settings::Setting& setting : experiments::sculpt().settings()) {
    if (setting.role != settings::Setting::Role::kModel && setting.role != settings::Setting::Role::kFact) {
      options.push_back({setting.name, Arity::kMany, setting.value, setting.help, {}});
    }
  }
  return options;
}

void print_sculpt_help() {
  print_help(
      "modlab sculpt: train dense networks, prune them as far as accuracy allows, and read their modules off\n\n"
      "  modlab sculpt --task sculpt/4-2-4 --hidden 24,24 --seed 0..3\n"
      "  modlab sculpt --task depth2 --hidden 36,36 --seed 0..9 --epoch-search true\n"
      "  modlab sculpt --task sculpt/4-2-4 --branch random,one-shot --level 5\n\n"
      "Every pair of first steps (unit-steps and edge-steps) is one way to prune; the networks with the fewest edges\n"
      "win, and all that are tied are kept. Learning rate, batch size and epochs are the published ones where there\n"
      "are any. `modlab detect sculpted/networks.jsonl` looks closer.\n\nSettings\n{}\nOutput\n{}",
      describe_settings(experiments::sculpt()), describe_options(own_sculpt_options()));
}

// "{x1 x2 y1 y2} {x3 x4 y3 y4}": inputs and outputs of each module, hidden units where it has neither.
std::string modules_text(const methods::JudgedNetwork& judged, const tasks::Task& task) {
  const methods::UnitNames names(judged.network, task);
  const int last = judged.network.layers() - 1;
  std::vector<std::string> modules;
  for (const methods::Module& module : methods::hierarchy(judged.network, judged.detection).modules) {
    std::vector<methods::UnitPlace> ends;
    std::vector<methods::UnitPlace> hidden;
    for (int layer = 0; layer <= last; ++layer) {
      for (const int unit : module.units[layer]) {
        (layer == 0 || layer == last ? ends : hidden).push_back({layer, unit});
      }
    }
    modules.push_back("{" + names.list(ends.empty() ? hidden : ends) + "}");
  }
  return join_text(modules, " ");
}

std::string sizes_text(const methods::Detection& detection) {
  std::vector<std::size_t> sizes;
  for (const std::vector<int>& layer : detection.live) {
    sizes.push_back(layer.size());
  }
  return fmt::format("{}", fmt::join(sizes, "-"));
}

// What is said of a trial's structure, with all tied networks open.
std::string success_text(const methods::JudgedTrial& judged) {
  const std::optional<double> share = judged.success();
  if (!share) {
    return "not known";
  }
  const auto ties = judged.networks.size();
  const auto good = static_cast<std::size_t>(std::lround(*share * static_cast<double>(ties)));
  return ties == 1 ? (good == 1 ? "yes" : "no") : fmt::format("{} of {}", good, ties);
}

// One architecture and its runs, as a heading and a line for each.
class TrialTable {
 public:
  explicit TrialTable(const experiments::Trials& trials) : trials_(trials) {}

  void print(std::size_t number, const methods::SculptResult& result, const methods::JudgedTrial& judged) {
    const methods::SculptRun& run = trials_.runs()[number];
    print_heading(run, result.epochs);
    const methods::TrialOutcome& outcome = result.outcome;
    if (outcome.winners.empty()) {
      fmt::print("{:<6} {:>7.1f} %  not learned in {} epochs: {:g} % are needed, so it was not pruned\n", run.seed,
                 outcome.dense_accuracy, result.epochs, run.sculpt.threshold);
      return;
    }
    const methods::JudgedNetwork& first = judged.networks.front();
    fmt::print("{:<6} {:>7.1f} %  {:>6} {:>5}  {:<14} {:>4}  {:<9}  {}\n", run.seed, outcome.dense_accuracy,
               first.network.full_edge_count(), first.network.edge_count(), sizes_text(first.detection),
               judged.networks.size(), success_text(judged), modules_text(first, trials_.task_of(number)));
  }

 private:
  void print_heading(const methods::SculptRun& run, int epochs) {
    const std::string heading = fmt::format("{}, hidden {}: lr {}, batches of {}, {} epochs, {} ways to prune",
                                            run.task, fmt::join(run.hidden, ","), run.lr, run.batch_size, epochs,
                                            run.sculpt.unit_steps.size() * run.sculpt.edge_steps.size());
    if (heading == last_heading_) {
      return;
    }
    fmt::print("{}{}\n", last_heading_.empty() ? "" : "\n", heading);
    fmt::print("{:<6} {:>9}  {:>6} {:>5}  {:<14} {:>4}  {:<9}  {}\n", "seed", "dense", "edges", "left", "live units",
               "tied", "true ones", "modules: inputs and outputs");
    last_heading_ = heading;
  }

  const experiments::Trials& trials_;
  std::string last_heading_;
};

const settings::Setting& seed_setting() {
  return *std::ranges::find(experiments::sculpt().settings(), settings::Setting::Role::kSeed, &settings::Setting::role);
}

experiments::BranchRequest branches_from(const Arguments& arguments) {
  experiments::BranchRequest request;
  if (!arguments.has("branch")) {
    for (const char* option : {"level", "branch_seeds"}) {
      if (arguments.has(option)) {
        throw ConfigError(fmt::format("--{} is for --branch; name one", arguments.given_as(option)));
      }
    }
    return request;
  }
  for (const std::string& name : split_text(arguments.text("branch"), ',')) {
    request.branches.push_back(methods::branch_from_name(name));
  }
  if (arguments.has("level")) {
    const std::optional<long long> level = parse_integer(arguments.text("level"));
    if (!level || *level < 0) {
      throw ConfigError(fmt::format("--level must be a whole number from 0, not '{}'", arguments.text("level")));
    }
    request.level = static_cast<std::size_t>(*level);
  }
  for (const std::string& seed : settings::expand_values(seed_setting(), {arguments.text("branch_seeds", "0..9")})) {
    const std::optional<long long> number = parse_integer(seed);
    if (!number || *number < 0) {
      throw ConfigError(fmt::format("--branch-seeds must be whole numbers from 0, not '{}'", seed));
    }
    request.seeds.push_back(static_cast<std::uint64_t>(*number));
  }
  return request;
}

void print_branches(const nlohmann::ordered_json& rows) {
  for (const nlohmann::ordered_json& row : rows) {
    const std::string modules = row["same_mask"].get<bool>()
                                    ? "the same wiring"
                                    : fmt::format("{} have the true modules", row["true_modules"].get<int>());
    fmt::print(
        "         {:<13} from level {:>2} ({} edges): {:>2} of {} meet the threshold, mean accuracy {:.1f} %, {}\n",
        row["branch"].get<std::string>(), row["level"].get<int>(), row["edges_of_level"].get<int>(),
        row["meet_threshold"].get<int>(), row["networks"].get<int>(), row["mean_accuracy"].get<double>(), modules);
  }
}

}  // namespace

int run_sculpt(std::span<const std::string> words) {
  std::vector<Option> options = sculpt_setting_options();
  options.insert(options.end(), own_sculpt_options().begin(), own_sculpt_options().end());
  const Arguments arguments(words, options);
  if (arguments.has("help")) {
    print_sculpt_help();
    return 0;
  }
  if (!arguments.positional().empty()) {
    throw ConfigError(
        fmt::format("'{}' belongs to no setting; settings begin with --", arguments.positional().front()));
  }
  const int threads = thread_count(arguments);
  const engine::Kernels<float>& kernels = engine::kernels();
  experiments::Trials trials =
      while_planning([&] { return experiments::Trials(runs_from(arguments, methods::kSculptedModel)); });
  const experiments::BranchRequest request = branches_from(arguments);
  experiments::SculptFolder folder(arguments.text("save", "sculpted"), arguments.has("replace"));

  double seconds = 0;
  {
    const ProgressBar bar(watched(trials), arguments.is_on("json"));
    trials.execute({threads, &kernels});
    seconds = bar.seconds();
  }
  const std::size_t count = trials.runs().size();
  if (trials.finished() < count) {
    throw Interrupted(fmt::format("Stopped: {} of {} trials are done; nothing was written.", trials.finished(), count));
  }

  TrialTable table(trials);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t number = 0; number < count; ++number) {
    const methods::SculptRun& run = trials.runs()[number];
    const methods::SculptResult& result = trials.result(number);
    const methods::JudgedTrial judged = methods::judge(result.outcome, trials.task_of(number), run.detect);
    nlohmann::ordered_json trial = experiments::trial_json(run, result, judged);
    if (!result.outcome.winners.empty() && !request.branches.empty()) {
      trial["branches"] = experiments::grow_all(request, run, result.epochs, trials.suite_of(number),
                                                result.outcome.winners.front(), kernels);
    }
    folder.add(run, result, trial);
    if (!arguments.is_on("json")) {
      table.print(number, result, judged);
      if (trial.contains("branches")) {
        print_branches(trial["branches"]);
      }
    }
    list.push_back(std::move(trial));
  }
  folder.commit();
  if (arguments.is_on("json")) {
    const nlohmann::ordered_json output = {
        {"trials", list}, {"seconds", seconds}, {"threads", threads}, {"target", kernels.target}};
    fmt::print("{}\n", output.dump());
    return 0;
  }
  fmt::print(
      "\n{} trial{}, {} trainings in {:.2f} s ({}, {} thread{}). Saved in {}: networks.jsonl, history.jsonl,\n"
      "dense.jsonl, trials.json.\n",
      count, count == 1 ? "" : "s", trials.trainings(), seconds, kernels.target, threads, threads == 1 ? "" : "s",
      folder.path());
  return 0;
}

}  // namespace modlab::cli
