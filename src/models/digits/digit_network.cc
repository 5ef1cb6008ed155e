#include "models/digits/digit_network.h"

#include <algorithm>

#include "models/digits/digit_fnn.h"
#include "models/digits/digit_lstm.h"

namespace modlab::models {

namespace solo = engine::solo;

namespace {

// Rows of an evaluation that are computed at once: as many as a batch usually has, so that nothing is allocated anew.
constexpr int kEvaluationRows = 128;
// Rows of a block: the widest tile there is, or a half of it where a sample has no more.
constexpr int kBlockRows = 32;
constexpr int kNarrowRows = 16;

solo::RowBlocks cut_rows(int rows, int samples) {
  const int each = rows / samples;
  const int width = each > kNarrowRows ? kBlockRows : kNarrowRows;
  return {.width = width, .samples = samples, .each = (each + width - 1) / width, .times = 1};
}

}  // namespace

template <typename T>
DigitNetworkOf<T>::DigitNetworkOf(const DigitShape& shape, const solo::MaskedKernels<T>& kernels, Team& team)
    : shape_(shape),
      layout_(digit_layout(shape)),
      panels_(layout_, shape.masks_biases),
      kernels_(kernels),
      team_(team) {
  values_.resize(panels_.size());
}

template <typename T>
void DigitNetworkOf<T>::begin(const DigitBatch& batch, int first_row, int rows, const DigitMasks& masks) {
  const RowBlocks old = blocks_;
  const std::size_t old_reads = reads_.size();
  const int old_steps = steps_;
  blocks_ = cut_rows(rows, masks.samples);
  masks_ = masks;
  masks_.bits.resize(panels_.tensors());
  steps_ = batch.steps;
  active_ = batch.active;
  asked_ = batch.groups;
  groups_ = shape_.outputs / kDigitClasses;
  reads_ = batch.read_at;
  std::ranges::sort(reads_);
  reads_.erase(std::unique(reads_.begin(), reads_.end()), reads_.end());
  read_of_group_.clear();
  for (const int step : batch.read_at) {
    read_of_group_.push_back(static_cast<int>(std::ranges::find(reads_, step) - reads_.begin()));
  }
  if (z_.empty() || old.width != blocks_.width || old.at_once() != blocks_.at_once() || old_reads != reads_.size() ||
      old_steps != steps_) {
    z_.assign(reads_.size() * step_size(shape_.outputs), T{0});
    dz_ = z_;
    make_room();
  }
  const std::size_t width = blocks_.width;
  const auto blocks = static_cast<std::size_t>(blocks_.at_once());
  const auto each = static_cast<std::size_t>(rows / masks.samples);
  inputs_.assign(static_cast<std::size_t>(steps_) * one_hot_size(), kNoInput);
  x_.assign(batch.values.empty() ? 0 : step_size(shape_.inputs), T{0});
  digits_.assign(reads_.size() * blocks * groups_ * width, T{-1});
  losses_.assign(blocks * width, T{0});
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    const std::size_t in_sample = row % each;
    const std::size_t block = row / each * blocks_.each + in_sample / width;
    const std::size_t place = in_sample % width;
    const std::size_t from = static_cast<std::size_t>(first_row) + row;
    for (std::size_t step = 0; step < static_cast<std::size_t>(steps_); ++step) {
      std::copy_n(batch.inputs.begin() + static_cast<std::ptrdiff_t>((from * steps_ + step) * active_), active_,
                  inputs_.begin() + static_cast<std::ptrdiff_t>(((step * blocks + block) * width + place) * active_));
    }
    if (!x_.empty()) {
      const auto numbers = static_cast<std::size_t>(shape_.inputs);
      T* column = x_.data() + block * block_size(shape_.inputs) + place;
      for (std::size_t input = 0; input < numbers; ++input) {
        column[input * width] = static_cast<T>(batch.values[from * numbers + input]);
      }
    }
    for (std::size_t group = 0; group < static_cast<std::size_t>(asked_); ++group) {
      if (batch.counts[group] != 0) {
        const auto read = static_cast<std::size_t>(read_of_group_[group]);
        digits_[((read * blocks + block) * groups_ + group % groups_) * width + place] =
            static_cast<T>(batch.digits[from * asked_ + group]);
      }
    }
  }
}

template <typename T>
void DigitNetworkOf<T>::forward(const DigitBatch& batch, const DigitMasks& masks) {
  const engine::FlushDenormals flush;
  begin(batch, 0, batch.rows, masks);
  run_forward();
}

