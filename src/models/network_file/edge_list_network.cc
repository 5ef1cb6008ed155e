#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/text.h"
#include "io/csv_file.h"
#include "models/network_file/network_file_parts.h"

namespace modlab::models::network_file {
namespace {

constexpr std::size_t kMaxEdgeRows = 5'000'000;

struct EdgeColumns {
  std::size_t layer;
  std::size_t from;
  std::size_t to;
  std::optional<std::size_t> weight;
};

EdgeColumns edge_columns(const std::vector<std::string>& header, const std::string& name) {
  const auto column = [&](const char* wanted) -> std::optional<std::size_t> {
    const auto found = std::ranges::find(header, wanted);
    return found == header.end() ? std::nullopt : std::optional<std::size_t>(found - header.begin());
  };
  const auto layer = column("layer");
  const auto from = column("from");
  const auto to = column("to");
  const auto weight = column("weight");
  if (!layer || !from || !to || header.size() != (weight ? 4U : 3U)) {
    fail(name, fmt::format("has the columns {}, but a list of edges has layer, from, to and perhaps weight",
                           join_text(header, ", ").substr(0, 200)));
  }
  return {*layer, *from, *to, weight};
}

int cell_index(const std::string& cell, const char* what, const std::string& source) {
  constexpr int kMost = std::numeric_limits<int>::max();
  const std::optional<long long> number = parse_integer(cell);
  if (!number || *number < 0 || *number >= kMost) {
    fail(source, fmt::format("{} is '{}', not a whole number from 0 to {}", what, cell, kMost - 1));
  }
  return static_cast<int>(*number);
}

float cell_weight(const std::string& cell, const std::string& source) {
  const std::optional<double> number = parse_real(cell);
  const float weight = static_cast<float>(number.value_or(std::numeric_limits<double>::quiet_NaN()));
  if (!std::isfinite(weight)) {
    fail(source, fmt::format("weight is '{}', not a number that single precision can hold", cell));
  }
  return weight;
}

LayeredNetwork network_of_rows(const io::Csv& csv, const std::string& name, const NetworkFileOptions& options) {
  const EdgeColumns columns = edge_columns(csv.header, name);
  LayeredNetwork network;
  network.widths = options.sizes;
  network.connections.resize(std::max<std::size_t>(options.sizes.size(), 1) - 1);
  for (const io::CsvRow& row : csv.rows) {
    const std::string source = fmt::format("{}:{}", name, row.line);
    const int layer = cell_index(row.cells[columns.layer], "layer", source);
    const Edge edge{cell_index(row.cells[columns.from], "from", source),
                    cell_index(row.cells[columns.to], "to", source),
                    columns.weight ? cell_weight(row.cells[*columns.weight], source) : 1.0F};
    const auto place = static_cast<std::size_t>(layer);
    // An edge touches two layers: more than twice as many cannot all have units, and are not believed.
    if (place >= (options.sizes.empty() ? 2 * csv.rows.size() : network.connections.size())) {
      fail(source, fmt::format("layer is {}, which is beyond the layers of this network; they count from 0", layer));
    }
    if (options.sizes.empty()) {
      network.connections.resize(std::max(network.connections.size(), place + 1));
      network.widths.resize(network.connections.size() + 1);
      network.widths[place] = std::max(network.widths[place], edge.from + 1);
      network.widths[place + 1] = std::max(network.widths[place + 1], edge.to + 1);
    }
    network.connections[place].edges.push_back(edge);
  }
  return checked(std::move(network), name);
}

}  // namespace

NamedNetwork network_of_csv(const std::string& text, const std::string& name, const NetworkFileOptions& options) {
  refuse_others(options, {.sizes = true}, name);
  NamedNetwork named;
  named.id = id_of_file(name);
  named.network = network_of_rows(io::parse_csv(text, name, kMaxEdgeRows, 4), name, options);
  return named;
}

bool is_edge_list(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = trim(text.substr(0, text.find('\n')));
    if (!line.empty() && line.front() != '#') {
      return line.find("layer") != std::string_view::npos && line.find("from") != std::string_view::npos;
    }
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return false;
}

}  // namespace modlab::models::network_file
