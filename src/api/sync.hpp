// wait_until and test, on one word and on arrays. They read words atomically; waits go through the one waiting policy.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "api/arg_check.hpp"
#include "check/checks.hpp"
#include "progress/test_loop.hpp"
#include "progress/wait.hpp"
#include "sync/compare.hpp"

namespace shmemx::api {

// Ends the job with a diagnostic if the address is not symmetric. Called before the first read, which would fault.
inline void check_waitable(const char* routine, const char* argument, const void* address, std::uint64_t bytes,
                           std::size_t element_bytes = sizeof(std::uint64_t)) noexcept {
  if (context::in_heap(default_context(), reinterpret_cast<std::uintptr_t>(address), bytes)) [[likely]]
    return;
  const bool is_checked = check::watches_operations();
  if (bytes == 0 || (!is_checked && context::is_symmetric(default_context(), address, bytes))) [[likely]]
    return;
  static_cast<void>(context::resolve(default_context(), {routine, argument}, address, bytes, default_context().my_pe));
  context::check_alignment({routine, argument}, reinterpret_cast<std::uintptr_t>(address), element_bytes);
}

template <class T>
inline void wait_until(const char* routine, T* ivar, int cmp, T value) noexcept {
  check_comparison(routine, cmp);
  check_waitable(routine, "ivar", ivar, sizeof(T), sizeof(T));
  if (sync::compares(sync::load(ivar), cmp, value)) return;
  const auto awaited = [=] { return bootstrap::awaited_word(ivar, cmp, value, sync::load(ivar)); };
  switch (cmp) {
    case SHMEM_CMP_EQ:
      return progress::wait_for(routine, progress::Described{[=] { return sync::load(ivar) == value; }, awaited});
    case SHMEM_CMP_NE:
      return progress::wait_for(routine, progress::Described{[=] { return sync::load(ivar) != value; }, awaited});
    default:
      return progress::wait_for(
          routine, progress::Described{[=] { return sync::compares(sync::load(ivar), cmp, value); }, awaited});
  }
}

template <class T>
inline int test(const char* routine, T* ivar, int cmp, T value) noexcept {
  check_comparison(routine, cmp);
  check_waitable(routine, "ivar", ivar, sizeof(T), sizeof(T));
  if (sync::compares(sync::load(ivar), cmp, value)) {
    progress::test_succeeded();
    return 1;
  }
  progress::test_failed(routine, ivar, cmp, value);
  return 0;
}

// What the array forms examine. Elements whose status is not zero are left out.
template <class T>
struct WaitSet {
  const T* ivars;
  std::size_t nelems;
  const int* status;  // null: no mask
  int cmp;
  const T* values;  // one for each element, or
  T value;          // one for all where values is null

