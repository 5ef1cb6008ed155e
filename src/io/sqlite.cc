#include "io/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "core/errors.h"

namespace modlab::io {
namespace {

// Another process may be writing a block; it never takes long.
constexpr int kWaitForLockMilliseconds = 60'000;

std::string way_out(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "; free some space and run the same command again";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return "; check the path and its permissions, or choose another folder";
    case SQLITE_NOTADB:
      return "; it is not a modlab store, choose another folder";
    case SQLITE_CORRUPT:
      return "; the store is damaged, choose another folder or restore it from a copy";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "; another program holds it, try again when it has finished";
    case SQLITE_IOERR:
      return "; check the disk, then run the same command again";
    default:
      return "";
  }
}

// A process that was killed leaves its file in a mode in which even readers write beside it. Where nobody can, nobody
// changes the file either, and it is complete if it has no journal.
bool is_in_frozen_folder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const auto is_empty = [&](const char* journal) {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(path + journal, error);
    return error || bytes == 0;
  };
  return ::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0 && is_empty("-wal") && is_empty("-journal");
}

// The same path in SQLite's form of a URI, with the word that nobody changes the file.
std::string frozen_name(const std::string& path) {
  std::string name = "file:";
  for (const char letter : std::filesystem::absolute(path).string()) {
    name += letter == '%' || letter == '?' || letter == '#' ? fmt::format("%{:02x}", letter) : std::string(1, letter);
  }
  return name + "?immutable=1";
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close(handle); }
void Statement::Finalize::operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }

Database::Database(std::string path, Mode mode) : path_(std::move(path)) {
  const int flags = mode == Mode::kRead    ? SQLITE_OPEN_READONLY
                    : mode == Mode::kWrite ? SQLITE_OPEN_READWRITE
                                           : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const bool as_it_is = mode != Mode::kCreate && is_in_frozen_folder(path_);
  if ((as_it_is ? open(frozen_name(path_), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI) : open(path_, flags)) != SQLITE_OK) {
    fail();
  }
  sqlite3_busy_timeout(handle_.get(), kWaitForLockMilliseconds);
}

int Database::open(const std::string& name, int flags) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  return code;
}

Database::Database() : Database(":memory:", Mode::kCreate) {}

void Database::fail() const {
  const int code = handle_ ? sqlite3_errcode(handle_.get()) : SQLITE_NOMEM;
  throw FormatError(
      fmt::format("{}: {}{}", path_, handle_ ? sqlite3_errmsg(handle_.get()) : "out of memory", way_out(code)));
}

bool Database::has_moved() const {
  int moved = 0;
  sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved != 0;
}

void Database::copy_to(const std::string& path) {
  Statement copy = prepare("VACUUM INTO ?");
  copy.bind(1, path).run();
}

void Database::distrust_schema() {
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
}

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail();
  }
}

Statement Database::prepare(const std::string& sql) { return {*this, sql}; }

std::optional<std::int64_t> Database::integer(const std::string& sql) {
  Statement statement = prepare(sql);
  if (!statement.step() || statement.is_null(0)) {
    return std::nullopt;
  }
  return statement.integer(0);
}

Statement::Statement(const Database& database, const std::string& sql) : database_(&database) {
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v2(database.handle_.get(), sql.c_str(), -1, &handle, nullptr);
  handle_.reset(handle);
  check(code);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE) {
    database_->fail();
  }
}

Statement& Statement::bind(int position, std::int64_t value) {
  check(sqlite3_bind_int64(handle_.get(), position, value));
  return *this;
}

Statement& Statement::bind(int position, double value) {
  check(std::isnan(value) ? sqlite3_bind_null(handle_.get(), position)
                          : sqlite3_bind_double(handle_.get(), position, value));
  return *this;
}

Statement& Statement::bind(int position, std::string_view text) {
  check(sqlite3_bind_text(handle_.get(), position, text.data(), static_cast<int>(text.size()), SQLITE_STATIC));
  return *this;
}

Statement& Statement::bind_blob(int position, std::string_view bytes) {
  check(sqlite3_bind_blob64(handle_.get(), position, bytes.data(), bytes.size(), SQLITE_STATIC));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  check(code);
  return code == SQLITE_ROW;
}

void Statement::run() {
  while (step()) {
  }
  sqlite3_reset(handle_.get());
  sqlite3_clear_bindings(handle_.get());
}

bool Statement::is_null(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }
bool Statement::is_number(int column) const {
  const int type = sqlite3_column_type(handle_.get(), column);
  return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

bool Statement::is_text(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_TEXT; }
int Statement::columns() const { return sqlite3_column_count(handle_.get()); }
std::string Statement::name(int column) const { return sqlite3_column_name(handle_.get(), column); }
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }

double Statement::real(int column) const {
  return is_null(column) ? std::numeric_limits<double>::quiet_NaN() : sqlite3_column_double(handle_.get(), column);
}

std::string_view Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  return {text == nullptr ? "" : text, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

std::string_view Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
  return {bytes == nullptr ? "" : bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

Transaction::Transaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  if (open_) {
    try {
      database_.execute("ROLLBACK");
    } catch (const UserError&) {
      // On a full disk SQLite has rolled back already.
    }
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace modlab::io
