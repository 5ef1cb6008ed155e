#pragma once

#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "studies/parcels.h"

namespace modlab::studies {

// Runs that are handed out to whoever asks, the largest first. From any thread.
class Handout {
 public:
  explicit Handout(std::span<const experiments::Run> runs);

  // The next ones, as places in the list; none if all are handed out. At first many at a time, so that asking costs
  // nothing, at last one parcel, so that all `takers` threads end together.
  std::vector<std::uint32_t> next(int takers);
  void note_finished(std::uint64_t run);
  // Of all the effort, how much is finished.
  double share_finished() const;
  std::size_t finished() const;
  // Null if it is none of the runs.
  const experiments::Run* find(std::uint64_t run) const;

 private:
  struct Known {
    std::uint32_t place = 0;
    double effort = 0;
  };

  std::span<const experiments::Run> runs_;
  std::vector<Parcel> parcels_;
  std::unordered_map<std::uint64_t, Known> known_;
  mutable std::mutex mutex_;
  std::size_t next_parcel_ = 0;
  double total_ = 0;
  double left_ = 0;  // of what is not handed out
  double finished_effort_ = 0;
  std::size_t finished_ = 0;
};

}  // namespace modlab::studies
