#include "bench/rivals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/errors.h"
#include "core/text.h"
#include "tasks/task_file.h"
#include "tasks/truth_table.h"

namespace modlab::bench {
namespace {

// Debian's own interpreter: python3-torch installs into this one, whatever else is on the PATH.
constexpr auto kPython = "/usr/bin/python3";

// torch.set_num_threads does not bind OpenBLAS, whose second thread costs more than it brings here.
constexpr auto kOneThread = "OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1";

constexpr double kFairShare = 1.0 / 3;
constexpr double kClearly = 1.1;

struct Output {
  int status = 0;
  std::string text;
};

Output run(const std::string& command) {
  Output output;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) {
    output.status = -1;
    return output;
  }
  char block[4096];
  while (const std::size_t count = std::fread(block, 1, sizeof(block), pipe)) {
    output.text.append(block, count);
  }
  output.status = ::pclose(pipe);
  return output;
}

// As one word of the shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char letter : text) {
    word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return word + "'";
}

// What a rival prints, which has `key`. Throws ConfigError if it fails.
nlohmann::json report_of(const std::string& command, const std::string& key) {
  const Output output = run(command + " 2>/dev/null");
  nlohmann::json report = nlohmann::json::parse(output.text, nullptr, false);
  if (output.status != 0 || !report.is_object() || !report.contains(key)) {
    throw ConfigError(fmt::format("PyTorch did not finish; `{}` shows why", command));
  }
  return report;
}

SpentTime spent_in(const nlohmann::json& report, const std::string& part) {
  return {1e-6 * report.at(part).get<double>(), 1e-6 * report.at("processor_" + part).get<double>()};
}

std::optional<RivalProducts> time_products(const std::string& core_type) {
  const Output output =
      run(fmt::format("{}{} {} {} 2>/dev/null", kOneThread, core_type.empty() ? "" : " OPENBLAS_CORETYPE=" + core_type,
                      kPython, quoted(MODLAB_SOURCE_DIR "/bench/rivals/products.py")));
  const nlohmann::json report = nlohmann::json::parse(output.text, nullptr, false);
  if (output.status != 0 || !report.is_object() || !report.contains("gflops")) {
    return std::nullopt;  // kernels with instructions that this processor does not have
  }
  const auto gflops = report["gflops"].get<double>();
  const std::string kernels = report.value("kernels", "");
  return RivalProducts{gflops, kernels, gflops, kernels};
}

// What stands before every command of a rival.
std::string environment() {
  const RivalProducts& products = rival_products();
  return products.kernels.empty() ? kOneThread : fmt::format("{} OPENBLAS_CORETYPE={}", kOneThread, products.kernels);
}

std::string mnist_command(const ImageWork& work, const std::string& folder, const std::string& options) {
  const models::ImageSpec& spec = work.spec;
  return fmt::format(
      "{} {} {} --data {} --model {} --ratio {} --split-seed {} --samples {} --test-samples {} --batch {} --lr {} "
      "--lr-structural {} --tau {} --weight-decay {} {}",
      environment(), kPython, quoted(MODLAB_SOURCE_DIR "/bench/rivals/mnist.py"), quoted(folder), work.network,
      spec.ratio, spec.split_seed, spec.samples, spec.test_samples, spec.batch_size, spec.lr, spec.lr_input,
      spec.tau.value_or(1), spec.weight_decay, options);
}

// The outputs of a task's truth table, a hexadecimal word each.
std::string table_words(const std::string& task) {
  const tasks::TaskSuite suite = tasks::load_task(task);
  const tasks::TruthTable& table = suite.tasks.front().table;
  std::vector<std::string> words;
  for (int output = 0; output < table.outputs; ++output) {
    words.push_back(tasks::hex_word(table, output));
  }
  return join_text(words, ",");
}

}  // namespace

const RivalProducts& rival_products() {
  static const RivalProducts kProducts = [] {
    RivalProducts fastest = time_products("").value_or(RivalProducts{});
    for (const char* core_type : {"Haswell", "Zen", "SkylakeX", "Cooperlake", "Sapphirerapids"}) {
      const std::optional<RivalProducts> found = time_products(core_type);
      // It may take others than it was asked for, and equal ones differ by chance.
      if (found && found->kernels != fastest.kernels && found->gflops > kClearly * fastest.gflops) {
        fastest.gflops = found->gflops;
        fastest.kernels = found->kernels;
      }
    }
    return fastest;
  }();
  return kProducts;
}

bool is_fair(const RivalProducts& products, double peak_gflops) { return products.gflops >= kFairShare * peak_gflops; }

void require_torch() {
  if (run(fmt::format("{} -c 'import torch' 2>/dev/null", kPython)).status != 0) {
    throw ConfigError("PyTorch is not installed; run `apt-get install python3-torch libopenblas0-pthread`");
  }
}

std::optional<RivalTiming> time_rival(const std::string& rival, const Work& work, int ensemble, int epochs) {
  const Output output =
      run(fmt::format("{} {} '{}/bench/rivals/{}.py' --work {} --batch {} --mode {} --epochs {} --ensemble {} "
                      "--repeats 3 2>/dev/null",
                      environment(), kPython, MODLAB_SOURCE_DIR, rival, work.network, work.rows,
                      work.step_only ? "step" : "loop", epochs, ensemble));
  const nlohmann::json report = nlohmann::json::parse(output.text, nullptr, false);
  if (output.status != 0 || !report.is_object() || !report.contains("us_per_net_step")) {
    return std::nullopt;
  }
  return RivalTiming{report["us_per_net_step"].get<double>(), report.value("test_accuracy", 0.0),
                     report.value("torch", "?"), report.value("blas", "?")};
}

