#include "models/rules/gating.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random.h"
#include "models/rules/gates.h"

namespace modlab::models {

using engine::solo::padded;

template <typename T>
Gating<T>::Gating(const RuleShape& shape, const engine::solo::Kernels<T>& kernels)
    : modules_(shape.modules),
      is_oracle_(shape.model == RuleModel::kGtModular),
      settings_(shape.gates),
      kernels_(kernels),
      route_(shape) {}

template <typename T>
void Gating<T>::begin_forward(const RuleBatch& batch) {
  const bool is_training = batch.use == SampleUse::kTraining;
  if (rows_ != batch.rows()) {
    rows_ = batch.rows();
    shares_.assign(static_cast<std::size_t>(place(rows_)), T{0});
    gates_.assign(shares_.size(), T{0});
  }
  rule_decides_ = is_oracle_ || (is_training && batch.iteration < settings_.oracle_steps);
  gates_are_shares_ = !rule_decides_ && settings_.kind == GateKind::kSoft;
  temperature_ = static_cast<T>(settings_.temperature *
                                std::pow(settings_.cooling, std::min(1.0, static_cast<double>(batch.iteration) /
                                                                              std::max(1, settings_.iterations))));
  if (rule_decides_) {
    route_.find(batch);
  }
  noise_.clear();
  if (settings_.gumbel > 0 && is_training && !rule_decides_) {
    constexpr std::size_t kBlock = engine::solo::kNormalBlock;
    noise_.resize((shares_.size() + kBlock - 1) / kBlock * kBlock);
    kernels_.gumbels({stream_key(settings_.seed, Stream::kGumbel), batch.step, static_cast<std::uint32_t>(batch.use),
                      noise_.data(), static_cast<int>(noise_.size())});
  }
}

template <typename T>
void Gating<T>::choose(int first, int count) {
  if (rule_decides_) {
    for (int row = first; row < first + count; ++row) {
      std::fill_n(gates_.data() + place(row), padded(modules_), T{0});
      gates_[static_cast<std::size_t>(place(row) + route_[row])] = 1;
    }
    return;
  }
  const auto begin = static_cast<std::size_t>(place(first));
  const auto end = static_cast<std::size_t>(place(first + count));
  for (std::size_t at = begin; at < end && !noise_.empty(); ++at) {
    shares_[at] += static_cast<T>(settings_.gumbel) * static_cast<T>(noise_[at]);
  }
  for (std::size_t at = begin; at < end && temperature_ != 1; ++at) {
    shares_[at] /= temperature_;
  }
  if (settings_.entropy != 0) {
    logits_.resize(shares_.size());
    std::copy(shares_.begin() + static_cast<std::ptrdiff_t>(begin), shares_.begin() + static_cast<std::ptrdiff_t>(end),
              logits_.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  softmax_rows(kernels_, shares_.data() + begin, count, modules_);
  for (int row = first; row < first + count && !gates_are_shares_; ++row) {
    harden(row);
  }
}

// The largest shares, the first of equals before the others.
template <typename T>
void Gating<T>::harden(int row) {
  const T* shares = shares_.data() + place(row);
  T* gates = gates_.data() + place(row);
  std::fill_n(gates, padded(modules_), T{0});
  const bool as_they_are = settings_.kind == GateKind::kTopK;
  const int kept = as_they_are ? std::min(settings_.top_k, modules_) : 1;
  for (int found = 0; found < kept; ++found) {
    int largest = -1;
    for (int module = 0; module < modules_; ++module) {
      if (gates[module] == 0 && (largest < 0 || shares[module] > shares[largest])) {
        largest = module;
      }
    }
    // A share that is too small for a number still says which module was meant.
    gates[largest] = as_they_are ? std::max(shares[largest], std::numeric_limits<T>::min()) : T{1};
  }
}

// The loss M sum_m f_m P_m, where P_m is the mean share of module m and f_m how often it has the largest one (Fedus,
// Zoph and Shazeer, "Switch Transformers", eq. (4)). f has no gradient.
template <typename T>
void Gating<T>::begin_backward() {
  even_.clear();
  if (settings_.balance == 0 || rule_decides_) {
    return;
  }
  even_.assign(static_cast<std::size_t>(modules_), T{0});
  for (int row = 0; row < rows_; ++row) {
    const T* shares = shares_.data() + place(row);
    even_[static_cast<std::size_t>(std::max_element(shares, shares + modules_) - shares)] += 1;
  }
  for (T& asked : even_) {
    asked *=
        static_cast<T>(settings_.balance) * static_cast<T>(modules_) / (static_cast<T>(rows_) * static_cast<T>(rows_));
  }
}

template <typename T>
void Gating<T>::ask_scores(int row, T* asked) const {
  if (rule_decides_) {
    std::fill_n(asked, modules_, T{0});
    return;
  }
  if (settings_.kind == GateKind::kTopK) {
    for (int module = 0; module < modules_; ++module) {
      asked[module] = gates(row)[module] > 0 ? asked[module] : T{0};
    }
  }
  for (std::size_t module = 0; module < even_.size(); ++module) {
    asked[module] += even_[module];
  }
  if (settings_.entropy != 0) {
    // The entropy's gradient by a share is its logarithm, but for what is the same for all modules and falls out.
    const T weight = static_cast<T>(settings_.entropy) / static_cast<T>(rows_);
    for (int module = 0; module < modules_; ++module) {
      asked[module] += weight * logits_[static_cast<std::size_t>(place(row) + module)];
    }
  }
  softmax_gradient(shares_.data() + place(row), asked, modules_, asked);
  for (int module = 0; module < modules_ && temperature_ != 1; ++module) {
    asked[module] /= temperature_;
  }
}

template class Gating<float>;
template class Gating<double>;

}  // namespace modlab::models
