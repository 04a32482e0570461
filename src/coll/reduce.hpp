// Reductions and scans. Every PE computes in the order of the team's PE numbers, so results are the same on all PEs and
// from run to run.
//
// Short: everybody publishes its source, one barrier, everybody computes all of it.
// Long: one barrier, then PE i computes share i of the elements for everybody, reading all sources and writing all
// dests; a second barrier. Share i of any buffer is touched by PE i only, so source and dest may be the same.
// Over several nodes: coll/remote.hpp. There the order is node by node, on each in the order of PE numbers.
#pragma once

#include <algorithm>

#include "coll/group.hpp"
#include "coll/operators.hpp"
#include "coll/remote.hpp"
#include "rma/copy.hpp"

namespace shmemx::coll {

inline constexpr std::size_t kShortTotalBytes = 16384;  // of all PEs together
inline constexpr std::size_t kBlockBytes = 8192;  // what the long form works on at a time: fits the first-level cache

template <class T>
struct Elements {
  Symmetric base;
  T* at(int pe) const noexcept { return reinterpret_cast<T*>(base.at(pe)); }
};

template <class T, class Op>
inline void accumulate(T* __restrict into, const T* __restrict from, std::size_t nelems) noexcept {
  for (std::size_t i = 0; i < nelems; ++i) into[i] = Op::template apply<T>(into[i], from[i]);
}

// For code that does not know the type.
template <class T, class Op>
inline Combine combine_of() noexcept {
  return {sizeof(T), [](std::byte* into, const std::byte* from, std::size_t nelems) noexcept {
            accumulate<T, Op>(reinterpret_cast<T*>(into), reinterpret_cast<const T*>(from), nelems);
          }};
}

template <class Group>
inline bool is_short(const Group& group, std::size_t bytes) noexcept {
  return Group::kHasScratch && bytes <= windows::kScratchBytes &&
         bytes * static_cast<std::size_t>(group.size()) <= kShortTotalBytes;
}

template <class T, class Op, class Group>
inline void reduce_share(Group& group, Elements<T> dest, Elements<T> source, Share share) noexcept {
  constexpr std::size_t kBlock = kBlockBytes / sizeof(T);
  alignas(kCacheLine) T block[kBlock];
  for (std::size_t at = share.begin; at < share.end; at += kBlock) {
    const std::size_t count = std::min(kBlock, share.end - at);
    std::copy_n(source.at(0) + at, count, block);
    for (int pe = 1; pe < group.size(); ++pe) accumulate<T, Op>(block, source.at(pe) + at, count);
    for (int pe = 0; pe < group.size(); ++pe) std::copy_n(block, count, dest.at(pe) + at);
  }
}

template <class T, class Op, class Group>
inline void reduce(Group& group, Elements<T> dest, Elements<T> source, std::size_t nelems) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return reduce_remote(group, dest.base, source.base, nelems, combine_of<T, Op>());
  if constexpr (Group::kHasScratch) {
    if (is_short(group, nelems * sizeof(T))) {
      if (nelems != 0) group.publish(source.at(group.me()), nelems * sizeof(T));
      group.sync();
      T* const out = dest.at(group.me());
      for (int pe = 0; nelems != 0 && pe < group.size(); ++pe) {
        const T* const from = reinterpret_cast<const T*>(group.published(pe));
        if (pe == 0) {
          std::copy_n(from, nelems, out);
        } else {
          accumulate<T, Op>(out, from, nelems);
        }
      }
      return;
    }
  }
  group.sync();
  reduce_share<T, Op>(group, dest, source, share_of(nelems, group.me(), group.size()));
  group.sync();
}

// Running sums of one share for all PEs. Exclusive: each PE gets the sum of the lower ones, zero on PE 0.
template <class T, class Group>
inline void scan_share(Group& group, Elements<T> dest, Elements<T> source, Share share, bool exclusive) noexcept {
  constexpr std::size_t kBlock = kBlockBytes / sizeof(T);
  alignas(kCacheLine) T sum[kBlock];
  alignas(kCacheLine) T own[kBlock];
  for (std::size_t at = share.begin; at < share.end; at += kBlock) {
    const std::size_t count = std::min(kBlock, share.end - at);
    std::fill_n(sum, count, T{});
    for (int pe = 0; pe < group.size(); ++pe) {
      std::copy_n(source.at(pe) + at, count, own);  // dest may be the same memory
      if (exclusive) std::copy_n(sum, count, dest.at(pe) + at);
      accumulate<T, Sum>(sum, own, count);
      if (!exclusive) std::copy_n(sum, count, dest.at(pe) + at);
    }
  }
}

template <class T, class Group>
inline void scan(Group& group, Elements<T> dest, Elements<T> source, std::size_t nelems, bool exclusive) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return scan_remote(group, dest.base, source.base, nelems, {combine_of<T, Sum>(), exclusive});
  if (is_short(group, nelems * sizeof(T))) {
    if (nelems != 0) group.publish(source.at(group.me()), nelems * sizeof(T));
    group.sync();
    if (nelems == 0) return;
    T* const out = dest.at(group.me());
    std::fill_n(out, nelems, T{});
    const int last = group.me() + (exclusive ? 0 : 1);
    for (int pe = 0; pe < last; ++pe) accumulate<T, Sum>(out, reinterpret_cast<const T*>(group.published(pe)), nelems);
    return;
  }
  group.sync();
  scan_share<T>(group, dest, source, share_of(nelems, group.me(), group.size()), exclusive);
  group.sync();
}

}  // namespace shmemx::coll
