// Locks of elements that no instruction updates (elements.hpp says which). They belong to the PE
// whose memory it is, and lie where all PEs of its node find them. The address at the owner leads to the lock, so PEs
// that map the memory and the owner's handlers take the same one.
//
// A holder does nothing but update the elements of one granule: no call, no wait. So waiters spin.
//
// Edges:  element  held.store(0) -> held.exchange    the elements of the granules of that lock
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.hpp"

namespace shmemx::atomic {

// Elements whose addresses are in the same granule have the same lock: long enough that taking it costs little beside
// the sum of a granule.
inline constexpr std::uint64_t kGranuleBytes = 4096;

class ElementLock {
 public:
  void lock() noexcept {
    if (held_.exchange(1, std::memory_order_acquire) != 0) [[unlikely]]  // element
      wait();
  }
  void unlock() noexcept { held_.store(0, std::memory_order_release); }  // element

 private:
  [[gnu::noinline, gnu::cold]] void wait() noexcept;
  alignas(kCacheLine) std::atomic<std::uint32_t> held_{0};
};
static_assert(sizeof(ElementLock) == kCacheLine && std::atomic<std::uint32_t>::is_always_lock_free);

struct ElementLocks {
  static constexpr std::size_t kLocks = 1024;
  ElementLock locks[kLocks];

  ElementLock& of(std::uint64_t address) noexcept {
    constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;
    return locks[(address / kGranuleBytes * kSpread) >> 54];
  }
};
static_assert(std::uint64_t{1} << (64 - 54) == ElementLocks::kLocks);

// Of this PE: shared ones as soon as others may reach its windows, by public_windows::start().
extern constinit ElementLocks* own_element_locks;

}  // namespace shmemx::atomic
