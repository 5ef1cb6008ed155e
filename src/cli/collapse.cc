#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "io/file.h"
#include "io/matrix_file.h"
#include "report/module_use_text.h"

namespace modlab::cli {
namespace {

const std::vector<Option>& collapse_options() {
  static const std::vector<Option> kOptions = {
      {"array", Arity::kOne, "NAME", "the array of an npz file that has several", {}},
      {"svg", Arity::kOne, "FILE", "draw the matrix into FILE", {}},
      {"json", Arity::kSwitch, "", "print one JSON object", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

void print_collapse_help() {
  print_help(
      "modlab collapse: do modules specialise, or do a few of them do everything?\n\n"
      "  modlab collapse use.csv\n"
      "  modlab collapse gates.npz --array mean --svg use.svg\n"
      "  modlab collapse use.npy --json\n\n"
      "FILE has a line for each rule (class, task, expert's label) and a column for each module: how often the module "
      "is\n"
      "used there, as shares or counts. CSV, with or without names of rules and modules, or an array of numpy's. "
      "Rules\n"
      "count equally, however large their rows are.\n"
      "\n{}",
      describe_options(collapse_options()));
}

}  // namespace

int run_collapse(std::span<const std::string> words) {
  const Arguments arguments(words, collapse_options());
  if (arguments.has("help")) {
    print_collapse_help();
    return 0;
  }
  if (arguments.positional().size() != 1) {
    throw ConfigError("modlab collapse takes one file: a matrix of module use, rules by modules");
  }
  const std::string& path = arguments.positional().front();
  io::Matrix matrix = io::read_matrix(path, arguments.text("array"));
  constexpr std::size_t kMost = measures::ModuleUse::kMostRules;
  if (matrix.rows > kMost || matrix.columns > kMost) {
    throw FormatError(fmt::format("{}: {} rules and {} modules; at most {} of each are possible here", path,
                                  matrix.rows, matrix.columns, kMost));
  }
  try {
    const report::UseLook look = report::look_at_use(
        path,
        measures::ModuleUse(static_cast<int>(matrix.rows), static_cast<int>(matrix.columns), std::move(matrix.values)),
        std::move(matrix.row_names), std::move(matrix.column_names));
    if (arguments.has("svg")) {
      io::write_file(arguments.text("svg"), report::module_use_svg(look));
    }
    if (arguments.is_on("json")) {
      fmt::print("{}\n", report::module_use_json(look).dump());
    } else {
      fmt::print("{}", report::module_use_text(look));
    }
  } catch (const ConfigError& error) {
    throw FormatError(fmt::format("{}: {}", path, error.what()));
  }
  return 0;
}

}  // namespace modlab::cli