  bool selected(std::size_t i) const noexcept { return status == nullptr || status[i] == 0; }
  bool satisfied(std::size_t i) const noexcept {
    return sync::compares(sync::load(ivars + i), cmp, values == nullptr ? value : values[i]);
  }
  bool is_empty() const noexcept {
    for (std::size_t i = 0; i < nelems; ++i) {
      if (selected(i)) return false;
    }
    return true;
  }
  bool all_satisfied() const noexcept {
    for (std::size_t i = 0; i < nelems; ++i) {
      if (selected(i) && !satisfied(i)) return false;
    }
    return true;
  }
  // Returns the first satisfied element from `start` on, cyclically, or SIZE_MAX.
  std::size_t find_from(std::size_t start) const noexcept {
    for (std::size_t k = 0; k < nelems; ++k) {
      const std::size_t i = start + k < nelems ? start + k : start + k - nelems;
      if (selected(i) && satisfied(i)) return i;
    }
    return SIZE_MAX;
  }
  bootstrap::Awaited awaited() const noexcept {
    bootstrap::Awaited all = bootstrap::awaited_word(ivars, cmp, value, value);
    all.kind = bootstrap::Awaited::Kind::words;
    all.count = nelems;
    return all;
  }
  std::size_t collect(std::size_t* indices) const noexcept {
    std::size_t count = 0;
    for (std::size_t i = 0; i < nelems; ++i) {
      if (selected(i) && satisfied(i)) indices[count++] = i;
    }
    return count;
  }
};

// Where the `any` routines begin: after the element of the same array that they reported last, so that repeated calls
// report all elements. Arrays that a program waits on in turn should not reset each other's position, so there are
// many.
inline constexpr std::size_t kAnyStarts = 64;
inline constinit std::atomic<std::size_t> any_starts[kAnyStarts] = {};
inline std::atomic<std::size_t>& any_start_of(const void* ivars) noexcept {
  return any_starts[(reinterpret_cast<std::uintptr_t>(ivars) * 0x9e3779b97f4a7c15U) >> 58];
}

template <class T>
inline std::size_t find_any(const WaitSet<T>& set) noexcept {
  if (set.nelems == 0) return SIZE_MAX;
  std::atomic<std::size_t>& start = any_start_of(set.ivars);
  const std::size_t found = set.find_from(start.load(std::memory_order_relaxed) % set.nelems);  // a hint only
  if (found != SIZE_MAX) start.store(found + 1, std::memory_order_relaxed);
  return found;
}

template <class T>
inline void check_set(const char* routine, const WaitSet<T>& set) noexcept {
  check_comparison(routine, set.cmp);
  check_waitable(routine, "ivars", set.ivars, checked_bytes(routine, set.nelems, sizeof(T)), sizeof(T));
}

template <class T>
inline void wait_all(const char* routine, const WaitSet<T>& set) noexcept {
  check_set(routine, set);
  progress::wait_for(routine, progress::Described{[&] { return set.all_satisfied(); }, [&] { return set.awaited(); }});
}

template <class T>
inline std::size_t wait_any(const char* routine, const WaitSet<T>& set) noexcept {
  check_set(routine, set);
  if (set.is_empty()) return SIZE_MAX;
  std::size_t found = SIZE_MAX;
  progress::wait_for(
      routine, progress::Described{[&] { return (found = find_any(set)) != SIZE_MAX; }, [&] { return set.awaited(); }});
  return found;
}

template <class T>
inline std::size_t wait_some(const char* routine, const WaitSet<T>& set, std::size_t* indices) noexcept {
  check_set(routine, set);
  if (set.is_empty()) return 0;
  check_result(routine, "indices", indices);
  std::size_t count = 0;
  progress::wait_for(
      routine, progress::Described{[&] { return (count = set.collect(indices)) != 0; }, [&] { return set.awaited(); }});
  return count;
}

template <class T>
inline void wait_until_all(const char* routine, T* ivars, std::size_t nelems, const int* status, int cmp,
                           T value) noexcept {
  wait_all(routine, WaitSet<T>{ivars, nelems, status, cmp, nullptr, value});
}
template <class T>
inline std::size_t wait_until_any(const char* routine, T* ivars, std::size_t nelems, const int* status, int cmp,
                                  T value) noexcept {
  return wait_any(routine, WaitSet<T>{ivars, nelems, status, cmp, nullptr, value});
}
template <class T>
inline std::size_t wait_until_some(const char* routine, T* ivars, std::size_t nelems, std::size_t* indices,
                                   const int* status, int cmp, T value) noexcept {
  return wait_some(routine, WaitSet<T>{ivars, nelems, status, cmp, nullptr, value}, indices);
}
template <class T>
inline void wait_until_all_vector(const char* routine, T* ivars, std::size_t nelems, const int* status, int cmp,
                                  const T* values) noexcept {
  wait_all(routine, WaitSet<T>{ivars, nelems, status, cmp, values, T{}});
}
template <class T>
inline std::size_t wait_until_any_vector(const char* routine, T* ivars, std::size_t nelems, const int* status, int cmp,
                                         const T* values) noexcept {
  return wait_any(routine, WaitSet<T>{ivars, nelems, status, cmp, values, T{}});
}
template <class T>
inline std::size_t wait_until_some_vector(const char* routine, T* ivars, std::size_t nelems, std::size_t* indices,
                                          const int* status, int cmp, const T* values) noexcept {
  return wait_some(routine, WaitSet<T>{ivars, nelems, status, cmp, values, T{}}, indices);
}

template <class T>
inline int test_all_of(const char* routine, const WaitSet<T>& set) noexcept {
  check_set(routine, set);
  if (set.all_satisfied()) {
    progress::test_succeeded();
    return 1;
  }
  progress::test_failed(routine, set.ivars, set.cmp, set.value, set.nelems);
  return 0;
}
template <class T>
inline std::size_t test_any_of(const char* routine, const WaitSet<T>& set) noexcept {
  check_set(routine, set);
  const std::size_t found = find_any(set);
  if (found == SIZE_MAX) {
    progress::test_failed(routine, set.ivars, set.cmp, set.value, set.nelems);
  } else {
    progress::test_succeeded();
  }
  return found;
}
template <class T>
inline std::size_t test_some_of(const char* routine, const WaitSet<T>& set, std::size_t* indices) noexcept {
  check_set(routine, set);
  if (set.nelems != 0) check_result(routine, "indices", indices);
  const std::size_t count = set.collect(indices);
  if (count == 0) {
    progress::test_failed(routine, set.ivars, set.cmp, set.value, set.nelems);
  } else {
    progress::test_succeeded();
  }
  return count;
}

template <class T>
inline int test_all(const char* routine, T* ivars, std::size_t nelems, const int* status, int cmp, T value) noexcept {
  return test_all_of(routine, WaitSet<T>{ivars, nelems, status, cmp, nullptr, value});
}
template <class T>
inline std::size_t test_any(const char* routine, T* ivars, std::size_t nelems, const int* status, int cmp,
                            T value) noexcept {
  return test_any_of(routine, WaitSet<T>{ivars, nelems, status, cmp, nullptr, value});
}
template <class T>
inline std::size_t test_some(const char* routine, T* ivars, std::size_t nelems, std::size_t* indices, const int* status,
                             int cmp, T value) noexcept {
  return test_some_of(routine, WaitSet<T>{ivars, nelems, status, cmp, nullptr, value}, indices);
}
template <class T>
inline int test_all_vector(const char* routine, T* ivars, std::size_t nelems, const int* status, int cmp,
                           const T* values) noexcept {
  return test_all_of(routine, WaitSet<T>{ivars, nelems, status, cmp, values, T{}});
}
template <class T>
inline std::size_t test_any_vector(const char* routine, T* ivars, std::size_t nelems, const int* status, int cmp,
                                   const T* values) noexcept {
  return test_any_of(routine, WaitSet<T>{ivars, nelems, status, cmp, values, T{}});
}
template <class T>
inline std::size_t test_some_vector(const char* routine, T* ivars, std::size_t nelems, std::size_t* indices,
                                    const int* status, int cmp, const T* values) noexcept {
  return test_some_of(routine, WaitSet<T>{ivars, nelems, status, cmp, values, T{}}, indices);
}

}  // namespace shmemx::api
