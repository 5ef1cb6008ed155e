#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace modlab::io {

class Statement;

// One SQLite file. What can go wrong outside the program (no such file, a full disk, a read-only folder, not a
// database, a lock that another process holds) is a FormatError with the path and the way out. In a folder where
// nothing can be written, a finished file is read as it is.
class Database {
 public:
  // In memory.
  Database();
  enum class Mode { kRead, kWrite, kCreate };
  Database(std::string path, Mode mode);

  // For a file that may come from anyone: its views and triggers call no functions.
  void distrust_schema();
  void execute(const std::string& sql);
  Statement prepare(const std::string& sql);
  // The first column of the first row, or nothing.
  std::optional<std::int64_t> integer(const std::string& sql);
  // Whether the file was deleted, moved or replaced since it was opened; what is in it can still be copied.
  bool has_moved() const;
  // Into a new file, as one transaction sees it.
  void copy_to(const std::string& path);
  const std::string& path() const { return path_; }

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  [[noreturn]] void fail() const;
  int open(const std::string& name, int flags);

  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// A prepared statement: bind values by position from 1, then step through its rows. Text and blobs that were bound must
// live until the next step; what a row gives lives until the step after it.
class Statement {
 public:
  Statement& bind(int position, std::int64_t value);
  Statement& bind(int position, double value);  // not a number becomes NULL
  Statement& bind(int position, std::string_view text);
  Statement& bind_blob(int position, std::string_view bytes);

  bool step();  // whether there is a row
  void run();   // steps to the end and makes ready for other values

  bool is_null(int column) const;
  bool is_number(int column) const;
  bool is_text(int column) const;
  int columns() const;
  std::string name(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;  // NULL is not a number
  std::string_view text(int column) const;
  std::string_view blob(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  Statement(const Database& database, const std::string& sql);
  void check(int code) const;

  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// A write transaction: rolled back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace modlab::io
