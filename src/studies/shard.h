#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace modlab::studies {

// A part of a study that a machine trains by itself: the third of sixteen.
struct Shard {
  int number = 1;  // from 1
  int count = 1;
  static constexpr int kMost = 100'000;  // shards of a study

  bool is_whole() const { return count == 1; }
  std::string text() const;       // "shard 3 of 16"
  std::string file_text() const;  // "shard3of16"

  friend bool operator==(const Shard&, const Shard&) = default;
};

// "3/16". Throws ConfigError.
Shard parse_shard(const std::string& text);

// To which of so many shards each of all different runs of a study belongs: whole parcels, dealt out so that shards
// have about the same to do. A function of the runs alone: the shards of a study are the same on every machine, and
// however much of them is done.
std::vector<int> deal_out(std::span<const experiments::Run> runs, int count);
// Those of one shard.
std::vector<experiments::Run> runs_of(const Shard& shard, std::vector<experiments::Run> runs);

}  // namespace modlab::studies
