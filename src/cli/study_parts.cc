#include "cli/study_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "cli/planning_note.h"
#include "cli/progress_bar.h"
#include "cli/study_text.h"
#include "cli/terminal.h"
#include "core/errors.h"
#include "core/text.h"
#include "io/file.h"
#include "report/page.h"
#include "report/report_data.h"
#include "studies/merge.h"
#include "studies/workbench.h"

namespace modlab::cli {
namespace {

// "4, 7 of 16": shards that are not among those that are there; empty where all are, or where there are none.
std::string absent_shards(const std::vector<studies::Shard>& shards) {
  std::map<int, std::set<int>> by_count;
  for (const studies::Shard& shard : shards) {
    if (!shard.is_whole()) {
      by_count[shard.count].insert(shard.number);
    }
  }
  std::vector<std::string> texts;
  for (const auto& [count, numbers] : by_count) {
    constexpr std::size_t kMostNamed = 10;
    std::vector<std::string> absent;
    for (int number = 1; number <= count; ++number) {
      if (!numbers.contains(number)) {
        absent.push_back(std::to_string(number));
      }
    }
    if (absent.empty()) {
      continue;
    }
    const std::size_t more = absent.size() - std::min(absent.size(), kMostNamed);
    absent.resize(absent.size() - more);
    texts.push_back(
        fmt::format("{}{} of {}", join_text(absent, ", "), more > 0 ? fmt::format(" and {} more", more) : "", count));
  }
  return join_text(texts, "; ");
}

std::string shard_text(const studies::Shard& shard) {
  return shard.is_whole() ? "all" : fmt::format("{}/{}", shard.number, shard.count);
}

}  // namespace

void show_findings(const studies::Findings& findings, studies::Store& store, const std::string& folder) {
  const std::vector<studies::ClaimResult> claims = studies::evaluate_claims(findings);
  // Before anything is printed: standard output may be gone.
  const std::string path = (std::filesystem::path(folder) / "report.html").string();
  io::write_file(path, report::page(report::report_data(findings, claims, store)));
  fmt::print("\n{}{}", result_tables(findings), ties_text(findings));
  if (!claims.empty()) {
    fmt::print("\nClaims\n{}", claims_text(claims));
  }
  fmt::print("\nReport: {}\n", path);
}

int merge_studies(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.positional();
  if (words.size() < 3) {
    throw ConfigError(
        "name the folder of the result and those to put together, such as `modlab study merge results/boolean-quick "
        "results/boolean-quick-shard*`");
  }
  const std::vector<std::string> sources(words.begin() + 2, words.end());
  const auto merge = while_planning([&] { return std::make_unique<studies::StudyMerge>(words[1], sources); });
  double seconds = 0;
  {
    const ProgressBar bar(watched(*merge), false);
    merge->execute();
    seconds = bar.seconds();
  }
  if (merge->is_stopped() && merge->copied() < merge->to_copy()) {
    throw Interrupted(fmt::format("Stopped: {} of {} runs are in {}. The same command goes on from here.",
                                  merge->copied(), merge->to_copy(), words[1]));
  }
  fmt::print("{} runs of {} folder{} in {}, {:.0f} a second.\n", merge->copied(), merge->sources().size(),
             merge->sources().size() == 1 ? "" : "s", duration_text(seconds),
             static_cast<double>(merge->copied()) / seconds);
  const std::size_t left = merge->missing().size();
  const std::size_t planned = studies::different_runs(merge->plan());
  if (left == 0) {
    fmt::print("All {} runs of {} are in {}.\n", planned, merge->study().name, words[1]);
    show_findings(merge->finish(), merge->store(), words[1]);
    return 0;
  }
  std::vector<studies::Shard> shards;
  for (const studies::StudyMerge::Source& source : merge->sources()) {
    shards.push_back(source.shard);
  }
  const std::string absent = absent_shards(shards);
  fmt::print(
      "\n{}\n{} of {} runs are missing in {}{}; merge again when they are there, or train them with `modlab "
      "study run` and --out.\n",
      plan_table(merge->study(), merge->plan(), merge->store().finished()), left, planned, words[1],
      absent.empty() ? "" : fmt::format(" (not merged: shards {})", absent));
  return 0;
}

int show_status_of_parts(const std::vector<std::string>& folders) {
  struct Line {
    std::string folder;
    studies::Shard shard;
    std::size_t runs = 0;
    std::size_t finished = 0;
    std::string who;
  };
  std::vector<Line> lines;
  studies::RunSet all_finished;
  std::unique_ptr<studies::OpenedStudy> first;
  std::vector<experiments::Run> runs;     // of the study
  std::map<int, std::vector<int>> dealt;  // by the number of shards: whose each of them is
  while_planning([&] {
    for (const std::string& folder : folders) {
      studies::Store store = studies::Store::open(folder);
      if (first == nullptr) {
        first = std::make_unique<studies::OpenedStudy>(folder);
      }
      const studies::StoredStudy& ours = first->store().study();
      const studies::StoredStudy& study = store.study();
      if (study.name != ours.name || study.preset != ours.preset || study.overrides != ours.overrides) {
        throw ConfigError(fmt::format("{} holds another study, preset or words than {}; name folders of one study",
                                      folder, folders.front()));
      }
      const studies::RunSet finished = store.finished();
      all_finished.insert(finished.begin(), finished.end());
      Line& line = lines.emplace_back(Line{folder, study.shard, 0, 0, studies::who_trains(folder).value_or("")});
      const auto [shards, is_new] = dealt.try_emplace(study.shard.count);
      if (is_new) {
        runs = studies::missing_runs(first->plan(), {});
        shards->second = studies::deal_out(runs, study.shard.count);
      }
      for (std::size_t run = 0; run < runs.size(); ++run) {
        if (shards->second[run] == study.shard.number) {
          ++line.runs;
          line.finished += finished.contains(runs[run].number) ? 1 : 0;
        }
      }
    }
    return 0;
  });
  std::size_t width = 6;
  std::vector<studies::Shard> shards;
  for (const Line& line : lines) {
    width = std::max(width, line.folder.size());
    shards.push_back(line.shard);
  }
  fmt::print("{}{}{}\n\n", first->study().name, first->store().study().preset.empty() ? "" : ", preset ",
             first->store().study().preset);
  fmt::print("{:<{}}  {:>9}  {:>8}  {:>8}  {:>8}  who trains\n", "folder", width, "shard", "runs", "finished", "left");
  for (const Line& line : lines) {
    fmt::print("{:<{}}  {:>9}  {:>8}  {:>8}  {:>8}  {}\n", line.folder, width, shard_text(line.shard), line.runs,
               line.finished, line.runs - line.finished,
               !line.who.empty()            ? line.who
               : line.runs == line.finished ? "-"
                                            : "nobody");
  }
  const std::size_t planned = studies::different_runs(first->plan());
  const std::size_t left = studies::missing_runs(first->plan(), all_finished).size();
  const std::string absent = absent_shards(shards);
  if (left == 0) {
    fmt::print("\nAll {} runs are finished; `modlab study merge OUT DIR...` puts them together.\n", planned);
  } else {
    fmt::print("\n{} of {} runs are left{}.\n", left, planned,
               absent.empty() ? "" : fmt::format("; not among these folders: shards {}", absent));
  }
  return 0;
}

}  // namespace modlab::cli
