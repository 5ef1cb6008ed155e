#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/aligned_vector.h"
#include "engine/network.h"
#include "engine/solo/masked_kernels.h"

namespace modlab::models {

// How the parameters of a network lie in memory for the masked kernels: matrices in panels of units, biases padded or,
// where they are to be masked, as matrices of one input; every tensor from a whole number of panels on.
class PanelLayout {
 public:
  explicit PanelLayout(const engine::Layout& layout, bool biases_as_matrices = false);

  struct Place {
    std::size_t offset = 0;
    std::size_t count = 0;  // padded
    int inputs = 0;         // 0: a bias
    int units = 0;

    int panels() const { return engine::solo::panel_count(units); }
    std::size_t panel_size() const { return count / static_cast<std::size_t>(panels()); }
  };
  const Place& operator[](std::size_t tensor) const { return places_[tensor]; }
  std::size_t tensors() const { return places_.size(); }
  std::size_t size() const { return size_; }

  // From the order of the layout to panels, and back.
  template <typename T>
  AlignedVector<T> arranged(std::span<const float> flat) const {
    AlignedVector<T> panels(size_);
    for_each([&](std::size_t from, std::size_t to) { panels[to] = static_cast<T>(flat[from]); });
    return panels;
  }
  template <typename To, typename T>
  std::vector<To> in_order(const AlignedVector<T>& panels) const {
    std::vector<To> flat(flat_size_);
    for_each([&](std::size_t from, std::size_t to) { flat[from] = static_cast<To>(panels[to]); });
    return flat;
  }

 private:
  // Calls visit(place in the layout, place here) for every parameter.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    constexpr std::size_t kPad = engine::solo::kUnitPad;
    std::size_t from = 0;
    for (const Place& place : places_) {
      const auto inputs = static_cast<std::size_t>(place.inputs);
      for (std::size_t unit = 0; unit < static_cast<std::size_t>(place.units); ++unit) {
        const std::size_t panel = place.offset + unit / kPad * place.panel_size() + unit % kPad;
        for (std::size_t input = 0; input < inputs; ++input) {
          visit(from++, panel + input * kPad);
        }
        if (inputs == 0) {
          visit(from++, panel);
        }
      }
    }
  }

  std::vector<Place> places_;
  std::size_t size_ = 0;
  std::size_t flat_size_ = 0;
};

}  // namespace modlab::models