template <typename T>
double DigitNetworkOf<T>::loss(T scale) {
  const engine::FlushDenormals flush;
  const std::size_t size = block_size(shape_.outputs);
  const auto blocks = static_cast<std::size_t>(blocks_.at_once());
  const std::size_t labels = static_cast<std::size_t>(groups_) * blocks_.width;
  for (std::size_t place = 0; place < reads_.size() * blocks; ++place) {
    kernels_.digit_loss({.z = z_.data() + place * size,
                         .digits = digits_.data() + place * labels,
                         .d = dz_.data() + place * size,
                         .loss = losses_.data() + place % blocks * blocks_.width,
                         .scale = scale,
                         .width = blocks_.width,
                         .groups = groups_});
  }
  double sum = 0;
  for (const T row : losses_) {
    sum += static_cast<double>(row);
  }
  return sum;
}

template <typename T>
void DigitNetworkOf<T>::backward(const DigitGradient<T>& gradient) {
  const engine::FlushDenormals flush;
  run_backward(gradient);
}

template <typename T>
const T* DigitNetworkOf<T>::evaluate(const DigitBatch& batch) {
  const engine::FlushDenormals flush;
  const std::size_t each = static_cast<std::size_t>(batch.groups) * kDigitClasses;
  said_.assign(static_cast<std::size_t>(batch.rows) * each, T{0});
  for (int first = 0; first < batch.rows; first += kEvaluationRows) {
    const int rows = std::min(kEvaluationRows, batch.rows - first);
    begin(batch, first, rows, {});
    run_forward();
    const auto width = static_cast<std::size_t>(blocks_.width);
    for (std::size_t said = 0; said < each; ++said) {
      const auto read = static_cast<std::size_t>(read_of_group_[said / kDigitClasses]);
      const std::size_t output = said % static_cast<std::size_t>(shape_.outputs);
      for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
        said_[(static_cast<std::size_t>(first) + row) * each + said] =
            z_[read * step_size(shape_.outputs) + row / width * block_size(shape_.outputs) + output * width +
               row % width];
      }
    }
  }
  return said_.data();
}

template <typename T>
solo::MaskedWeights<T> DigitNetworkOf<T>::weights_of(std::size_t tensor) const {
  const Place& place = panels_[tensor];
  return {.values = value(tensor), .bits = masks_.bits[tensor], .inputs = place.inputs, .units = place.units};
}

template <typename T>
auto DigitNetworkOf<T>::asked_of(std::size_t tensor, const DigitGradient<T>& gradient) const -> Asked {
  const std::size_t offset = panels_[tensor].offset;
  T* sums = gradient.weight_sums == nullptr ? nullptr : gradient.weight_sums + offset;
  if (gradient.wanted[tensor] == 0) {
    return {.gradients = sums, .weight_sums = nullptr, .slope = {}, .add = true};
  }
  Asked asked = {
      .gradients = gradient.values + offset, .weight_sums = sums, .slope = gradient.slope, .add = gradient.add};
  if (asked.slope.logits != nullptr) {
    asked.slope.logits += offset;
  }
  asked.slope.noise.tensor = static_cast<std::uint32_t>(tensor);
  return asked;
}

template <typename T>
void DigitNetworkOf<T>::multiply(std::size_t tensor, const RowBlocks& blocks, const T* x, const T* bias, const T* start,
                                 T* y, bool relu) const {
  share_stretches(panels_[tensor].panels(), [&](int first, int last) {
    kernels_.forward({.weights = weights_of(tensor),
                      .blocks = blocks,
                      .x = x,
                      .bias = bias,
                      .start = start,
                      .y = y,
                      .relu = relu,
                      .first_panel = first,
                      .last_panel = last});
  });
}

template <typename T>
void DigitNetworkOf<T>::gather(std::size_t tensor, const RowBlocks& blocks, const std::uint16_t* inputs, const T* bias,
                               T* y, bool relu) const {
  share_stretches(panels_[tensor].panels(), [&](int first, int last) {
    kernels_.one_hot_forward({.weights = weights_of(tensor),
                              .blocks = blocks,
                              .x = {inputs, active_, kNoInput},
                              .bias = bias,
                              .y = y,
                              .relu = relu,
                              .first_panel = first,
                              .last_panel = last});
  });
}

