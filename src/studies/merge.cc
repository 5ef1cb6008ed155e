#include "studies/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_map>

#include "core/errors.h"
#include "core/text.h"
#include "studies/store_tables.h"
#include "studies/study_difference.h"

namespace modlab::studies {
namespace {

namespace fs = std::filesystem;

// A transaction has so many runs, or so many bytes, at most.
constexpr std::size_t kMergedAtOnce = 2000;
constexpr std::size_t kMergedBytes = 32U << 20U;

bool is_same_folder(const std::string& one, const std::string& other) {
  std::error_code ignored;
  return fs::weakly_canonical(one, ignored) == fs::weakly_canonical(other, ignored) ||
         fs::equivalent(one, other, ignored);
}

std::string words_text(const std::vector<std::string>& words) {
  return words.empty() ? "no words after its name" : "the words " + join_text(words, " ");
}

bool holds_given_networks(Store& store) {
  return std::ranges::any_of(store.origins(), [](const Origin& origin) { return !origin.networks.empty(); });
}

}  // namespace

StudyMerge::StudyMerge(const std::string& folder, const std::vector<std::string>& sources) : folder_(folder) {
  for (const std::string& source : sources) {
    if (is_same_folder(source, folder)) {
      throw ConfigError(fmt::format("{} cannot be merged into itself; name another folder for the result", source));
    }
    const auto before =
        std::ranges::find_if(sources_, [&](const Source& other) { return is_same_folder(other.folder, source); });
    if (before == sources_.end()) {
      sources_.push_back({source, {}, {}});
    }
  }
  opened_ = std::make_unique<OpenedStudy>(sources_.front().folder);
  for (Source& source : sources_) {
    Store store = Store::open(source.folder);  // one at a time: there may be a thousand
    check_fits(store, source.folder);
    source.shard = store.study().shard;
    source.runs = store.finished();
  }

  lock_.emplace(folder_);
  std::unordered_map<std::uint64_t, const std::string*> holder;
  // Those that nobody had before.
  const auto note_runs = [&](const std::string& where, const RunSet& runs) {
    std::map<const std::string*, RunSet> shared;
    RunSet others;
    for (const std::uint64_t run : runs) {
      const auto [known, is_new] = holder.emplace(run, &where);
      if (is_new) {
        others.insert(run);
      } else {
        shared[known->second].insert(run);
      }
    }
    for (const auto& [other, both] : shared) {
      check_equal(*other, where, both);
    }
    return others;
  };
  if (std::optional<Store> there = Store::open_if_any(folder_)) {
    if (!there->study().shard.is_whole()) {
      throw ConfigError(fmt::format("{} holds {} of a study; name another folder for the result", folder_,
                                    there->study().shard.text()));
    }
    check_fits(*there, folder_);
    note_runs(folder_, there->finished());
  }
  for (const Source& source : sources_) {
    wanted_.push_back(note_runs(source.folder, source.runs));
    to_copy_ += wanted_.back().size();
  }
}

StudyMerge::~StudyMerge() {
  if (store_) {
    store_->close();
  }
}

void StudyMerge::check_fits(Store& other, const std::string& folder) {
  if (other.schema() < kSchemaVersion) {
    throw ConfigError(
        fmt::format("{} was written by an earlier modlab (schema {}, this one writes {}); the `modlab study run` that "
                    "made it brings it up to date",
                    folder, other.schema(), kSchemaVersion));
  }
  for (const std::string& measure : other.measures()) {
    if (experiments::find_measure(measure) == nullptr) {
      throw ConfigError(fmt::format("{} has a measure '{}' that this modlab does not know; update modlab", folder,
                                    measure.substr(0, 40)));
    }
  }
  const StoredStudy& ours = opened_->store().study();
  const StoredStudy& theirs = other.study();
  const std::string& first = sources_.front().folder;
  if (theirs.name != ours.name) {
    throw ConfigError(fmt::format("{} holds the study {} and {} the study {}; merge stores of one study", first,
                                  ours.name, folder, theirs.name));
  }
  if (theirs.preset != ours.preset) {
    throw ConfigError(fmt::format("{} holds the preset {} and {} the preset {}; merge stores of one preset", first,
                                  ours.preset, folder, theirs.preset));
  }
  if (theirs.overrides != ours.overrides) {
    throw ConfigError(fmt::format("{} was run with {} and {} with {}; merge stores of the same words", first,
                                  words_text(ours.overrides), folder, words_text(theirs.overrides)));
  }
  if (theirs.text != ours.text) {
    Study study = parse_study(theirs.text, theirs.name, theirs.source);
    for (const std::string& text : theirs.overrides) {
      apply_override(study, text);
    }
    const std::string difference = study_difference(opened_->study(), ours.preset, study, theirs.preset);
    if (!difference.empty()) {
      throw ConfigError(
          fmt::format("the study in {} is not the one in {}: {}; run both with one file", folder, first, difference));
    }
  }
  try {
    other.check_tasks(opened_->plan().tasks());
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    throw ConfigError(fmt::format("{} does not fit {}: {}; merge stores of one task", folder, first,
                                  text.substr(0, text.find("; put it back"))));
  }
  if (holds_given_networks(other) != holds_given_networks(opened_->store())) {
    throw ConfigError(
        fmt::format("of {} and {} one holds networks that were trained, the other networks from files; "
                    "keep them apart",
                    first, folder));
  }
}

void StudyMerge::check_equal(const std::string& folder, const std::string& other_folder, const RunSet& shared) {
  Store one = Store::open(folder);
  Store other = Store::open(other_folder);
  std::set<std::string> names;
  for (Store* store : {&one, &other}) {
    for (const std::string& measure : store->measures()) {
      names.insert(measure);
    }
  }
  const std::vector<std::string> measures(names.begin(), names.end());
  RunRowsReader left = one.rows(measures);
  RunRowsReader right = other.rows(measures);
  std::optional<RunRows> here = left.next();
  std::optional<RunRows> there = right.next();
  // Both in the order of their names.
  while (here && there) {
    if (here->id != there->id) {
      std::optional<RunRows>& behind = here->id < there->id ? here : there;
      behind = (&behind == &here ? left : right).next();
      continue;
    }
    const std::optional<std::uint64_t> number = settings::id_number(here->id);
    if (number && shared.contains(*number) && !here->is_equal(*there)) {
      throw ConfigError(
          fmt::format("run {} is not the same in {} and {}: {}; a run's bits follow from its settings, so "
                      "one of them is damaged or comes from another version; leave one out",
                      here->id, folder, other_folder, here->difference(*there, measures)));
    }
    here = left.next();
    there = right.next();
  }
}

void StudyMerge::execute() {
  StoredStudy study = opened_->store().study();
  study.shard = {};
  const std::vector<Origin> origins = opened_->store().origins();
  store_.emplace(Store::open_or_create(folder_, study, origins.empty() ? Origin{} : origins.front(), &opened_->plan()));
  std::set<std::string> measures;
  std::set<std::string> settings;
  for (const Source& source : sources_) {
    Store from = Store::open(source.folder);
    std::ranges::copy(from.measures(), std::inserter(measures, measures.end()));
    std::ranges::copy(from.settings(), std::inserter(settings, settings.end()));
  }
  store_->expect({measures.begin(), measures.end()}, {settings.begin(), settings.end()});
  for (std::size_t source = 0; source < sources_.size() && !stopped_; ++source) {
    Store from = Store::open(sources_[source].folder);
    copy(from, wanted_[source], {measures.begin(), measures.end()});
  }
}

void StudyMerge::copy(Store& from, const RunSet& wanted, const std::vector<std::string>& measures) {
  std::vector<std::int64_t> origins = {0};
  for (const Origin& origin : from.all_origins()) {
    origins.push_back(store_->number_of(origin));
  }
  std::vector<RunRows> block;
  std::size_t bytes = 0;
  const auto flush = [&] {
    store_->add_rows(block, measures);
    copied_ += block.size();
    block.clear();
    bytes = 0;
  };
  RunRowsReader reader = from.rows(measures);
  while (std::optional<RunRows> run = stopped_ ? std::nullopt : reader.next()) {
    const std::optional<std::uint64_t> number = settings::id_number(run->id);
    if (!number || !wanted.contains(*number)) {
      continue;
    }
    const bool is_known = run->origin >= 0 && run->origin < static_cast<std::int64_t>(origins.size());
    run->origin = is_known ? origins[static_cast<std::size_t>(run->origin)] : 0;
    bytes += run->bytes();
    block.push_back(std::move(*run));
    if (block.size() >= kMergedAtOnce || bytes >= kMergedBytes) {
      flush();
    }
  }
  flush();
}

experiments::Status StudyMerge::status(double seconds) const {
  const auto done = static_cast<double>(copied_);
  return {to_copy_ == 0 ? 1 : done / static_cast<double>(to_copy_),
          fmt::format("{} of {} runs, {:.0f} a second", copied_.load(), to_copy_, seconds > 0 ? done / seconds : 0)};
}

std::vector<experiments::Run> StudyMerge::missing() { return missing_runs(plan(), store_->finished()); }

const Findings& StudyMerge::finish() {
  findings_.emplace(study(), plan(), *store_);
  keep_choices(*findings_, *store_);
  return *findings_;
}

}  // namespace modlab::studies
