#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/aligned_vector.h"

namespace modlab {

// Arrays that are made together, in one piece of memory: many of them are large enough for huge pages where each alone
// is not.
template <typename T>
class ArrayRoom {
 public:
  // `array` is to have `count` numbers.
  void add(T*& array, std::size_t count) {
    constexpr std::size_t kLine = 64 / sizeof(T);
    wanted_.emplace_back(&array, size_);
    size_ += (count + kLine - 1) / kLine * kLine;
  }
  // Makes all arrays that were asked for, with zeros in them; those that were made before are gone.
  void make() {
    room_.assign(size_, T{0});
    for (const auto& [array, offset] : wanted_) {
      *array = room_.data() + offset;
    }
    wanted_.clear();
    size_ = 0;
  }

 private:
  std::vector<std::pair<T**, std::size_t>> wanted_;
  std::size_t size_ = 0;
  AlignedVector<T> room_;
};

}  // namespace modlab
