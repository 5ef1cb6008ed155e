#include "cli/data_scan.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "cli/arguments.h"
#include "cli/option_values.h"
#include "cli/terminal.h"
#include "core/errors.h"
#include "io/file.h"
#include "tasks/scan.h"

namespace modlab::cli {
namespace {

using tasks::ScanSets;
using tasks::ScanSplit;

struct NamedSplit {
  ScanSplit split;
  const char* file;  // what the official files call it
  const char* rule;
};
constexpr std::array<NamedSplit, 4> kSplits = {
    {{ScanSplit::kSimple, "simple", "four fifths are trained, drawn by --seed; the official files alone know theirs"},
     {ScanSplit::kLength, "length", "up to 22 actions are trained, 24 to 48 tested"},
     {ScanSplit::kJump, "addprim_jump", "`jump` is trained alone, and tested in every command that has it"},
     {ScanSplit::kTurnLeft, "addprim_turn_left", "the same of `turn left`"}}};

const std::vector<Option>& scan_options() {
  static const std::vector<Option> kOptions = {
      {"out",
       Arity::kOne,
       "FOLDER",
       "where a training and a test file of every split go; default: none are written",
       {}},
      {"seed", Arity::kOne, "N", "which commands the split `simple` trains (0)", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

void print_scan_help() {
  print_help(
      "modlab data scan: commands and the actions that they mean, generated from the grammar of SCAN\n\n"
      "  modlab data scan\n"
      "  modlab data scan --out scan\n\n"
      "A line of the files reads `IN: jump twice OUT: I_JUMP I_JUMP`, and they have the names of the official "
      "ones.\n\n{}",
      describe_options(scan_options()));
}

std::string lines_of(const std::vector<std::uint32_t>& set) {
  std::string text;
  for (const std::uint32_t index : set) {
    text += tasks::scan_line(tasks::scan_commands()[index]) + "\n";
  }
  return text;
}

}  // namespace

int run_data_scan(std::span<const std::string> words) {
  const Arguments arguments(words, scan_options());
  if (arguments.has("help")) {
    print_scan_help();
    return 0;
  }
  if (!arguments.positional().empty()) {
    throw ConfigError(fmt::format("modlab data scan does not take '{}'", arguments.positional().front()));
  }
  const auto seed = static_cast<std::uint32_t>(whole_number(arguments, "seed", 0, 0, 4'294'967'295));
  const std::filesystem::path folder = arguments.text("out");
  if (!folder.empty()) {
    io::prepare_folder(folder.string());
  }
  fmt::print("{} commands, such as\n", tasks::scan_commands().size());
  for (const std::size_t index : {30, 110, 12'000}) {
    fmt::print("  {}\n", tasks::scan_line(tasks::scan_commands()[index]));
  }
  fmt::print("\n  {:<17}  {:>6}  {:>5}\n", "split", "train", "test");
  for (const NamedSplit& named : kSplits) {
    const ScanSets sets = tasks::scan_sets(named.split, seed);
    fmt::print("  {:<17}  {:>6}  {:>5}  {}\n", named.file, sets.train.size(), sets.test.size(), named.rule);
    if (!folder.empty()) {
      io::write_file((folder / fmt::format("tasks_train_{}.txt", named.file)).string(), lines_of(sets.train));
      io::write_file((folder / fmt::format("tasks_test_{}.txt", named.file)).string(), lines_of(sets.test));
    }
  }
  if (!folder.empty()) {
    fmt::print("\n{}: a training and a test file of each\n", folder.string());
  }
  return 0;
}

}  // namespace modlab::cli
