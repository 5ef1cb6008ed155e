#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "cli/arguments.h"
#include "cli/progress_bar.h"
#include "cli/run_list.h"
#include "cli/sculpt_folder.h"
#include "cli/threads.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/text.h"
#include "methods/detect/unit_names.h"
#include "methods/sculpt/branches.h"
#include "methods/sculpt/judged_trial.h"
#include "methods/sculpt/sculpt.h"
#include "models/blueprint.h"
#include "models/settings.h"
#include "tasks/task_file.h"

namespace modlab::cli {
namespace {

const std::vector<Option>& own_sculpt_options() {
  static const std::vector<Option> kOptions = {
      {"save", Arity::kOne, "DIR", "where networks and histories go; default: sculpted", {}},
      {"branch", Arity::kOne, "NAMES", "also grow random, reinitialised, rewound, one-shot from the history", {}},
      {"level", Arity::kOne, "N", "of the history to branch from: accepted steps, 0 is dense; default: the last", {}},
      {"branch_seeds", Arity::kOne, "SEEDS", "for each branch; default: 0..9", {}},
      {"threads", Arity::kOne, "N", "threads to train on; default: all cores", {}},
      {"json", Arity::kSwitch, "", "print one JSON object instead of the table", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

// The settings that mean something to a sculpted network, but for its model.
std::vector<Option> sculpt_setting_options() {
  const models::RunSpec spec = models::starting_spec(models::RunSpec{}.task, models::ModelKind::kSculpted);
  std::vector<Option> options;
  for (const models::Setting& setting : models::settings()) {
    if (models::applies(setting, spec) && setting.name != "model" && setting.name != "task_input") {
      options.push_back({setting.name, Arity::kMany, setting.value, setting.help, {}});
    }
  }
  return options;
}

void print_sculpt_help() {
  fmt::print(
      "modlab sculpt: train dense networks, prune them as far as accuracy allows, and read their modules off\n\n"
      "  modlab sculpt --task sculpt/4-2-4 --hidden 24,24 --seed 0..3\n"
      "  modlab sculpt --task depth2 --hidden 36,36 --seed 0..9 --epoch-search true\n"
      "  modlab sculpt --task sculpt/4-2-4 --branch random,one-shot --level 5\n\n"
      "Every pair of first steps (unit-steps and edge-steps) is one way to prune; the networks with the fewest edges\n"
      "win, and all that are tied are kept. Learning rate, batch size and epochs are the published ones where there\n"
      "are any. `modlab detect sculpted/networks.jsonl` looks closer.\n\nSettings\n{}\nOutput\n{}",
      describe_options(sculpt_setting_options()), describe_options(own_sculpt_options()));
}

// All runs, resolved, and their tasks.
struct SculptPlan {
  std::vector<models::RunSpec> runs;
  std::map<std::string, tasks::TaskSuite> suites;

  const tasks::TaskSuite& suite_of(const models::RunSpec& run) const { return suites.at(run.task); }
};

SculptPlan plan_from(const Arguments& arguments) {
  SculptPlan plan;
  for (const models::RunSpec& run : runs_from(arguments, models::ModelKind::kSculpted)) {
    auto suite = plan.suites.find(run.task);
    if (suite == plan.suites.end()) {
      suite = plan.suites.emplace(run.task, tasks::load_task(run.task)).first;
    }
    plan.runs.push_back(models::resolve(run, suite->second));
  }
  return plan;
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
  const auto good = static_cast<std::size_t>(*share * static_cast<double>(ties) + 0.5);
  return ties == 1 ? (good == 1 ? "yes" : "no") : fmt::format("{} of {}", good, ties);
}

// One architecture and its runs, as a heading and a line for each.
class Table {
 public:
  explicit Table(const SculptPlan& plan) : plan_(plan) {}

  void print(std::size_t number, const methods::SculptResult& result, const methods::JudgedTrial& judged) {
    const models::RunSpec& run = plan_.runs[number];
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
               judged.networks.size(), success_text(judged), modules_text(first, plan_.suite_of(run).tasks.front()));
  }

 private:
  void print_heading(const models::RunSpec& run, int epochs) {
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

  const SculptPlan& plan_;
  std::string last_heading_;
};

struct BranchRequest {
  std::vector<methods::Branch> branches;
  std::optional<std::size_t> level;
  std::vector<std::uint64_t> seeds;
};

BranchRequest branches_from(const Arguments& arguments) {
  BranchRequest request;
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
  for (const std::string& seed :
       models::expand_values(*models::find_setting("seed"), {arguments.text("branch_seeds", "0..9")})) {
    const std::optional<long long> number = parse_integer(seed);
    if (!number || *number < 0) {
      throw ConfigError(fmt::format("--branch-seeds must be whole numbers from 0, not '{}'", seed));
    }
    request.seeds.push_back(static_cast<std::uint64_t>(*number));
  }
  return request;
}

// What each branch came to, over its seeds.
nlohmann::ordered_json grow(const BranchRequest& request, const models::RunSpec& run, int epochs,
                            const tasks::TaskSuite& suite, const methods::SculptedNetwork& carved,
                            const engine::Kernels<float>& kernels) {
  const std::vector<const methods::PruneStep*> steps = methods::accepted_steps(carved);
  const std::size_t level = request.level.value_or(steps.size() - 1);
  const std::vector<methods::BranchResult> results =
      methods::grow_branches(run, epochs, suite, carved, level, request.branches, request.seeds, kernels);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const methods::Branch branch : request.branches) {
    int learned = 0;
    int expected = 0;
    double accuracy = 0;
    double edges = 0;
    int count = 0;
    for (const methods::BranchResult& result : results) {
      if (result.branch != branch) {
        continue;
      }
      ++count;
      accuracy += result.accuracy;
      edges += result.network.edge_count();
      learned += result.accuracy >= run.sculpt.threshold ? 1 : 0;
      const methods::Detection detection = methods::detect(methods::to_layered(result.network), run.detect);
      expected += methods::is_success(detection, suite.tasks.front()).value_or(false) ? 1 : 0;
    }
    rows.push_back({{"branch", methods::branch_name(branch)},
                    {"level", level},
                    {"edges_of_level", steps[level]->edges},
                    {"networks", count},
                    {"mean_edges", edges / count},
                    {"mean_accuracy", accuracy / count},
                    {"meet_threshold", learned},
                    {"true_modules", expected},
                    {"same_mask", methods::keeps_mask(branch)}});
  }
  return rows;
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
  const SculptPlan plan = plan_from(arguments);
  const BranchRequest request = branches_from(arguments);
  SculptFolder folder(arguments.text("save", "sculpted"));

  methods::SculptProgress progress;
  std::vector<std::optional<methods::SculptResult>> results(plan.runs.size());
  double seconds = 0;
  {
    const ProgressBar bar(progress.engine, trials_done(progress, plan.runs.size()), arguments.is_on("json"));
    methods::sculpt_networks(plan.runs, plan.suites, threads, kernels, progress,
                             [&](std::size_t run, methods::SculptResult result) { results[run] = std::move(result); });
    seconds = bar.seconds();
  }
  if (std::ranges::any_of(results, [](const auto& result) { return !result; })) {
    throw Interrupted(fmt::format("Stopped: {} of {} trials are done; nothing was written.",
                                  std::ranges::count_if(results, [](const auto& result) { return result.has_value(); }),
                                  results.size()));
  }

  Table table(plan);
  nlohmann::ordered_json trials = nlohmann::ordered_json::array();
  for (std::size_t number = 0; number < results.size(); ++number) {
    const models::RunSpec& run = plan.runs[number];
    const tasks::TaskSuite& suite = plan.suite_of(run);
    const methods::SculptResult& result = *results[number];
    const methods::JudgedTrial judged = methods::judge(result.outcome, suite.tasks.front(), run.detect);
    std::optional<methods::SculptedNetwork> carved;
    if (!result.outcome.winners.empty()) {
      const methods::SculptedNetwork& winner = result.outcome.winners.front();
      carved = methods::carve_again(run, result.epochs, suite, winner.unit_step, winner.edge_step, kernels);
    }
    nlohmann::ordered_json trial = trial_json(run, result, judged);
    if (carved && !request.branches.empty()) {
      trial["branches"] = grow(request, run, result.epochs, suite, *carved, kernels);
    }
    folder.add(run, result, carved, trial);
    if (!arguments.is_on("json")) {
      table.print(number, result, judged);
      if (trial.contains("branches")) {
        print_branches(trial["branches"]);
      }
    }
    trials.push_back(std::move(trial));
  }
  folder.commit();
  if (arguments.is_on("json")) {
    const nlohmann::ordered_json output = {
        {"trials", trials}, {"seconds", seconds}, {"threads", threads}, {"target", kernels.target}};
    fmt::print("{}\n", output.dump());
    return 0;
  }
  fmt::print(
      "\n{} trial{}, {} trainings in {:.2f} s ({}, {} thread{}). Saved in {}: networks.jsonl, history.jsonl,\n"
      "dense.jsonl, trials.json.\n",
      results.size(), results.size() == 1 ? "" : "s", progress.trainings.load(), seconds, kernels.target, threads,
      threads == 1 ? "" : "s", folder.path());
  return 0;
}

}  // namespace modlab::cli
