#include "models/digits/panel_layout.h"

namespace modlab::models {

PanelLayout::PanelLayout(const engine::Layout& layout, bool biases_as_matrices) : flat_size_(layout.count) {
  for (const engine::Tensor& tensor : layout.tensors) {
    Place place;
    place.offset = size_;
    place.units = tensor.shape.front();
    place.inputs = tensor.shape.size() > 1 ? tensor.shape.back() : (biases_as_matrices ? 1 : 0);
    const int inputs = place.inputs > 0 ? engine::solo::padded_inputs(place.inputs) : 1;
    place.count = static_cast<std::size_t>(inputs) * engine::solo::padded(place.units);
    size_ += place.count;
    places_.push_back(place);
  }
}

}  // namespace modlab::models
