#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/sqlite.h"

namespace modlab::studies {

// All that a store has of one run, unread: what merging moves from one store to another.
struct RunRows {
  std::string id;
  std::string kind;
  std::string settings;  // JSON
  bool diverged = false;
  double seconds = 0;
  std::int64_t origin = 0;                             // as its store numbers them
  std::map<std::string, std::vector<double>> results;  // by snapshot; in the order that the reader was given
  std::map<std::string, std::string> blobs;

  std::size_t bytes() const;
  // Everything but how long it took and on which machine.
  bool is_equal(const RunRows& other) const;
  // What differs, in words; `measures` are those of the reader.
  std::string difference(const RunRows& other, const std::vector<std::string>& measures) const;
};

// Reads the finished runs of a store in the order of their names.
class RunRowsReader {
 public:
  // Of these measures, of which the store has the columns `own`; what it has not is not a number. With `only`, of that
  // run alone.
  RunRowsReader(io::Database& database, const std::vector<std::string>& measures, const std::vector<std::string>& own,
                const std::string& only = "");
  // Nothing after the last one.
  std::optional<RunRows> next();

 private:
  io::Statement runs_;
  io::Statement results_;
  io::Statement blobs_;
  std::size_t measures_;
  std::string only_;
  bool has_result_ = false;
  bool has_blob_ = false;
};

// `measures` are those of the runs, which `results` has columns for; origins are those of this store.
void insert_rows(io::Database& database, std::span<const RunRows> runs, const std::vector<std::string>& measures);

}  // namespace modlab::studies
