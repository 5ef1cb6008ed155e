#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace modlab {

// Vectors start on a cache line, so that a lane vector never straddles two.
template <typename T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  CacheLineAllocator() = default;
  template <typename U>
  CacheLineAllocator(const CacheLineAllocator<U>& /*other*/) {}

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kAlignment)); }
  void deallocate(T* pointer, std::size_t /*count*/) { ::operator delete(pointer, kAlignment); }
  bool operator==(const CacheLineAllocator& /*other*/) const { return true; }
};

template <typename T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace modlab
