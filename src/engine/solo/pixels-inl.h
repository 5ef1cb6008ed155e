// The first layer of an image network. Four of five pixels are zero, and only the others cost anything.

#if defined(MODLAB_ENGINE_SOLO_PIXELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODLAB_ENGINE_SOLO_PIXELS_INL_H_
#undef MODLAB_ENGINE_SOLO_PIXELS_INL_H_
#else
#define MODLAB_ENGINE_SOLO_PIXELS_INL_H_
#endif

#include "engine/kernels/lane_math-inl.h"
#include "engine/solo/kernels.h"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace modlab::engine::HWY_NAMESPACE {

// A row's sums, or its gradient, fill so many registers while the weights of its pixels pass by.
inline constexpr int kPixelVectors = 8;

// Images lie scattered in memory; asked for all at once they arrive while the first ones are worked on.
HWY_INLINE void prefetch_rows(const solo::PixelRows& x) {
  constexpr std::size_t kLine = 64;
  const solo::PixelImages& images = *x.images;
  const std::size_t bands = images.bands();
  for (int row = 0; row < x.rows; ++row) {
    for (int part = 0; part < x.parts; ++part) {
      const std::size_t image = x.numbers[static_cast<std::size_t>(row) * x.stride + part];
      const std::size_t first = images.begin[image * bands];
      const std::size_t last = images.begin[(image + 1) * bands];
      for (std::size_t at = first; at < last; at += kLine / sizeof(images.places[0])) {
        hwy::Prefetch(images.places.data() + at);
      }
      for (std::size_t at = first; at < last; at += kLine) {
        hwy::Prefetch(images.bytes.data() + at);
      }
    }
  }
}

template <typename T, int kVectors>
HWY_INLINE void pixel_forward_at(const solo::PixelForward<T>& a, int unit) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const solo::PixelImages& images = *a.x.images;
  for (int row = 0; row < a.x.rows; ++row) {
    MODLAB_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const auto start = a.bias == nullptr ? hn::Zero(d) : hn::Load(d, a.bias + unit + v * lanes);
      hn::Store(start, d, a.y + static_cast<std::size_t>(row) * a.y_stride + unit + v * lanes);
    }
  }
  // A band's weights stay in the first cache level while all rows pass by.
  const std::size_t bands = images.bands();
  for (std::size_t place = 0; place < a.x.parts * bands; ++place) {
    const std::size_t part = place / bands;
    const T* HWY_RESTRICT weights = a.weights + part * images.pixels * a.units + unit;
    for (int row = 0; row < a.x.rows; ++row) {
      const std::size_t image = a.x.numbers[static_cast<std::size_t>(row) * a.x.stride + part];
      const std::uint32_t* begin = images.begin.data() + image * bands + place % bands;
      const std::uint32_t first = begin[0];
      const std::uint32_t last = begin[1];
      if (first == last) {
        continue;
      }
      T* HWY_RESTRICT y = a.y + static_cast<std::size_t>(row) * a.y_stride + unit;
      Vector<T> sums[kVectors];
      MODLAB_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        sums[v] = hn::Load(d, y + v * lanes);
      }
      for (std::uint32_t at = first; at < last; ++at) {
        const T* HWY_RESTRICT w = weights + images.places[at] * static_cast<std::size_t>(a.units);
        const auto value = hn::Set(d, static_cast<T>(images.value_of_byte[images.bytes[at]]));
        MODLAB_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          sums[v] = fused(value, hn::Load(d, w + v * lanes), sums[v]);
        }
      }
      MODLAB_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        hn::Store(sums[v], d, y + v * lanes);
      }
    }
  }
  for (int row = 0; a.relu && row < a.x.rows; ++row) {
    MODLAB_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      T* y = a.y + static_cast<std::size_t>(row) * a.y_stride + unit + v * lanes;
      hn::Store(relu(hn::Zero(d), hn::Load(d, y)), d, y);
    }
  }
}

// Left to itself the compiler loads a value again for each product that takes it, and loads are what there is least of.
template <typename V>
HWY_INLINE V loaded_once(V v) {
#if HWY_TARGET != HWY_SCALAR && HWY_ARCH_X86
  asm("" : "+v"(v.raw));
#endif
  return v;
}

template <typename T, int kVectors>
HWY_INLINE void pixel_gradient_at(const solo::PixelGradient<T>& a, int unit) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const solo::PixelColumns& columns = *a.columns;
  const float* value_of_byte = columns.images->value_of_byte.data();
  for (int pair = a.first; pair < a.last; ++pair) {
    T* HWY_RESTRICT left = a.gradients + static_cast<std::size_t>(2 * (pair - a.first)) * a.units + unit;
    T* HWY_RESTRICT right = left + a.units;
    Vector<T> left_sums[kVectors];
    Vector<T> right_sums[kVectors];
    MODLAB_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      left_sums[v] = a.add ? hn::Load(d, left + v * lanes) : hn::Zero(d);
      right_sums[v] = a.add ? hn::Load(d, right + v * lanes) : hn::Zero(d);
    }
    for (std::uint32_t at = columns.begin[pair]; at < columns.begin[pair + 1]; ++at) {
      const solo::PixelColumns::Entry entry = columns.entries[at];
      const T* HWY_RESTRICT dy = a.dy + static_cast<std::size_t>(entry.row) * a.dy_stride + unit;
      const auto left_value = hn::Set(d, static_cast<T>(value_of_byte[entry.left]));
      const auto right_value = hn::Set(d, static_cast<T>(value_of_byte[entry.right]));
      MODLAB_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const auto upstream = loaded_once(hn::Load(d, dy + v * lanes));
        left_sums[v] = fused(left_value, upstream, left_sums[v]);
        right_sums[v] = fused(right_value, upstream, right_sums[v]);
      }
    }
    MODLAB_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      hn::Store(left_sums[v], d, left + v * lanes);
      hn::Store(right_sums[v], d, right + v * lanes);
    }
  }
}

// Units of a block: as many as fill the registers, then one vector at a time.
template <typename T, typename At>
HWY_INLINE void cover_units(int units, const At& at) {
  const int lanes = static_cast<int>(hn::Lanes(Tag<T>()));
  int unit = 0;
  for (; unit + kPixelVectors * lanes <= units; unit += kPixelVectors * lanes) {
    at.template operator()<kPixelVectors>(unit);
  }
  for (; unit < units; unit += lanes) {
    at.template operator()<1>(unit);
  }
}

template <typename T>
void pixel_forward(const solo::PixelForward<T>& a) {
  prefetch_rows(a.x);
  cover_units<T>(a.units, [&]<int kVectors>(int unit) HWY_ATTR { pixel_forward_at<T, kVectors>(a, unit); });
}

template <typename T>
void pixel_gradient(const solo::PixelGradient<T>& a) {
  cover_units<T>(a.units, [&]<int kVectors>(int unit) HWY_ATTR { pixel_gradient_at<T, kVectors>(a, unit); });
}

}  // namespace modlab::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