template <typename T>
void DigitNetworkOf<T>::multiply_back(std::size_t tensor, const RowBlocks& blocks, const T* dy, const T* start,
                                      const T* x, T* dx) const {
  share_stretches(solo::panel_count(panels_[tensor].inputs), [&](int first, int last) {
    kernels_.input_gradient({.weights = weights_of(tensor),
                             .blocks = blocks,
                             .dy = dy,
                             .start = start,
                             .x = x,
                             .dx = dx,
                             .first_input = first * solo::kUnitPad,
                             .last_input = last * solo::kUnitPad});
  });
}

template <typename T>
void DigitNetworkOf<T>::turn(const RowBlocks& blocks, int units, const T* dy) {
  const std::size_t size = block_size(units);
  dy_rows_.resize(std::max(dy_rows_.size(), size * blocks.count()));
  share(blocks.count(), [&](int block) {
    kernels_.turn_rows({dy + block * size, dy_rows_.data() + block * size, blocks.width, units});
  });
}

template <typename T>
void DigitNetworkOf<T>::add_gradient(std::size_t tensor, const RowBlocks& blocks, const T* x,
                                     const DigitGradient<T>& gradient, int first_block) const {
  const Asked asked = asked_of(tensor, gradient);
  if (asked.gradients == nullptr) {
    return;
  }
  const Place& place = panels_[tensor];
  share_stretches(place.panels(), [&](int first, int last) {
    kernels_.gradient({.weights = weights_of(tensor),
                       .blocks = blocks,
                       .x = x,
                       .dy_rows = dy_rows_.data() + first_block * block_size(place.units),
                       .slope = asked.slope,
                       .gradients = asked.gradients,
                       .weight_sums = asked.weight_sums,
                       .add = asked.add,
                       .first_panel = first,
                       .last_panel = last});
  });
}

template <typename T>
void DigitNetworkOf<T>::add_one_hot_gradient(std::size_t tensor, const RowBlocks& blocks, const std::uint16_t* inputs,
                                             const DigitGradient<T>& gradient) const {
  const Asked asked = asked_of(tensor, gradient);
  if (asked.gradients == nullptr) {
    return;
  }
  const Place& place = panels_[tensor];
  const std::size_t room = static_cast<std::size_t>(blocks.samples) * place.inputs * solo::kUnitPad;
  share_stretches(place.panels(), [&](int first, int last) {
    AlignedVector<T> sums(room);
    kernels_.one_hot_gradient({.weights = weights_of(tensor),
                               .blocks = blocks,
                               .x = {inputs, active_, kNoInput},
                               .dy_rows = dy_rows_.data(),
                               .slope = asked.slope,
                               .gradients = asked.gradients,
                               .weight_sums = asked.weight_sums,
                               .room = sums.data(),
                               .add = asked.add,
                               .first_panel = first,
                               .last_panel = last});
  });
}

template <typename T>
void DigitNetworkOf<T>::add_bias_gradient(std::size_t tensor, const RowBlocks& blocks,
                                          const DigitGradient<T>& gradient) const {
  const Asked asked = asked_of(tensor, gradient);
  if (asked.gradients == nullptr) {
    return;
  }
  const Place& place = panels_[tensor];
  for (int panel = 0; panel < place.panels(); ++panel) {
    kernels_.row_sums({.dy_rows = dy_rows_.data(),
                       .sums = asked.gradients + static_cast<std::size_t>(panel) * solo::kUnitPad,
                       .blocks = blocks.count(),
                       .width = blocks.width,
                       .panels = place.panels(),
                       .panel = panel,
                       .add = asked.add});
  }
}

template <typename T>
std::unique_ptr<DigitNetworkOf<T>> make_digit_network(const DigitShape& shape, const solo::MaskedKernels<T>& kernels,
                                                      Team& team) {
  if (shape.kind == DigitNetworkKind::kFnn) {
    return std::make_unique<DigitFnn<T>>(shape, kernels, team);
  }
  return std::make_unique<DigitLstm<T>>(shape, kernels, team);
}

template class DigitNetworkOf<float>;
template class DigitNetworkOf<double>;
template std::unique_ptr<DigitNetworkOf<float>> make_digit_network(const DigitShape&, const solo::MaskedKernels<float>&,
                                                                   Team&);
template std::unique_ptr<DigitNetworkOf<double>> make_digit_network(const DigitShape&,
                                                                    const solo::MaskedKernels<double>&, Team&);

}  // namespace modlab::models
