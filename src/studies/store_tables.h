#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "io/sqlite.h"
#include "studies/study_plan.h"

// The tables of a store, and how rows come into them.
namespace modlab::studies {

inline constexpr std::int64_t kApplicationId = 0x6d6f646c;  // "modl"
inline constexpr std::int64_t kSchemaVersion = 5;

void make_tables(io::Database& database);
// What schema 5 has and schema 4 had not.
void add_tables_of_five(io::Database& database);
// Those that a store of that schema has.
std::vector<std::string> tables_of(std::int64_t version);

// The number of that origin, which is there from now on.
std::int64_t add_origin(io::Database& database, std::string_view machine, std::string_view version,
                        std::string_view networks);

// Which part of its study the store is to have: a table that only shards have.
void write_shard(io::Database& database, const Shard& shard);
// Throws FormatError, naming `source`, for a part that cannot be.
Shard read_shard(io::Database& database, const std::string& source);

// Gives `results` the columns that these runs have and no run before them; `columns` are those that it has.
void add_measures(io::Database& database, std::span<const experiments::FinishedRun> runs,
                  std::vector<std::string>& columns);

// The same by name.
void add_columns(io::Database& database, std::set<std::string> wanted, std::vector<std::string>& columns);
// Whether some of these settings were not noted before.
bool note_settings(io::Database& database, std::set<std::string> names);
std::vector<std::string> noted_settings(io::Database& database);

// Notes the names of the settings that some run has a value for; whether some of them are new. One that another setting
// stands for is noted where it differs from it.
bool add_settings(io::Database& database, std::span<const experiments::FinishedRun> runs);

// `measures` are the columns that `results` has, and must hold all that the runs have. A run that is there stays.
void insert_runs(io::Database& database, std::span<const experiments::FinishedRun> runs,
                 const std::vector<std::string>& measures, std::int64_t origin);

// The runs that the study has now, by series, and what planning them took. Nothing is chosen of them yet. Where the
// study is the same and has as many runs as are there, they are there already: millions take their time.
void write_grid(io::Database& database, const StudyPlan& plan, bool is_same_study);

// Settings and measures as columns, for whoever asks in SQL: those that the store has.
void update_views(io::Database& database, const std::vector<std::string>& measures);

}  // namespace modlab::studies
