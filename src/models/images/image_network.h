#pragma once

#include <memory>

#include "engine/solo/network.h"
#include "models/images/shape.h"

namespace modlab::models {

template <typename T>
std::unique_ptr<engine::solo::Network<T>> make_image_mlp(const ImageMlpShape& shape,
                                                         const engine::solo::Kernels<T>& kernels);
template <typename T>
std::unique_ptr<engine::solo::Network<T>> make_image_modular(const ImageModularShape& shape,
                                                             const engine::solo::Kernels<T>& kernels);

}  // namespace modlab::models
