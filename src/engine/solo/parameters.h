#pragma once

#include <span>
#include <vector>

#include "core/aligned_vector.h"
#include "engine/network.h"
#include "engine/solo/kernels.h"

namespace modlab::engine::solo {

// A weight matrix that reads images: `parts` of them side by side.
struct PixelTensor {
  std::size_t tensor = 0;  // in the layout
  int parts = 1;
};

// The parameters of one network in the form that the solo kernels read, and their gradients. Matrices are turned to
// [input][unit] with padded units, those of PixelTensors stand in blocks of kPixelUnits; biases are padded; selection
// vectors are as in the layout. Every tensor begins on a whole number of vectors.
template <typename T>
class Parameters {
 public:
  Parameters(const Layout& layout, std::span<const PixelTensor> pixel_tensors);

  T* values(std::size_t tensor) { return values_.data() + places_[tensor].offset; }
  T* gradients(std::size_t tensor) { return gradients_.data() + places_[tensor].offset; }

  // From and to the order of the layout.
  void load(std::span<const float> flat);
  std::vector<float> save() const;
  std::vector<T> gradients_in_order() const;
  // Other numbers of each parameter (a mask) in the form of values().
  AlignedVector<T> arranged(std::span<const float> flat) const;
  std::vector<float> in_order(const AlignedVector<T>& arranged) const;

  // All of it, for the optimiser.
  AlignedVector<T>& all_values() { return values_; }
  AlignedVector<T>& all_gradients() { return gradients_; }
  std::size_t offset(std::size_t tensor) const { return places_[tensor].offset; }
  std::size_t padded_count(std::size_t tensor) const { return places_[tensor].count; }

 private:
  struct Place {
    std::size_t offset = 0;
    std::size_t count = 0;  // padded
    int in = 0;             // 0: not a matrix
    int out = 0;
    int parts = 0;  // 0: does not read images
  };
  // Calls visit(place in the layout, place here) for every parameter.
  template <typename Visit>
  void for_each(const Visit& visit) const;

  Layout layout_;
  std::vector<Place> places_;
  AlignedVector<T> values_;
  AlignedVector<T> gradients_;
};

// An image has an even number of pixels here: the kernels take them in pairs.
constexpr int even(int pixels) { return pixels + pixels % 2; }

}  // namespace modlab::engine::solo
