#include "engine/solo/parameters.h"

#include <algorithm>

namespace modlab::engine::solo {

template <typename T>
Parameters<T>::Parameters(const Layout& layout, std::span<const PixelTensor> pixel_tensors)
    : layout_(layout), places_(layout.tensors.size()) {
  for (const PixelTensor& pixels : pixel_tensors) {
    places_[pixels.tensor].parts = pixels.parts;
  }
  std::size_t size = 0;
  for (std::size_t index = 0; index < places_.size(); ++index) {
    const Tensor& tensor = layout.tensors[index];
    Place& place = places_[index];
    place.offset = size;
    if (tensor.fan_in > 0 && tensor.shape.size() > 1) {
      place.out = tensor.shape.front();
      place.in = static_cast<int>(tensor.count) / place.out;
      const int inputs = place.parts > 0 ? place.parts * even(place.in / place.parts) : place.in;
      place.count = static_cast<std::size_t>(inputs) * padded(place.out);
    } else {
      place.count = static_cast<std::size_t>(padded(static_cast<int>(tensor.count)));
    }
    size += place.count;
  }
  values_.resize(size);
  gradients_.resize(size);
}

template <typename T>
template <typename Visit>
void Parameters<T>::for_each(const Visit& visit) const {
  for (std::size_t index = 0; index < places_.size(); ++index) {
    const Place& place = places_[index];
    const Tensor& tensor = layout_.tensors[index];
    if (place.in == 0) {
      for (std::size_t element = 0; element < tensor.count; ++element) {
        visit(tensor.offset + element, place.offset + element);
      }
      continue;
    }
    const int units = padded(place.out);
    const int part_inputs = place.parts > 0 ? place.in / place.parts : place.in;
    const int part_stride = place.parts > 0 ? even(part_inputs) : part_inputs;
    const std::size_t all_inputs = static_cast<std::size_t>(place.in / part_inputs) * part_stride;
    for (int out = 0; out < place.out; ++out) {
      // The block that the unit is in; without blocks there is one.
      const int block = place.parts > 0 ? out / kPixelUnits * kPixelUnits : 0;
      const int block_units = place.parts > 0 ? std::min(kPixelUnits, units - block) : units;
      for (int in = 0; in < place.in; ++in) {
        const std::size_t row = static_cast<std::size_t>(in / part_inputs) * part_stride + in % part_inputs;
        visit(tensor.offset + static_cast<std::size_t>(out) * place.in + in,
              place.offset + block * all_inputs + row * block_units + (out - block));
      }
    }
  }
}

template <typename T>
void Parameters<T>::load(std::span<const float> flat) {
  values_ = arranged(flat);
}

template <typename T>
std::vector<float> Parameters<T>::save() const {
  return in_order(values_);
}

template <typename T>
std::vector<T> Parameters<T>::gradients_in_order() const {
  std::vector<T> flat(layout_.count);
  for_each([&](std::size_t from, std::size_t to) { flat[from] = gradients_[to]; });
  return flat;
}

template <typename T>
AlignedVector<T> Parameters<T>::arranged(std::span<const float> flat) const {
  AlignedVector<T> here(values_.size());
  for_each([&](std::size_t from, std::size_t to) { here[to] = static_cast<T>(flat[from]); });
  return here;
}

template <typename T>
std::vector<float> Parameters<T>::in_order(const AlignedVector<T>& arranged) const {
  std::vector<float> flat(layout_.count);
  for_each([&](std::size_t from, std::size_t to) { flat[from] = static_cast<float>(arranged[to]); });
  return flat;
}

template class Parameters<float>;
template class Parameters<double>;

}  // namespace modlab::engine::solo
