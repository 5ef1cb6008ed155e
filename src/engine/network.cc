#include "engine/network.h"

#include <functional>
#include <numeric>

namespace modlab::engine {

std::size_t Layout::add(std::string name, std::vector<int> shape, Rate rate, int fan_in, int fan_out) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.count = std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  tensor.shape = std::move(shape);
  tensor.offset = count;
  tensor.rate = rate;
  tensor.fan_in = fan_in;
  tensor.fan_out = fan_out;
  count += tensor.count;
  tensors.push_back(std::move(tensor));
  return tensors.back().offset;
}

}  // namespace modlab::engine
