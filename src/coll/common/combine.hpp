// How reductions and scans combine elements: typed loops, the same without the type, and the shares of elements that
// PEs compute for each other.
#pragma once

#include <algorithm>
#include <cstddef>

#include "coll/common/operators.hpp"
#include "coll/common/symmetric.hpp"

namespace shmemx::coll {

template <class T>
struct Elements {
  Symmetric base;
  T* at(int pe) const noexcept { return reinterpret_cast<T*>(base.at(pe)); }
};

template <class T, class Op>
inline void accumulate(T* __restrict into, const T* __restrict from, std::size_t nelems) noexcept {
  for (std::size_t i = 0; i < nelems; ++i) into[i] = Op::template apply<T>(into[i], from[i]);
}

// An operator on elements of some type, for code that does not know the type: into = into op from.
struct Combine {
  std::size_t element_bytes;
  void (*accumulate)(std::byte* into, const std::byte* from, std::size_t nelems) noexcept;
};

template <class T, class Op>
inline Combine combine_of() noexcept {
  return {sizeof(T), [](std::byte* into, const std::byte* from, std::size_t nelems) noexcept {
            accumulate<T, Op>(reinterpret_cast<T*>(into), reinterpret_cast<const T*>(from), nelems);
          }};
}

// A scan, for code that does not know the type.
struct Scan {
  Combine sum;
  bool exclusive;
};

// The elements that PE `pe` of `n` computes for all.
struct Share {
  std::size_t begin;
  std::size_t end;
  std::size_t size() const noexcept { return end - begin; }
};
inline Share share_of(std::size_t nelems, int pe, int n) noexcept {
  const auto count = static_cast<std::size_t>(n);
  const auto index = static_cast<std::size_t>(pe);
  const std::size_t base = nelems / count;
  const std::size_t rest = nelems % count;
  const std::size_t begin = index * base + std::min(index, rest);
  return {begin, begin + base + (index < rest ? 1 : 0)};
}

}  // namespace shmemx::coll
