#include <fmt/format.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <csignal>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include "cli/standard_streams.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/notice.h"
#include "core/text.h"

namespace {

using modlab::cli::blame_output;
using modlab::cli::flush_output;
using modlab::cli::run_bench;
using modlab::cli::run_collapse;
using modlab::cli::run_data;
using modlab::cli::run_detect;
using modlab::cli::run_export;
using modlab::cli::run_flops;
using modlab::cli::run_graph;
using modlab::cli::run_mask;
using modlab::cli::run_measure;
using modlab::cli::run_overlap;
using modlab::cli::run_report;
using modlab::cli::run_sculpt;
using modlab::cli::run_show;
using modlab::cli::run_structure;
using modlab::cli::run_study;
using modlab::cli::run_train;
using modlab::cli::say;

struct Verb {
  const char* name;
  const char* help;
  int (*run)(std::span<const std::string> words);
};

constexpr Verb kVerbs[] = {
    {"study", "run a whole study, choose settings, check a paper's claims, write the report", &run_study},
    {"report", "a study as one web page, or its figures as files", &run_report},
    {"export", "the results of a study as CSV tables", &run_export},
    {"train", "train one network or thousands and show how well they generalise", &run_train},
    {"graph", "show a task: its gates, truth table, routing, and a picture", &run_graph},
    {"data", "fetch MNIST, show images, and write samples of rule-based data", &run_data},
    {"show", "show what a saved network has learned", &run_show},
    {"measure", "how near a saved network is to the true structure, and what it cost", &run_measure},
    {"sculpt", "prune trained networks to their skeleton and read their modules off it", &run_sculpt},
    {"detect", "the modules of any sparse layered network, how they came about, what they compute", &run_detect},
    {"structure", "how a network's weights join inputs and outputs: path products, tests of groups", &run_structure},
    {"mask", "which weights of a trained network do what: a mask for each target, and what they share", &run_mask},
    {"collapse", "whether modules specialise or collapse, from a matrix of their use by rule", &run_collapse},
    {"overlap", "which weights masks or pruned networks share, beside what chance would", &run_overlap},
    {"flops", "what training a network costs, without training it; the paper's Table 1", &run_flops},
    {"bench", "measure the engine on this machine, alone or against PyTorch", &run_bench},
};

void print_verbs() {
  std::string list;
  for (const Verb& verb : kVerbs) {
    list += fmt::format("  {:<9}  {}\n", verb.name, verb.help);
  }
  modlab::cli::print_help(
      "modlab: a laboratory for modularity in neural networks\n\n  modlab VERB ...\n\n{}\n"
      "Try\n"
      "  modlab study run boolean --preset quick\n"
      "  modlab train --task depth2 --model modular-shared --seed 0..99\n"
      "  modlab help VERB\n",
      list);
}

int run(std::span<const std::string> words) {
  const bool asks_for_help = !words.empty() && (words[0] == "--help" || words[0] == "-h" || words[0] == "help");
  if (words.empty() || (asks_for_help && words.size() == 1)) {
    print_verbs();
    return 0;
  }
  if (asks_for_help) {
    return run(std::vector<std::string>{words[1], "--help"});
  }
  if (words[0] == "--version") {
    fmt::print("modlab {}\n", MODLAB_VERSION);
    return 0;
  }
  std::vector<std::string> names;
  for (const Verb& verb : kVerbs) {
    if (words[0] == verb.name) {
      return verb.run(words.subspan(1));
    }
    names.emplace_back(verb.name);
  }
  const std::string nearest = modlab::did_you_mean(words[0], names);
  throw modlab::ConfigError(
      fmt::format("unknown verb '{}'{}", words[0], nearest.empty() ? "; `modlab --help` lists them" : nearest));
}

// The verb that is asked for, with all that it prints.
int run_and_print(std::span<const std::string> words) {
  try {
    const int code = run(words);
    flush_output();
    return code;
  } catch (const std::system_error& error) {
    blame_output(error);
    throw;
  }
}

}  // namespace

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // Blocks take and give back megabytes all the time; what goes back to the system has to be zeroed when it returns.
  constexpr int kKept = 1 << 28;
  mallopt(M_TRIM_THRESHOLD, kKept);
  constexpr int kLarge = 1 << 25;  // of these there are few, and they would leave holes
  mallopt(M_MMAP_THRESHOLD, kLarge);
#endif
  // A reader that goes away is an error of writing, and no reason to give up what is being trained.
  std::signal(SIGPIPE, SIG_IGN);
  const std::vector<std::string> words(argv + 1, argv + argc);
  modlab::set_notice([](const std::string& line) { say(fmt::format("modlab: {}\n", line)); });
  try {
    return run_and_print(words);
  } catch (const modlab::UserError& error) {
    say(fmt::format("modlab: {}\n", error.what()));
    return 2;
  } catch (const modlab::Interrupted& interruption) {
    say(fmt::format("{}\n", interruption.what()));
    return 130;
  } catch (const std::bad_alloc&) {
    say("modlab: not enough memory for this; ask for fewer or smaller networks\n");
    return 1;
  } catch (const std::exception& error) {
    say(fmt::format("modlab: {}\n", error.what()));
    return 1;
  }
}
