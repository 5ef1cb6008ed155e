#include <fmt/format.h>

#include <filesystem>

#include "cli/arguments.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "io/file.h"
#include "report/figure_files.h"
#include "report/page.h"
#include "report/report_data.h"
#include "studies/workbench.h"

namespace modlab::cli {
namespace {

const std::vector<Option>& report_options() {
  static const std::vector<Option> kOptions = {
      {"out", Arity::kOne, "FILE", "where the page goes; default: DIR/report.html", {"o"}},
      {"figures", Arity::kOne, "FOLDER", "write every figure as SVG and PNG into this folder instead", {}},
      {"json", Arity::kFlag, "", "print the page's data instead", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

}  // namespace

int run_report(std::span<const std::string> words) {
  const Arguments arguments(words, report_options());
  if (arguments.has("help") || (arguments.positional().empty() && words.empty())) {
    print_help(
        "modlab report: a study as one web page, or its figures as files for a paper\n\n"
        "  modlab report results/boolean-quick\n"
        "  modlab report results/boolean-quick -o boolean.html\n"
        "  modlab report results/boolean-quick --figures figures\n"
        "  modlab report --figures results/boolean-quick           # into results/boolean-quick/figures\n\n{}",
        describe_options(report_options()));
    return 0;
  }
  // `modlab report --figures DIR`: the figures of the study in DIR go beside it.
  const bool only_figures = arguments.positional().empty() && arguments.has("figures");
  if (arguments.positional().size() != 1 && !only_figures) {
    throw ConfigError("name one folder of a study, such as `modlab report results/boolean-quick`");
  }
  const std::string folder = only_figures ? arguments.text("figures") : arguments.positional().front();
  studies::OpenedStudy opened(folder);
  const std::vector<studies::ClaimResult> claims = studies::evaluate_claims(opened.findings());
  if (arguments.has("json")) {
    fmt::print("{}\n", report::report_data(opened.findings(), claims, opened.store()).dump());
    return 0;
  }
  if (arguments.has("figures")) {
    const std::string out =
        only_figures ? (std::filesystem::path(folder) / "figures").string() : arguments.text("figures");
    const std::vector<std::string> files =
        report::write_figure_files(report::report_data(opened.findings(), claims, opened.store()), out);
    fmt::print("{} files in {}\n", files.size(), out);
    return 0;
  }
  const std::string path = arguments.text("out", (std::filesystem::path(folder) / "report.html").string());
  io::write_file(path, report::page(report::report_data(opened.findings(), claims, opened.store())));
  fmt::print("{}\n", path);
  if (const studies::Shard& shard = opened.store().study().shard; !shard.is_whole()) {
    fmt::print("This is {} of the study; its findings are those of `modlab study merge OUT DIR...`.\n", shard.text());
  }
  return 0;
}

}  // namespace modlab::cli
