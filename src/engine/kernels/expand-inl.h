// From sample numbers to inputs: a Boolean input is a bit of a word, so a batch is a gather of words and some shifts.

#if defined(MODLAB_ENGINE_KERNELS_EXPAND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_KERNELS_EXPAND_INL_H_
#undef MODLAB_ENGINE_KERNELS_EXPAND_INL_H_
#else
#define MODLAB_ENGINE_KERNELS_EXPAND_INL_H_
#endif

#include "engine/kernels/kernels.h"
#include "engine/kernels/lane_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

inline void expand(const Expand<float>& a) {
  const Tag<float> d;
  const hn::RebindToSigned<Tag<float>> di;
  const std::size_t lanes = hn::Lanes(d);
  const auto* table = reinterpret_cast<const std::int32_t*>(a.words);
  for (int row = 0; row < a.rows; ++row) {
    hn::Vec<decltype(di)> word;
    if (a.same_in_all_lanes) {
      word = hn::Set(di, table[a.samples[row]]);
    } else {
      const auto* samples = reinterpret_cast<const std::int32_t*>(a.samples) + row * lanes;
      word = hn::GatherIndex(di, table, hn::LoadU(di, samples));
    }
    for (std::size_t field = 0; field < a.fields.size(); ++field) {
      const auto mask = hn::Set(di, static_cast<std::int32_t>(a.fields[field].mask));
      const auto value = hn::And(hn::ShiftRightSame(word, a.fields[field].shift), mask);
      hn::Store(hn::ConvertTo(d, value), d, a.out.unit(field) + row * lanes);
    }
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
