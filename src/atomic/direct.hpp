// Atomic operations on a mapped address: one CPU instruction each, a compare-and-swap loop for floating-point sums.
// Every PE of the node uses these, so all types and sources are mutually atomic. Six canonical types: 32 and 64 bits,
// signed and unsigned, float, double.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace shmemx::atomic {

// The standard orders atomics by fence and quiet only, but a locked instruction is a full barrier here anyway.
inline constexpr int kOrder = __ATOMIC_SEQ_CST;

template <class T>
inline T fetch(const T* at) noexcept {
  T value;
  __atomic_load(const_cast<T*>(at), &value, __ATOMIC_ACQUIRE);
  return value;
}

template <class T>
inline void set(T* at, T value) noexcept {
  __atomic_store(at, &value, __ATOMIC_RELEASE);
}

template <class T>
inline T swap(T* at, T value) noexcept {
  T old;
  __atomic_exchange(at, &value, &old, kOrder);
  return old;
}

template <class T>
inline T compare_swap(T* at, T condition, T value) noexcept {
  static_assert(std::is_integral_v<T>);
  __atomic_compare_exchange(at, &condition, &value, false, kOrder, kOrder);
  return condition;
}

template <class T>
inline T fetch_add(T* at, T value) noexcept {
  if constexpr (std::is_integral_v<T>) {
    return __atomic_fetch_add(at, value, kOrder);
  } else {
    T old = fetch(at);
    T sum = old + value;
    while (!__atomic_compare_exchange(at, &old, &sum, true, kOrder, __ATOMIC_RELAXED)) sum = old + value;
    return old;
  }
}

template <class T>
inline void add(T* at, T value) noexcept {
  static_cast<void>(fetch_add(at, value));
}

template <class T>
inline T fetch_and(T* at, T value) noexcept {
  return __atomic_fetch_and(at, value, kOrder);
}
template <class T>
inline T fetch_or(T* at, T value) noexcept {
  return __atomic_fetch_or(at, value, kOrder);
}
template <class T>
inline T fetch_xor(T* at, T value) noexcept {
  return __atomic_fetch_xor(at, value, kOrder);
}

}  // namespace shmemx::atomic
