#include "methods/sculpt/published_training.h"

#include <map>
#include <tuple>

#include "core/embedded_file.h"
#include "io/csv_file.h"

namespace modlab {
extern const EmbeddedFile kPublishedTraining[];
}

namespace modlab::methods {
namespace {

using Architecture = std::tuple<std::string, int, int>;  // task, hidden layers, width

std::map<Architecture, PublishedTraining> read_table() {
  constexpr std::size_t kMaxRows = 1000;
  constexpr std::size_t kColumns = 6;
  std::map<Architecture, PublishedTraining> table;
  for (const io::CsvRow& row : io::parse_csv(kPublishedTraining[0].text, "training.csv", kMaxRows, kColumns).rows) {
    const std::vector<std::string>& cells = row.cells;
    table[{cells[0], std::stoi(cells[1]), std::stoi(cells[2])}] = {std::stod(cells[3]), std::stoi(cells[4]),
                                                                   std::stoi(cells[5])};
  }
  return table;
}

}  // namespace

std::optional<PublishedTraining> published_training(const std::string& task, int hidden_layers, int width) {
  static const std::map<Architecture, PublishedTraining> kTable = read_table();
  const auto found = kTable.find({task, hidden_layers, width});
  return found == kTable.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace modlab::methods
