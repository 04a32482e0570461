// Part of shmemx.hpp: atomics, for the types of the standard. Fetching operations return the old value; the _nbi ones
// write it to *fetched, which is valid after quiet.
#ifndef SHMEMX_ATOMICS_HPP
#define SHMEMX_ATOMICS_HPP

#include <type_traits>

#include "library.hpp"
#include "symmetric.hpp"

namespace shmemx {

namespace face_detail {

// Classes, so that a compiler reports a wrong type before it looks for a routine.
template <class T>
struct atomic_pointer {
  static_assert(atomic_type<T>,
                "shmemx: the standard has no atomics of this type; it has them for int, long, long long, their "
                "unsigned kin, float and double");
  using type = T*;
};
template <class T>
struct atomic_integer_pointer {
  static_assert(atomic_integer<T>,
                "shmemx: the standard has this atomic for int, long, long long and their unsigned kin");
  using type = T*;
};
template <class T>
struct atomic_bits_pointer {
  static_assert(atomic_bits<T>,
                "shmemx: the standard has atomics on bits for int, long and unsigned int, long and long long");
  using type = T*;
};

template <symmetric S>
typename atomic_pointer<value_of<S>>::type atomic_target(const S& at) noexcept {
  require_variable<typename S::element_type>();
  return address(at);
}
template <symmetric S>
const std::remove_pointer_t<typename atomic_pointer<value_of<S>>::type>* atomic_source(const S& at) noexcept {
  return address(at);
}
template <symmetric S>
typename atomic_integer_pointer<value_of<S>>::type atomic_integer_target(const S& at) noexcept {
  require_variable<typename S::element_type>();
  return address(at);
}
template <symmetric S>
typename atomic_bits_pointer<value_of<S>>::type atomic_bits_target(const S& at) noexcept {
  require_variable<typename S::element_type>();
  return address(at);
}

}  // namespace face_detail

// ---- float and double too ----

template <symmetric S, context_like C = default_context>
value_of<S> atomic_fetch(const S& from, int pe, const C& on = {}) noexcept {
  return on.call([&](auto... ctx) { return shmem_atomic_fetch(ctx..., face_detail::atomic_source(from), pe); });
}
template <symmetric S, context_like C = default_context>
void atomic_set(const S& dest, value_of<S> value, int pe, const C& on = {}) noexcept {
  on.call([&](auto... ctx) { shmem_atomic_set(ctx..., face_detail::atomic_target(dest), value, pe); });
}
template <symmetric S, context_like C = default_context>
value_of<S> atomic_swap(const S& dest, value_of<S> value, int pe, const C& on = {}) noexcept {
  return on.call([&](auto... ctx) { return shmem_atomic_swap(ctx..., face_detail::atomic_target(dest), value, pe); });
}
template <symmetric S, context_like C = default_context>
void atomic_fetch_nbi(value_of<S>* fetched, const S& from, int pe, const C& on = {}) noexcept {
  on.call([&](auto... ctx) { shmem_atomic_fetch_nbi(ctx..., fetched, face_detail::atomic_source(from), pe); });
}
template <symmetric S, context_like C = default_context>
void atomic_swap_nbi(value_of<S>* fetched, const S& dest, value_of<S> value, int pe, const C& on = {}) noexcept {
  on.call([&](auto... ctx) { shmem_atomic_swap_nbi(ctx..., fetched, face_detail::atomic_target(dest), value, pe); });
}

// ---- Integers ----

// Writes `value` where it finds `expected`.
template <symmetric S, context_like C = default_context>
value_of<S> atomic_compare_swap(const S& dest, value_of<S> expected, value_of<S> value, int pe,
                                const C& on = {}) noexcept {
  return on.call([&](auto... ctx) {
    return shmem_atomic_compare_swap(ctx..., face_detail::atomic_integer_target(dest), expected, value, pe);
  });
}
template <symmetric S, context_like C = default_context>
value_of<S> atomic_fetch_inc(const S& dest, int pe, const C& on = {}) noexcept {
  return on.call(
      [&](auto... ctx) { return shmem_atomic_fetch_inc(ctx..., face_detail::atomic_integer_target(dest), pe); });
}
template <symmetric S, context_like C = default_context>
void atomic_inc(const S& dest, int pe, const C& on = {}) noexcept {
  on.call([&](auto... ctx) { shmem_atomic_inc(ctx..., face_detail::atomic_integer_target(dest), pe); });
}
template <symmetric S, context_like C = default_context>
value_of<S> atomic_fetch_add(const S& dest, value_of<S> value, int pe, const C& on = {}) noexcept {
  return on.call(
      [&](auto... ctx) { return shmem_atomic_fetch_add(ctx..., face_detail::atomic_integer_target(dest), value, pe); });
}
template <symmetric S, context_like C = default_context>
void atomic_add(const S& dest, value_of<S> value, int pe, const C& on = {}) noexcept {
  on.call([&](auto... ctx) { shmem_atomic_add(ctx..., face_detail::atomic_integer_target(dest), value, pe); });
}
template <symmetric S, context_like C = default_context>
void atomic_compare_swap_nbi(value_of<S>* fetched, const S& dest, value_of<S> expected, value_of<S> value, int pe,
                             const C& on = {}) noexcept {
  on.call([&](auto... ctx) {
    shmem_atomic_compare_swap_nbi(ctx..., fetched, face_detail::atomic_integer_target(dest), expected, value, pe);
  });
}
template <symmetric S, context_like C = default_context>
void atomic_fetch_inc_nbi(value_of<S>* fetched, const S& dest, int pe, const C& on = {}) noexcept {
  on.call(
      [&](auto... ctx) { shmem_atomic_fetch_inc_nbi(ctx..., fetched, face_detail::atomic_integer_target(dest), pe); });
}
template <symmetric S, context_like C = default_context>
void atomic_fetch_add_nbi(value_of<S>* fetched, const S& dest, value_of<S> value, int pe, const C& on = {}) noexcept {
  on.call([&](auto... ctx) {
    shmem_atomic_fetch_add_nbi(ctx..., fetched, face_detail::atomic_integer_target(dest), value, pe);
  });
}

// ---- Bits ----

template <symmetric S, context_like C = default_context>
value_of<S> atomic_fetch_and(const S& dest, value_of<S> value, int pe, const C& on = {}) noexcept {
  return on.call(
      [&](auto... ctx) { return shmem_atomic_fetch_and(ctx..., face_detail::atomic_bits_target(dest), value, pe); });
}
template <symmetric S, context_like C = default_context>
void atomic_and(const S& dest, value_of<S> value, int pe, const C& on = {}) noexcept {
  on.call([&](auto... ctx) { shmem_atomic_and(ctx..., face_detail::atomic_bits_target(dest), value, pe); });
}
template <symmetric S, context_like C = default_context>
value_of<S> atomic_fetch_or(const S& dest, value_of<S> value, int pe, const C& on = {}) noexcept {
  return on.call(
      [&](auto... ctx) { return shmem_atomic_fetch_or(ctx..., face_detail::atomic_bits_target(dest), value, pe); });
}
template <symmetric S, context_like C = default_context>
void atomic_or(const S& dest, value_of<S> value, int pe, const C& on = {}) noexcept {
  on.call([&](auto... ctx) { shmem_atomic_or(ctx..., face_detail::atomic_bits_target(dest), value, pe); });
}
template <symmetric S, context_like C = default_context>
value_of<S> atomic_fetch_xor(const S& dest, value_of<S> value, int pe, const C& on = {}) noexcept {
  return on.call(
      [&](auto... ctx) { return shmem_atomic_fetch_xor(ctx..., face_detail::atomic_bits_target(dest), value, pe); });
}
template <symmetric S, context_like C = default_context>
void atomic_xor(const S& dest, value_of<S> value, int pe, const C& on = {}) noexcept {
  on.call([&](auto... ctx) { shmem_atomic_xor(ctx..., face_detail::atomic_bits_target(dest), value, pe); });
}
template <symmetric S, context_like C = default_context>
void atomic_fetch_and_nbi(value_of<S>* fetched, const S& dest, value_of<S> value, int pe, const C& on = {}) noexcept {
  on.call([&](auto... ctx) {
    shmem_atomic_fetch_and_nbi(ctx..., fetched, face_detail::atomic_bits_target(dest), value, pe);
  });
}
template <symmetric S, context_like C = default_context>
void atomic_fetch_or_nbi(value_of<S>* fetched, const S& dest, value_of<S> value, int pe, const C& on = {}) noexcept {
  on.call([&](auto... ctx) {
    shmem_atomic_fetch_or_nbi(ctx..., fetched, face_detail::atomic_bits_target(dest), value, pe);
  });
}
template <symmetric S, context_like C = default_context>
void atomic_fetch_xor_nbi(value_of<S>* fetched, const S& dest, value_of<S> value, int pe, const C& on = {}) noexcept {
  on.call([&](auto... ctx) {
    shmem_atomic_fetch_xor_nbi(ctx..., fetched, face_detail::atomic_bits_target(dest), value, pe);
  });
}

}  // namespace shmemx

#endif
