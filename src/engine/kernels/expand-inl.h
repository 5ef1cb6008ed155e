// From sample numbers to inputs: a Boolean input is a bit of a word, so a batch is a gather of words and some shifts,
// and a first-level module's answer on a whole truth table is a look-up by the bits it picked.

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

template <int kFanIn>
HWY_INLINE void look_up_fan_in(const LookUp<float>& a) {
  const Tag<float> d;
  const WordTag<float> dw;
  const std::size_t lanes = hn::Lanes(d);
  // The bit that each lane's pick means, as a word with that bit set.
  Words<float> bit[kFanIn];
  MODLAB_UNROLL
  for (int position = 0; position < kFanIn; ++position) {
    const auto pick = hn::Load(d, a.picks.unit(position));
    bit[position] = hn::Set(dw, 1U << a.bits[0].shift);
    for (std::size_t candidate = 1; candidate < a.bits.size(); ++candidate) {
      const auto chosen = hn::RebindMask(dw, hn::Eq(pick, hn::Set(d, static_cast<float>(candidate))));
      bit[position] = hn::IfThenElse(chosen, hn::Set(dw, 1U << a.bits[candidate].shift), bit[position]);
    }
  }
  Vector<float> combination[1 << kFanIn];
  MODLAB_UNROLL
  for (int index = 0; index < (1 << kFanIn); ++index) {
    combination[index] = hn::Load(d, a.combinations + index * lanes);
  }
  for (int row = 0; row < a.rows; ++row) {
    const auto word = hn::Set(dw, a.words[row]);
    Vector<float> value[1 << kFanIn];
    MODLAB_UNROLL
    for (int index = 0; index < (1 << kFanIn); ++index) {
      value[index] = combination[index];
    }
    // The last position halves the combinations first.
    MODLAB_UNROLL
    for (int position = kFanIn - 1; position >= 0; --position) {
      const auto is_one = hn::RebindMask(d, hn::TestBit(word, bit[position]));
      for (int index = 0; index < (1 << position); ++index) {
        value[index] = hn::IfThenElse(is_one, value[2 * index + 1], value[2 * index]);
      }
    }
    hn::Store(value[0], d, a.out + row * lanes);
  }
}

inline void look_up(const LookUp<float>& a) {
  switch (a.fan_in) {
    case 1:
      return look_up_fan_in<1>(a);
    case 2:
      return look_up_fan_in<2>(a);
    case 3:
      return look_up_fan_in<3>(a);
    default:
      return look_up_fan_in<4>(a);
  }
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
