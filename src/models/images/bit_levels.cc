#include "models/images/bit_levels.h"

#include <algorithm>
#include <numeric>

namespace modlab::models {

using engine::solo::kUnitPad;
using engine::solo::padded;

namespace {

template <typename T>
Selector<T> make_selector(const ImageModularLayout& places, std::size_t tensor, int candidates, int columns, int k,
                          typename Selector<T>::Soft soft) {
  const engine::Tensor& described = places.layout.tensors[tensor];
  return {tensor,
          described.offset - places.layout.structural_begin,
          candidates,
          columns,
          k,
          soft,
          described.rate != engine::Rate::kFrozen};
}

}  // namespace

template <typename T>
BitLevels<T>::BitLevels(const ImageModularShape& shape, const ImageModularLayout& places,
                        engine::solo::Parameters<T>& parameters, const engine::solo::Kernels<T>& kernels)
    : shape_(shape.bits),
      parameters_(parameters),
      kernels_(kernels),
      outputs_(make_selector<T>(places, places.outputs, shape.bits.output_candidates(), 1, shape.bits.outputs,
                                Selector<T>::Soft::kSigmoid)) {
  int candidates = shape_.inputs;
  int slots = 0;
  for (std::size_t level = 0; level < shape_.levels.size(); ++level) {
    first_slot_.push_back(slots);
    inputs_.push_back(make_selector<T>(places, places.level_inputs[level], candidates, shape_.levels[level],
                                       shape_.picks(level), Selector<T>::Soft::kSigmoid));
    if (has_pool()) {
      members_.push_back(make_selector<T>(places, places.level_members[level], shape_.pool, shape_.levels[level], 1,
                                          Selector<T>::Soft::kSoftmax));
    }
    candidates = shape_.levels[level];
    slots += shape_.levels[level];
  }
  for (const std::vector<std::size_t>& tensors : places.modules) {
    modules_.emplace_back(shape_.module_widths, tensors, padded(shape_.fan_in), kernels);
  }
  const int members = has_pool() ? shape_.pool : 1;
  for (int slot = 0; slot < slots; ++slot) {
    Slot& made = slots_.emplace_back();
    made.z.resize(static_cast<std::size_t>(kColumnStride) * padded(shape_.fan_in));
    for (int member = 0; member < members; ++member) {
      made.uses.push_back(modules_.front().make_use(kColumnStride));
    }
  }
  values_.resize(static_cast<std::size_t>(slots) * kColumnStride);
  dvalues_.resize(values_.size());
  members_values_.resize(values_.size() * members);
  logits_.resize(static_cast<std::size_t>(shape_.outputs) * kColumnStride);
  upstream_.resize(kColumnStride);
}

template <typename T>
void BitLevels<T>::choose(const T* noise) {
  for (Selector<T>& selector : inputs_) {
    selector.choose(parameters_, noise);
  }
  for (Selector<T>& selector : members_) {
    selector.choose(parameters_, noise);
  }
  outputs_.choose(parameters_, noise);
}

template <typename T>
void BitLevels<T>::begin_backward() {
  for (LayerStack<T>& module : modules_) {
    module.begin_backward(parameters_);
  }
}

template <typename T>
int BitLevels<T>::module_of(std::size_t level, int slot) const {
  return has_pool() ? members_[level].pick(slot) : first_slot_[level] + slot;
}

template <typename T>
const T* BitLevels<T>::below(std::size_t level, const T* inputs, int candidate) const {
  return level == 0 ? inputs + static_cast<std::size_t>(candidate) * kColumnStride
                    : value(first_slot_[level - 1] + candidate);
}

template <typename T>
const T* BitLevels<T>::forward(const T* inputs, int rows, bool training) {
  const int whole = padded(rows);
  const int z_stride = padded(shape_.fan_in);
  const int out_stride = padded(1);
  const auto take_column = [&](const T* from, T* to) {
    for (int row = 0; row < rows; ++row) {
      to[row] = from[static_cast<std::size_t>(row) * out_stride];
    }
    std::fill(to + rows, to + whole, T{0});
  };
  for (std::size_t level = 0; level < shape_.levels.size(); ++level) {
    for (int slot = 0; slot < shape_.levels[level]; ++slot) {
      const int index = first_slot_[level] + slot;
      Slot& here = slots_[index];
      const std::span<const int> picks = inputs_[level].picks(slot);
      for (std::size_t position = 0; position < picks.size(); ++position) {
        const T* column = below(level, inputs, picks[position]);
        for (int row = 0; row < rows; ++row) {
          here.z[static_cast<std::size_t>(row) * z_stride + position] = column[row];
        }
      }
      const int picked = has_pool() ? members_[level].pick(slot) : 0;
      const bool runs_all = has_pool() && training && members_[level].learned();
      for (int member = 0; member < static_cast<int>(here.uses.size()); ++member) {
        if (member != picked && !runs_all) {
          continue;
        }
        const LayerStack<T>& module = modules_[has_pool() ? member : index];
        const T* out = module.forward(parameters_, here.z.data(), rows, here.uses[member]);
        if (member == picked) {
          take_column(out, value(index));
        }
        if (runs_all) {
          take_column(
              out, members_values_.data() + (static_cast<std::size_t>(index) * shape_.pool + member) * kColumnStride);
        }
      }
    }
  }
  for (int output = 0; output < shape_.outputs; ++output) {
    std::copy_n(value(first_output_slot() + outputs_.picks(0)[output]), whole,
                logits_.data() + static_cast<std::size_t>(output) * kColumnStride);
  }
  return logits_.data();
}

template <typename T>
T BitLevels<T>::sum_of_products(const T* a, const T* b, int rows) const {
  return kernels_.dot(a, b, static_cast<std::size_t>(padded(rows)));
}

template <typename T>
void BitLevels<T>::collect(Selector<T>& selector, int column, const T* upstream, std::size_t level, const T* inputs,
                           int rows) {
  for (int candidate = 0; selector.learned() && candidate < selector.candidates(); ++candidate) {
    selector.add(column, candidate, sum_of_products(upstream, below(level, inputs, candidate), rows));
  }
}

template <typename T>
void BitLevels<T>::backward(const T* inputs, const T* dlogits, int rows, T* dinputs) {
  const int whole = padded(rows);
  std::ranges::fill(dvalues_, T{0});
  std::fill_n(dinputs, static_cast<std::size_t>(shape_.inputs) * kColumnStride, T{0});
  std::fill_n(upstream_.data(), whole, T{0});
  for (int output = 0; output < shape_.outputs; ++output) {
    const T* d = dlogits + static_cast<std::size_t>(output) * kColumnStride;
    T* to = dvalue(first_output_slot() + outputs_.picks(0)[output]);
    for (int row = 0; row < rows; ++row) {
      to[row] += d[row];
      upstream_[row] += d[row];
    }
  }
  for (int candidate = 0; outputs_.learned() && candidate < outputs_.candidates(); ++candidate) {
    outputs_.add(0, candidate, sum_of_products(upstream_.data(), value(first_output_slot() + candidate), rows));
  }
  for (std::size_t level = shape_.levels.size(); level-- > 0;) {
    for (int slot = 0; slot < shape_.levels[level]; ++slot) {
      slot_backward(level, slot, inputs, rows, dinputs);
    }
  }
}

template <typename T>
void BitLevels<T>::slot_backward(std::size_t level, int slot, const T* inputs, int rows, T* dinputs) {
  const int index = first_slot_[level] + slot;
  const int z_stride = padded(shape_.fan_in);
  const int out_stride = padded(1);
  Slot& here = slots_[index];
  const T* d = dvalue(index);
  if (has_pool() && members_[level].learned()) {
    for (int member = 0; member < shape_.pool; ++member) {
      const T* said = members_values_.data() + (static_cast<std::size_t>(index) * shape_.pool + member) * kColumnStride;
      members_[level].add(slot, member, sum_of_products(d, said, rows));
    }
  }
  typename LayerStack<T>::Use& use = here.uses[has_pool() ? members_[level].pick(slot) : 0];
  for (int row = 0; row < rows; ++row) {
    use.dy.back()[static_cast<std::size_t>(row) * out_stride] = d[row];
  }
  modules_[module_of(level, slot)].backward(parameters_, here.z.data(), false, true, rows, use);

  const std::span<const int> picks = inputs_[level].picks(slot);
  std::fill_n(upstream_.data(), padded(rows), T{0});
  for (std::size_t position = 0; position < picks.size(); ++position) {
    T* to = level == 0 ? dinputs + static_cast<std::size_t>(picks[position]) * kColumnStride
                       : dvalue(first_slot_[level - 1] + picks[position]);
    for (int row = 0; row < rows; ++row) {
      const T dz = use.dx[static_cast<std::size_t>(row) * z_stride + position];
      to[row] += dz;
      upstream_[row] += dz;
    }
  }
  collect(inputs_[level], slot, upstream_.data(), level, inputs, rows);
}

template <typename T>
void BitLevels<T>::end_step(const engine::solo::Step<T>& step) {
  for (Selector<T>& selector : inputs_) {
    selector.finish(parameters_, step, kernels_);
  }
  for (Selector<T>& selector : members_) {
    selector.finish(parameters_, step, kernels_);
  }
  outputs_.finish(parameters_, step, kernels_);
}

template class BitLevels<float>;
template class BitLevels<double>;

}  // namespace modlab::models
