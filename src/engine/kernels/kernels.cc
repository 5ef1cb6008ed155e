#include "engine/kernels/kernels.h"

// Includes this file once for each target, see the CMake definitions for which.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/kernels.cc"
#include "hwy/foreach_target.h"

#include <chrono>
#include <cstdlib>

#include "core/errors.h"
#include "core/text.h"
#include "engine/kernels/dense-inl.h"
#include "engine/kernels/expand-inl.h"
#include "engine/kernels/lane_math-inl.h"
#include "engine/kernels/loss-inl.h"
#include "engine/kernels/mask-inl.h"
#include "engine/kernels/module-inl.h"
#include "engine/kernels/random-inl.h"
#include "engine/kernels/select-inl.h"
#include "engine/kernels/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

// Independent chains of fused products, as many as hide the latency: what the core can do at best.
inline double fma_peak_gflops() {
  constexpr int kChains = 12;
  constexpr int kIterations = 2'000'000;
  const Tag<float> d;
  Vector<float> sum[kChains];
  for (int chain = 0; chain < kChains; ++chain) {
    sum[chain] = hn::Set(d, static_cast<float>(chain));
  }
  const auto factor = hn::Set(d, 0.999F);
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    for (int iteration = 0; iteration < kIterations; ++iteration) {
      for (auto& chain : sum) {
        chain = fused(chain, factor, factor);
      }
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    const double gflops = 2e-9 * kChains * kIterations * static_cast<double>(hn::Lanes(d)) / seconds.count();
    best = gflops > best ? gflops : best;
  }
  // Used, so that the loop is not removed.
  for (int chain = 1; chain < kChains; ++chain) {
    sum[0] = hn::Add(sum[0], sum[chain]);
  }
  return hn::GetLane(sum[0]) < 0 ? 0.0 : best;
}

template <typename T>
Kernels<T> common_kernels(const char* target) {
  Kernels<T> table{};
  table.lanes = static_cast<int>(hn::Lanes(Tag<T>()));
  table.target = target;
  table.dense_forward = &dense_forward<T>;
  table.dense_input_gradient = &dense_input_gradient<T>;
  table.dense_weight_gradient = &dense_weight_gradient<T>;
  table.module_forward = &module_forward<T>;
  table.module_backward = &module_backward<T>;
  table.top_k = &top_k<T>;
  table.gather = &gather<T>;
  table.scatter = &scatter<T>;
  table.correlate = &correlate<T>;
  table.sigmoid_slope = &sigmoid_slope<T>;
  table.sigmoid_finish = &sigmoid_finish<T>;
  table.softmax_finish = &softmax_finish<T>;
  table.softmax_shares = &softmax_shares<T>;
  table.softmax_rows = &softmax_rows<T>;
  table.take_task = &take_task<T>;
  table.loss_gradient = &loss_gradient<T>;
  table.score = &score<T>;
  table.update = &update<T>;
  table.keep_lanes = &keep_lanes<T>;
  table.add_to = &add_to<T>;
  table.mask_odds = &mask_odds<T>;
  table.draw_mask = &draw_mask<T>;
  table.apply_mask = &apply_mask<T>;
  table.mask_gradient = &mask_gradient<T>;
  table.mask_penalty = &mask_penalty<T>;
  table.clip_lanes = &clip_lanes<T>;
  table.weigh_units = &weigh_units<T>;
  return table;
}

const Kernels<float>& float_kernels(const char* target) {
  static const Kernels<float> kTable = [target] {
    Kernels<float> kernels = common_kernels<float>(target);
    kernels.expand = &expand;
    kernels.look_up = &look_up;
    kernels.add_normal = &add_normal;
    kernels.gumbel_noise = &gumbel_noise;
    kernels.uniforms = &uniforms;
    kernels.random_words = &random_words;
    kernels.fma_peak_gflops = &fma_peak_gflops;
    return kernels;
  }();
  return kTable;
}

#if HWY_TARGET == HWY_SCALAR
const Kernels<double>& double_kernels() {
  static const Kernels<double> kTable = common_kernels<double>("scalar double");
  return kTable;
}
#endif

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace modlab::engine {
namespace {

struct Target {
  const char* name;
  std::int64_t bit;
  const Kernels<float>& (*kernels)(const char*);
};

// Best first.
constexpr Target kTargets[] = {
#if HWY_TARGETS & HWY_AVX3
    {"avx512", HWY_AVX3, &N_AVX3::float_kernels},
#endif
#if HWY_TARGETS & HWY_AVX2
    {"avx2", HWY_AVX2, &N_AVX2::float_kernels},
#endif
    {"scalar", HWY_SCALAR, &N_SCALAR::float_kernels},
};

bool is_supported(const Target& target) {
  return target.bit == HWY_SCALAR || (hwy::SupportedTargets() & target.bit) != 0;
}

}  // namespace

std::vector<std::string> supported_targets() {
  std::vector<std::string> names;
  for (const Target& target : kTargets) {
    if (is_supported(target)) {
      names.emplace_back(target.name);
    }
  }
  return names;
}

const Kernels<float>& kernels_for(const std::string& target) {
  for (const Target& candidate : kTargets) {
    if (target == candidate.name && is_supported(candidate)) {
      return candidate.kernels(candidate.name);
    }
  }
  const std::vector<std::string> names = supported_targets();
  throw ConfigError("MODLAB_TARGET '" + target + "' is not available on this machine; use one of " +
                    join_text(names, ", "));
}

const Kernels<float>& kernels() {
  const char* asked = std::getenv("MODLAB_TARGET");
  return kernels_for(asked != nullptr && *asked != '\0' ? asked : supported_targets().front());
}

const Kernels<double>& oracle_kernels() { return N_SCALAR::double_kernels(); }

}  // namespace modlab::engine
#endif