std::optional<MnistRivalTiming> time_mnist_rival(const ImageWork& work, const std::string& folder, bool tuned) {
  const Output output = run(mnist_command(
      work, folder, fmt::format("--mode steps --steps 200 --repeats 2{} 2>/dev/null", tuned ? " --tuned" : "")));
  const nlohmann::json report = nlohmann::json::parse(output.text, nullptr, false);
  if (output.status != 0 || !report.is_object() || !report.contains("processor_us_per_step")) {
    return std::nullopt;
  }
  return MnistRivalTiming{
      {1e-6 * report["us_per_step"].get<double>(), 1e-6 * report.at("processor_us_per_step").get<double>()},
      report.value("torch", "?"),
      report.value("blas", "?")};
}

Curve train_mnist_rival(const ImageWork& work, const std::string& folder, int seed) {
  const std::string command =
      mnist_command(work, folder, fmt::format("--mode train --tuned --epochs {} --seed {}", work.spec.epochs, seed));
  const nlohmann::json report = report_of(command, "training_loss");
  return {report.at("training_loss").get<std::vector<double>>(), report.at("seen_accuracy").get<std::vector<double>>(),
          report.at("unseen_accuracy").get<std::vector<double>>()};
}

RuleRivalTiming time_rule_rival(const RuleWork& work, int networks, bool tuned) {
  const models::RuleSpec& spec = work.spec;
  const std::string command = fmt::format(
      "{} {} {} --family {} --model {} --rules {} --width {} --dim {} --length {} --batch {} --lr {} --task-seed {} "
      "--steps {} --repeats {}{}",
      environment(), kPython, quoted(MODLAB_SOURCE_DIR "/bench/rivals/rules.py"),
      work.name.substr(0, work.name.find('/')), work.network, spec.task.rules, spec.width, spec.task.dimension,
      spec.length, spec.batch_size, spec.lr, spec.task.task_seed, spec.iterations, networks, tuned ? " --tuned" : "");
  const nlohmann::json report = report_of(command, "losses");
  const auto losses = report.at("losses").get<std::vector<double>>();
  return {spent_in(report, "us_per_step"),
          std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size()),
          report.value("torch", "?"), report.value("blas", "?")};
}

MaskRivalTiming time_mask_rival(const MaskWork& work, bool of_weights, bool tuned) {
  const bool is_lstm = work.shape.kind == models::DigitNetworkKind::kLstm;
  // Temporaries are large here: without the setting each one's pages are given back and asked for again, which takes
  // half of the time.
  const std::string command = fmt::format(
      "MALLOC_MMAP_MAX_=0 {} {} {} {} --what {} --samples {} --batch {} --steps {}{}", environment(), kPython,
      quoted(MODLAB_SOURCE_DIR "/bench/rivals/mask.py"),
      is_lstm ? fmt::format("--state {} --layers {}", work.shape.state, work.shape.layers)
              : fmt::format("--hidden {}", fmt::join(work.shape.hidden, ",")),
      of_weights ? "weights" : "masks", kMaskSamples, kMaskRows, std::max(3, work.steps / 4), tuned ? " --tuned" : "");
  const nlohmann::json report = report_of(command, "us_per_step");
  return {spent_in(report, "us_per_step"), report.value("loss", 0.0), report.value("torch", "?"),
          report.value("blas", "?")};
}

TorchMaskRivalTiming time_torch_mask_rival(const TorchMaskWork& work, bool in_passes) {
  const std::string commands = commands_text(work);
  const std::string command = fmt::format(
      "MALLOC_MMAP_MAX_=0 {} {} {} --network {} --samples {} --batch {} --steps {}{}{}", environment(), kPython,
      quoted(MODLAB_SOURCE_DIR "/bench/rivals/mask_networks.py"), work.rival, work.spec.samples, work.spec.batch_size,
      work.steps, commands.empty() ? "" : " --commands " + commands, in_passes ? " --passes" : "");
  const nlohmann::json report = report_of(command, "us_per_step");
  return {spent_in(report, "us_per_step"),  spent_in(report, "sampler_us"),
          spent_in(report, "optimizer_us"), report.at("masked").get<std::size_t>(),
          report.at("loss").get<double>(),  report.value("torch", "?"),
          report.value("blas", "?")};
}

double time_lane_mask_rival(int stack) {
  const std::string command = fmt::format(
      "MALLOC_MMAP_MAX_=0 {} {} {} --samples {} --batch {} --steps {} --stack {}", environment(), kPython,
      quoted(MODLAB_SOURCE_DIR "/bench/rivals/mask_lanes.py"), kMaskSamples, kMaskRows, stack == 0 ? 200 : 20, stack);
  const nlohmann::json report = report_of(command, "us_per_mask_step");
  return 1e-6 * report.at("us_per_mask_step").get<double>();
}

SculptRivalTrial sculpt_rival(const SculptWork& work, int seed, std::optional<int> unit_steps) {
  const methods::SculptRun& spec = work.spec;
  const std::string command = fmt::format(
      "{} {} {} --task-table {} --hidden {} --lr {} --batch {} --epochs {} --seed {}{}", environment(), kPython,
      quoted(MODLAB_SOURCE_DIR "/bench/rivals/sculpt.py"), table_words(spec.task), fmt::join(spec.hidden, ","), spec.lr,
      spec.batch_size, spec.epochs, seed, unit_steps ? fmt::format(" --points {}", *unit_steps) : "");
  const nlohmann::json report = report_of(command, "trainings");
  return {{report.at("seconds").get<double>(), report.at("processor_seconds").get<double>()},
          report.at("learned").get<bool>(),
          {report.at("trainings").get<double>(), report.at("edges").get<double>(), report.at("ties").get<double>()},
          report.value("torch", "?"),
          report.value("blas", "?")};
}

}  // namespace modlab::bench
