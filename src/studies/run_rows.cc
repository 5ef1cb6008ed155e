#include "studies/run_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace modlab::studies {
namespace {

std::string columns_of(const std::vector<std::string>& measures, const std::vector<std::string>& own) {
  std::string columns;
  for (const std::string& name : measures) {
    columns += std::ranges::find(own, name) == own.end() ? ", NULL" : fmt::format(", \"{}\"", name);
  }
  return columns;
}

std::string where(const std::string& column, const std::string& only) {
  return only.empty() ? "" : fmt::format(" WHERE {} = ?", column);
}

bool are_equal(const std::vector<double>& left, const std::vector<double>& right) {
  return std::ranges::equal(
      left, right, [](double one, double other) { return one == other || (std::isnan(one) && std::isnan(other)); });
}

}  // namespace

std::size_t RunRows::bytes() const {
  std::size_t sum = settings.size();
  for (const auto& [name, bytes] : blobs) {
    sum += bytes.size();
  }
  return sum;
}

bool RunRows::is_equal(const RunRows& other) const {
  return id == other.id && kind == other.kind && settings == other.settings && diverged == other.diverged &&
         std::ranges::equal(results, other.results,
                            [](const auto& one, const auto& another) {
                              return one.first == another.first && are_equal(one.second, another.second);
                            }) &&
         blobs == other.blobs;
}

std::string RunRows::difference(const RunRows& other, const std::vector<std::string>& measures) const {
  if (kind != other.kind || settings != other.settings) {
    return "its settings";
  }
  if (diverged != other.diverged) {
    return "whether it diverged";
  }
  for (const auto& [snapshot, numbers] : results) {
    const auto found = other.results.find(snapshot);
    if (found == other.results.end()) {
      return fmt::format("the snapshot {}", snapshot);
    }
    for (std::size_t measure = 0; measure < measures.size(); ++measure) {
      if (!are_equal({numbers[measure]}, {found->second[measure]})) {
        return fmt::format("{} is {} and {}", measures[measure], numbers[measure], found->second[measure]);
      }
    }
  }
  for (const auto& [name, bytes] : blobs) {
    const auto found = other.blobs.find(name);
    if (found == other.blobs.end() || found->second != bytes) {
      return fmt::format("its {}", name);
    }
  }
  return "what is kept of it";
}

RunRowsReader::RunRowsReader(io::Database& database, const std::vector<std::string>& measures,
                             const std::vector<std::string>& own, const std::string& only)
    : runs_(database.prepare(fmt::format("SELECT id, kind, settings, diverged, seconds, origin FROM runs{} ORDER BY id",
                                         where("id", only)))),
      results_(database.prepare(fmt::format("SELECT run, snapshot{} FROM results{} ORDER BY run, snapshot",
                                            columns_of(measures, own), where("run", only)))),
      blobs_(
          database.prepare(fmt::format("SELECT run, name, data FROM blobs{} ORDER BY run, name", where("run", only)))),
      measures_(measures.size()),
      only_(only) {
  if (!only_.empty()) {
    for (io::Statement* statement : {&runs_, &results_, &blobs_}) {
      statement->bind(1, only_);
    }
  }
  has_result_ = results_.step();
  has_blob_ = blobs_.step();
}

std::optional<RunRows> RunRowsReader::next() {
  while (runs_.step()) {
    RunRows rows;
    rows.id = runs_.text(0);
    // Rows of runs that are not there belong to nobody.
    while (has_result_ && results_.text(0) < rows.id) {
      has_result_ = results_.step();
    }
    while (has_blob_ && blobs_.text(0) < rows.id) {
      has_blob_ = blobs_.step();
    }
    if (!has_result_ || results_.text(0) != rows.id) {
      continue;  // it has no results
    }
    rows.kind = runs_.text(1);
    rows.settings = runs_.text(2);
    rows.diverged = runs_.integer(3) != 0;
    rows.seconds = runs_.is_number(4) ? runs_.real(4) : 0;
    rows.origin = runs_.integer(5);
    for (; has_result_ && results_.text(0) == rows.id; has_result_ = results_.step()) {
      std::vector<double>& numbers = rows.results[std::string(results_.text(1))];
      numbers.resize(measures_, std::numeric_limits<double>::quiet_NaN());
      for (std::size_t measure = 0; measure < measures_; ++measure) {
        if (const int column = static_cast<int>(measure) + 2; results_.is_number(column)) {
          numbers[measure] = results_.real(column);
        }
      }
    }
    for (; has_blob_ && blobs_.text(0) == rows.id; has_blob_ = blobs_.step()) {
      rows.blobs[std::string(blobs_.text(1))] = blobs_.blob(2);
    }
    return rows;
  }
  return std::nullopt;
}

void insert_rows(io::Database& database, std::span<const RunRows> runs, const std::vector<std::string>& measures) {
  std::string places;
  for (std::size_t measure = 0; measure < measures.size(); ++measure) {
    places += ", ?";
  }
  io::Statement run_row = database.prepare("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)");
  io::Statement result_row = database.prepare(
      fmt::format("INSERT INTO results (run, snapshot{}) VALUES (?, ?{})", columns_of(measures, measures), places));
  io::Statement blob_row = database.prepare("INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)");
  for (const RunRows& run : runs) {
    run_row.bind(1, run.id).bind(2, run.kind).bind(3, run.settings);
    run_row.bind(4, std::int64_t{run.diverged}).bind(5, run.seconds).bind(6, run.origin).run();
    for (const auto& [snapshot, numbers] : run.results) {
      result_row.bind(1, run.id).bind(2, snapshot);
      for (std::size_t measure = 0; measure < measures.size(); ++measure) {
        result_row.bind(static_cast<int>(measure) + 3, numbers[measure]);
      }
      result_row.run();
    }
    for (const auto& [name, bytes] : run.blobs) {
      blob_row.bind(1, run.id).bind(2, name).bind_blob(3, bytes).run();
    }
  }
}

}  // namespace modlab::studies
