#pragma once

#include <string>
#include <vector>

#include "io/sqlite.h"
#include "studies/store.h"

// Stores of the schemas 1 to 3, which knew three kinds of runs by their columns.
namespace modlab::studies {

// Where their runs come from.
std::vector<Origin> older_origins(io::Database& database);
// The store in a file in the present form, in an empty database. The file stays as it is.
void upgraded_copy(const std::string& path, io::Database& copy);
// The same within the store itself; inside a transaction.
void upgrade_in_place(io::Database& database);

}  // namespace modlab::studies
