#include <fmt/format.h>

#include <filesystem>

#include "cli/arguments.h"
#include "cli/study_text.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "io/file.h"
#include "report/tables.h"
#include "studies/claims.h"
#include "studies/workbench.h"

namespace modlab::cli {
namespace {

const std::vector<Option>& export_options() {
  static const std::vector<Option> kOptions = {
      {"csv", Arity::kFlag, "", "tidy tables: runs, chosen, means, claims and timing", {}},
      {"curves", Arity::kFlag, "", "accuracies of every run and epoch too (large)", {}},
      {"out", Arity::kOne, "FOLDER", "where the files go; default: DIR/csv", {"o"}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

}  // namespace

int run_export(std::span<const std::string> words) {
  const Arguments arguments(words, export_options());
  if (arguments.has("help") || words.empty()) {
    print_help(
        "modlab export: the results of a study as tables\n\n"
        "  modlab export results/boolean-quick --csv\n\n{}",
        describe_options(export_options()));
    return 0;
  }
  if (arguments.positional().size() != 1) {
    throw ConfigError("name one folder of a study, such as `modlab export results/boolean-quick --csv`");
  }
  const std::string& folder = arguments.positional().front();
  studies::OpenedStudy opened(folder);
  const std::filesystem::path out = arguments.text("out", (std::filesystem::path(folder) / "csv").string());
  io::prepare_folder(out.string());
  const studies::Findings& findings = opened.findings();
  const auto write = [&](const char* name, const std::string& text) {
    io::write_file((out / name).string(), text);
    fmt::print("{}\n", (out / name).string());
  };
  write("runs.csv", report::runs_csv(findings));
  write("chosen.csv", report::chosen_csv(findings));
  write("means.csv", report::means_csv(findings));
  write("claims.csv", report::claims_csv(studies::evaluate_claims(findings)));
  write("timing.csv", report::timing_csv(findings));
  if (arguments.has("curves")) {
    report::write_curves_csv(findings, opened.store(), (out / "curves.csv").string());
    fmt::print("{}\n", (out / "curves.csv").string());
  }
  fmt::print("{}", other_runs_text(opened));
  return 0;
}

}  // namespace modlab::cli
