// What merging does with stores.
#include "core/text.h"
#include "studies/store.h"
#include "studies/store_tables.h"

namespace modlab::studies {

std::vector<std::string> Store::settings() { return noted_settings(database_); }

std::vector<Origin> Store::all_origins() {
  std::vector<Origin> list;
  io::Statement rows = database_.prepare("SELECT number, machine, networks, version FROM origins ORDER BY number");
  while (rows.step()) {
    const std::int64_t number = rows.integer(0);
    constexpr std::int64_t kMost = 1'000'000;  // of what a store from anyone may say
    if (number < 1 || number > kMost) {
      continue;
    }
    list.resize(static_cast<std::size_t>(number));
    list.back() = {on_one_line(rows.text(1)), on_one_line(rows.text(2)), on_one_line(rows.text(3))};
  }
  return list;
}

RunRowsReader Store::rows(const std::vector<std::string>& measures, const std::string& only) {
  return {database_, measures, result_columns(), only};
}

void Store::expect(const std::vector<std::string>& measures, const std::vector<std::string>& settings) {
  io::Transaction transaction(database_);
  std::vector<std::string> columns = result_columns();
  add_columns(database_, {measures.begin(), measures.end()}, columns);
  note_settings(database_, {settings.begin(), settings.end()});
  make_views();
  transaction.commit();
}

void Store::add_rows(std::span<const RunRows> runs, const std::vector<std::string>& measures) {
  io::Transaction transaction(database_);
  database_.execute("DELETE FROM chosen_runs");
  insert_rows(database_, runs, measures);
  transaction.commit();
}

}  // namespace modlab::studies
