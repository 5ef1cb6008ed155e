#include "studies/ranks/handout.h"

#include <algorithm>

namespace modlab::studies {
namespace {

// Whoever asks gets this part of an equal share of what is left: a guess of the effort that is wrong by less than this
// factor keeps nobody waiting in the end.
constexpr double kPartsOfShare = 8;

}  // namespace

Handout::Handout(std::span<const experiments::Run> runs) : runs_(runs), parcels_(make_parcels(runs)) {
  known_.reserve(runs.size());
  for (const Parcel& parcel : parcels_) {
    total_ += parcel.effort;
    for (const std::uint32_t place : parcel.runs) {
      known_[runs[place].number] = {place, parcel.effort / static_cast<double>(parcel.runs.size())};
    }
  }
  left_ = total_;
}

std::vector<std::uint32_t> Handout::next(int takers) {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint32_t> places;
  const double enough = left_ / (kPartsOfShare * std::max(1, takers));
  double taken = 0;
  while (next_parcel_ < parcels_.size() && (places.empty() || taken + parcels_[next_parcel_].effort <= enough)) {
    const Parcel& parcel = parcels_[next_parcel_++];
    places.insert(places.end(), parcel.runs.begin(), parcel.runs.end());
    taken += parcel.effort;
  }
  left_ -= taken;
  return places;
}

void Handout::note_finished(std::uint64_t run) {
  const std::lock_guard lock(mutex_);
  if (const auto found = known_.find(run); found != known_.end()) {
    finished_effort_ += found->second.effort;
    ++finished_;
  }
}

double Handout::share_finished() const {
  const std::lock_guard lock(mutex_);
  return total_ > 0 ? finished_effort_ / total_ : 1;
}

std::size_t Handout::finished() const {
  const std::lock_guard lock(mutex_);
  return finished_;
}

const experiments::Run* Handout::find(std::uint64_t run) const {
  const auto found = known_.find(run);
  return found == known_.end() ? nullptr : &runs_[found->second.place];
}

}  // namespace modlab::studies
