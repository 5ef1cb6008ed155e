#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace modlab {

// Vectors start on a cache line, so that a lane vector never straddles two. Large ones ask for huge pages: data that is
// read here and there would otherwise spend its time in looking up addresses.
template <typename T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::size_t kHugePage = std::size_t{1} << 21;

  CacheLineAllocator() = default;
  template <typename U>
  CacheLineAllocator(const CacheLineAllocator<U>& /*other*/) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    void* memory = ::operator new(bytes, alignment(count));
    if (bytes >= kHugePage) {
      ::madvise(memory, bytes, MADV_HUGEPAGE);  // a hint: without it all is as well, only slower
    }
    return static_cast<T*>(memory);
  }
  void deallocate(T* pointer, std::size_t count) { ::operator delete(pointer, alignment(count)); }
  bool operator==(const CacheLineAllocator& /*other*/) const { return true; }

 private:
  static std::align_val_t alignment(std::size_t count) {
    constexpr std::size_t kCacheLine = 64;
    return std::align_val_t{count * sizeof(T) >= kHugePage ? kHugePage : kCacheLine};
  }
};

template <typename T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace modlab
