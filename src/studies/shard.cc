#include "studies/shard.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <queue>

#include "core/errors.h"
#include "core/text.h"
#include "studies/parcels.h"

namespace modlab::studies {
std::string Shard::text() const { return fmt::format("shard {} of {}", number, count); }
std::string Shard::file_text() const { return fmt::format("shard{}of{}", number, count); }

Shard parse_shard(const std::string& text) {
  const std::vector<std::string> parts = split_text(text, '/');
  const std::optional<long long> number = parts.size() == 2 ? parse_integer(parts[0]) : std::nullopt;
  const std::optional<long long> count = parts.size() == 2 ? parse_integer(parts[1]) : std::nullopt;
  if (!number || !count) {
    throw ConfigError(fmt::format("shard: '{}' is not of the form 3/16, the third of sixteen", text));
  }
  if (*count < 1 || *count > Shard::kMost) {
    throw ConfigError(fmt::format("shard: a study has 1 to {} shards, not {}", Shard::kMost, *count));
  }
  if (*number < 1 || *number > *count) {
    throw ConfigError(
        fmt::format("shard: {} shards are counted from 1 to {}, and {} is none of them", *count, *count, *number));
  }
  return {static_cast<int>(*number), static_cast<int>(*count)};
}

std::vector<int> deal_out(std::span<const experiments::Run> runs, int count) {
  std::vector<int> shards(runs.size(), 1);
  if (count == 1) {
    return shards;
  }
  // Each parcel, the largest first, goes to the shard that has the least so far.
  using Load = std::pair<double, int>;  // effort, number of the shard
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (int number = 1; number <= count; ++number) {
    loads.emplace(0.0, number);
  }
  for (const Parcel& parcel : make_parcels(runs)) {
    const auto [load, number] = loads.top();
    loads.pop();
    loads.emplace(load + parcel.effort, number);
    for (const std::uint32_t run : parcel.runs) {
      shards[run] = number;
    }
  }
  return shards;
}

std::vector<experiments::Run> runs_of(const Shard& shard, std::vector<experiments::Run> runs) {
  if (shard.is_whole()) {
    return runs;
  }
  const std::vector<int> shards = deal_out(runs, shard.count);
  std::vector<experiments::Run> part;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (shards[run] == shard.number) {
      part.push_back(std::move(runs[run]));
    }
  }
  return part;
}

}  // namespace modlab::studies
