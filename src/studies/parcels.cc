#include "studies/parcels.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace modlab::studies {
namespace {

using experiments::Run;

// Runs that differ in free settings alone.
struct Shape {
  const experiments::Experiment* kind = nullptr;
  std::vector<std::vector<std::uint32_t>> shares;  // runs that share their work
  std::vector<double> efforts;                     // of each of those
};

std::string shape_key(const Run& run) {
  std::string key(run.kind->name());
  for (std::size_t at = 0; at < run.values.size(); ++at) {
    const settings::Setting& setting = run.values.setting_at(at);
    if (!setting.is_free && !setting.is_replicate()) {
      key += '\n' + setting.name + '=' + run.values.text_at(at);
    }
  }
  return key;
}

}  // namespace

std::vector<Parcel> make_parcels(std::span<const Run> runs) {
  struct Known {
    std::size_t shape;
    double effort;
  };
  std::vector<Shape> shapes;
  std::map<std::string, std::size_t> shape_of_key;
  // Runs that share a row differ in splits and seeds alone: each row is looked at once.
  std::unordered_map<const settings::Values::Row*, Known> known;
  // Shape and place of what runs share, by Experiment::share_key.
  std::map<const experiments::Experiment*, std::unordered_map<std::uint64_t, std::pair<std::size_t, std::size_t>>>
      shared;
  for (std::uint32_t at = 0; at < runs.size(); ++at) {
    const Run& run = runs[at];
    auto found = known.find(run.values.row());
    if (found == known.end()) {
      const auto [entry, is_new] = shape_of_key.emplace(shape_key(run), shapes.size());
      if (is_new) {
        shapes.push_back({run.kind, {}, {}});
      }
      found = known.emplace(run.values.row(), Known{entry->second, run.kind->effort(run)}).first;
    }
    const std::size_t own = found->second.shape;
    const auto [place, is_new] = shared[run.kind].try_emplace(run.kind->share_key(run), own, shapes[own].shares.size());
    Shape& shape = shapes[place->second.first];
    if (is_new) {
      shape.shares.emplace_back();
      shape.efforts.push_back(0);
    }
    shape.shares[place->second.second].push_back(at);
    double& effort = shape.efforts[place->second.second];
    effort = std::max(effort, found->second.effort);
  }

  std::vector<Parcel> parcels;
  for (const Shape& shape : shapes) {
    const auto most = static_cast<std::size_t>(shape.kind->side_by_side());
    for (std::size_t first = 0; first < shape.shares.size(); first += most) {
      Parcel& parcel = parcels.emplace_back();
      const std::size_t last = std::min(first + most, shape.shares.size());
      for (std::size_t share = first; share < last; ++share) {
        parcel.runs.insert(parcel.runs.end(), shape.shares[share].begin(), shape.shares[share].end());
        // Lanes that nobody uses cost as much as the others.
        parcel.effort = std::max(parcel.effort, shape.efforts[share] * static_cast<double>(most));
      }
    }
  }
  std::ranges::stable_sort(parcels, std::ranges::greater(), &Parcel::effort);
  return parcels;
}

}  // namespace modlab::studies
