// Part of shmemx.hpp: waits and tests on this PE's objects, and locks.
#ifndef SHMEMX_WAITS_HPP
#define SHMEMX_WAITS_HPP

#include <cstddef>
#include <cstdint>
#include <span>

#include "symmetric.hpp"

namespace shmemx {

enum class cmp : int {
  eq = SHMEM_CMP_EQ,
  ne = SHMEM_CMP_NE,
  gt = SHMEM_CMP_GT,
  ge = SHMEM_CMP_GE,
  lt = SHMEM_CMP_LT,
  le = SHMEM_CMP_LE
};

namespace face_detail {

template <symmetric S>
value_of<S>* waited(const S& at) noexcept {
  static_assert(waitable<value_of<S>>,
                "shmemx: the standard has no waits on this type; it has them for int, long, long long and "
                "their unsigned kin");
  require_variable<typename S::element_type>();
  return address(at);
}
inline const int* excluded(std::span<const int> status) noexcept { return status.empty() ? nullptr : status.data(); }

}  // namespace face_detail

// Waits until the object satisfies the comparison; a test compares once.
template <symmetric S>
void wait_until(const S& at, cmp comparison, value_of<S> value) noexcept {
  shmem_wait_until(face_detail::waited(at), static_cast<int>(comparison), value);
}
template <symmetric S>
bool test(const S& at, cmp comparison, value_of<S> value) noexcept {
  return shmem_test(face_detail::waited(at), static_cast<int>(comparison), value) != 0;
}
// Returns the value that satisfied the comparison.
inline std::uint64_t signal_wait_until(symmetric_ptr<std::uint64_t> signal, cmp comparison,
                                       std::uint64_t value) noexcept {
  return shmem_signal_wait_until(signal.get(), static_cast<int>(comparison), value);
}

// ---- Several objects. A non-zero status[i] excludes object i; without a status none is excluded. ----
// _any returns an index, or SIZE_MAX for an empty set or, for a test, if none matches. _some writes the indices that
// match to `indices`, which has room for all, and returns their number.

template <symmetric S>
void wait_until_all(const S& at, cmp comparison, value_of<S> value, std::span<const int> status = {}) noexcept {
  shmem_wait_until_all(face_detail::waited(at), at.size(), face_detail::excluded(status), static_cast<int>(comparison),
                       value);
}
template <symmetric S>
std::size_t wait_until_any(const S& at, cmp comparison, value_of<S> value, std::span<const int> status = {}) noexcept {
  return shmem_wait_until_any(face_detail::waited(at), at.size(), face_detail::excluded(status),
                              static_cast<int>(comparison), value);
}
template <symmetric S>
std::size_t wait_until_some(const S& at, std::size_t* indices, cmp comparison, value_of<S> value,
                            std::span<const int> status = {}) noexcept {
  return shmem_wait_until_some(face_detail::waited(at), at.size(), indices, face_detail::excluded(status),
                               static_cast<int>(comparison), value);
}
template <symmetric S>
bool test_all(const S& at, cmp comparison, value_of<S> value, std::span<const int> status = {}) noexcept {
  return shmem_test_all(face_detail::waited(at), at.size(), face_detail::excluded(status), static_cast<int>(comparison),
                        value) != 0;
}
template <symmetric S>
std::size_t test_any(const S& at, cmp comparison, value_of<S> value, std::span<const int> status = {}) noexcept {
  return shmem_test_any(face_detail::waited(at), at.size(), face_detail::excluded(status), static_cast<int>(comparison),
                        value);
}
template <symmetric S>
std::size_t test_some(const S& at, std::size_t* indices, cmp comparison, value_of<S> value,
                      std::span<const int> status = {}) noexcept {
  return shmem_test_some(face_detail::waited(at), at.size(), indices, face_detail::excluded(status),
                         static_cast<int>(comparison), value);
}

// Wait and test with a value for each object.
template <symmetric S>
void wait_until_all_vector(const S& at, cmp comparison, const value_of<S>* values,
                           std::span<const int> status = {}) noexcept {
  shmem_wait_until_all_vector(face_detail::waited(at), at.size(), face_detail::excluded(status),
                              static_cast<int>(comparison), values);
}
template <symmetric S>
std::size_t wait_until_any_vector(const S& at, cmp comparison, const value_of<S>* values,
                                  std::span<const int> status = {}) noexcept {
  return shmem_wait_until_any_vector(face_detail::waited(at), at.size(), face_detail::excluded(status),
                                     static_cast<int>(comparison), values);
}
template <symmetric S>
std::size_t wait_until_some_vector(const S& at, std::size_t* indices, cmp comparison, const value_of<S>* values,
                                   std::span<const int> status = {}) noexcept {
  return shmem_wait_until_some_vector(face_detail::waited(at), at.size(), indices, face_detail::excluded(status),
                                      static_cast<int>(comparison), values);
}
template <symmetric S>
bool test_all_vector(const S& at, cmp comparison, const value_of<S>* values,
                     std::span<const int> status = {}) noexcept {
  return shmem_test_all_vector(face_detail::waited(at), at.size(), face_detail::excluded(status),
                               static_cast<int>(comparison), values) != 0;
}
template <symmetric S>
std::size_t test_any_vector(const S& at, cmp comparison, const value_of<S>* values,
                            std::span<const int> status = {}) noexcept {
  return shmem_test_any_vector(face_detail::waited(at), at.size(), face_detail::excluded(status),
                               static_cast<int>(comparison), values);
}
template <symmetric S>
std::size_t test_some_vector(const S& at, std::size_t* indices, cmp comparison, const value_of<S>* values,
                             std::span<const int> status = {}) noexcept {
  return shmem_test_some_vector(face_detail::waited(at), at.size(), indices, face_detail::excluded(status),
                                static_cast<int>(comparison), values);
}

// A lock over all PEs, for std::lock_guard, std::unique_lock and std::scoped_lock. Construction is collective. To
// release it completes the operations on the default context first.
class symmetric_mutex {
 public:
  symmetric_mutex() : word_(1) {}
  symmetric_mutex(const symmetric_mutex&) = delete;
  symmetric_mutex& operator=(const symmetric_mutex&) = delete;
  void lock() noexcept { shmem_set_lock(word_.data()); }
  bool try_lock() noexcept { return shmem_test_lock(word_.data()) == 0; }
  void unlock() noexcept { shmem_clear_lock(word_.data()); }

 private:
  symmetric_array<long> word_;
};

// A lock on a symmetric long of the program, 0 on all PEs before the first use.
class symmetric_lock {
 public:
  explicit symmetric_lock(symmetric_ptr<long> word) noexcept : word_(word) {}
  void lock() noexcept { shmem_set_lock(word_.get()); }
  bool try_lock() noexcept { return shmem_test_lock(word_.get()) == 0; }
  void unlock() noexcept { shmem_clear_lock(word_.get()); }

 private:
  symmetric_ptr<long> word_;
};

}  // namespace shmemx

#endif
