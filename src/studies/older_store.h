#pragma once

#include <string>
#include <vector>

#include "io/sqlite.h"
#include "studies/store.h"

// Stores of the schemas 1 to 3, which knew three kinds of runs by their columns, and of 4, which had no texts of tasks.
namespace modlab::studies {

// From here on a store is read as it is: what it lacks is empty.
inline constexpr std::int64_t kFirstReadAsItIs = 4;

// Where the runs of the schemas before that come from.
std::vector<Origin> older_origins(io::Database& database);
// Such a store in the present form, in an empty database. The file stays as it is.
void upgraded_copy(const std::string& path, io::Database& copy);
// A store of any earlier schema within itself; inside a transaction.
void upgrade_in_place(io::Database& database, std::int64_t version);

}  // namespace modlab::studies
