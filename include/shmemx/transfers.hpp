// Part of shmemx.hpp: put, get, signals, fence and quiet. The last argument of each is the context, by default the
// default one. Types without routines of their own in the standard, such as structures, travel as bytes.
#ifndef SHMEMX_TRANSFERS_HPP
#define SHMEMX_TRANSFERS_HPP

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "library.hpp"
#include "symmetric.hpp"

namespace shmemx {

enum class signal_op : int { set = SHMEM_SIGNAL_SET, add = SHMEM_SIGNAL_ADD };

namespace face_detail {

// Private memory; the element type follows from the symmetric argument.
template <symmetric S>
using source_span = std::span<const value_of<S>>;
template <symmetric S>
using result_span = std::span<value_of<S>>;

template <class T>
constexpr std::size_t units = named_type<T> ? 1 : sizeof(T);
// Elements as the standard's routines take them: of their type, or bytes.
template <class T>
auto* unit_address(T* at) noexcept {
  if constexpr (named_type<std::remove_const_t<T>>)
    return at;
  else if constexpr (std::is_const_v<T>)
    return reinterpret_cast<const unsigned char*>(at);
  else
    return reinterpret_cast<unsigned char*>(at);
}
template <symmetric S>
auto* target(const S& at) noexcept {
  require_transferable<value_of<S>>();
  require_variable<typename S::element_type>();
  return unit_address(address(at));
}
template <symmetric S>
auto* source(const S& at) noexcept {
  require_transferable<value_of<S>>();
  return unit_address(static_cast<const value_of<S>*>(address(at)));
}

// Types of one machine word without a routine travel as the integer of their size, by p and g.
template <class T>
concept word_like = !named_type<T> && std::has_unique_object_representations_v<T> && alignof(T) == sizeof(T) &&
                    (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
template <class T>
using word_of =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

}  // namespace face_detail

// ---- One element ----

// Writes the element at `dest` of PE `pe`.
template <symmetric S, context_like C = default_context>
void p(const S& dest, const value_of<S>& value, int pe, const C& on = {}) noexcept {
  using T = value_of<S>;
  const auto at = face_detail::target(dest);
  if constexpr (named_type<T>) {
    on.call([&](auto... ctx) { shmem_p(ctx..., at, value, pe); });
  } else if constexpr (face_detail::word_like<T>) {
    using word = face_detail::word_of<T>;
    on.call([&](auto... ctx) { shmem_p(ctx..., reinterpret_cast<word*>(at), std::bit_cast<word>(value), pe); });
  } else {
    on.call([&](auto... ctx) { shmem_put(ctx..., at, face_detail::unit_address(&value), sizeof(T), pe); });
  }
}

// Returns the element at `from` of PE `pe`.
template <symmetric S, context_like C = default_context>
value_of<S> g(const S& from, int pe, const C& on = {}) noexcept {
  using T = value_of<S>;
  const auto at = face_detail::source(from);
  if constexpr (named_type<T>) {
    return on.call([&](auto... ctx) { return shmem_g(ctx..., at, pe); });
  } else if constexpr (face_detail::word_like<T>) {
    using word = face_detail::word_of<T>;
    return std::bit_cast<T>(
        on.call([&](auto... ctx) { return shmem_g(ctx..., reinterpret_cast<const word*>(at), pe); }));
  } else {
    alignas(T) std::array<unsigned char, sizeof(T)> bytes;
    on.call([&](auto... ctx) { shmem_get(ctx..., bytes.data(), at, sizeof(T), pe); });
    return std::bit_cast<T>(bytes);
  }
}

// ---- Consecutive elements: as many as the private side has ----

// On return `source` may be changed; the data are in place by the next quiet.
template <symmetric S, context_like C = default_context>
void put(const S& dest, face_detail::source_span<S> source, int pe, const C& on = {}) noexcept {
  const std::size_t count = source.size() * face_detail::units<value_of<S>>;
  on.call([&](auto... ctx) {
    shmem_put(ctx..., face_detail::target(dest), face_detail::unit_address(source.data()), count, pe);
  });
}
// `source` stays in use until quiet.
template <symmetric S, context_like C = default_context>
void put_nbi(const S& dest, face_detail::source_span<S> source, int pe, const C& on = {}) noexcept {
  const std::size_t count = source.size() * face_detail::units<value_of<S>>;
  on.call([&](auto... ctx) {
    shmem_put_nbi(ctx..., face_detail::target(dest), face_detail::unit_address(source.data()), count, pe);
  });
}
template <symmetric S, context_like C = default_context>
void get(face_detail::result_span<S> dest, const S& from, int pe, const C& on = {}) noexcept {
  const std::size_t count = dest.size() * face_detail::units<value_of<S>>;
  on.call([&](auto... ctx) {
    shmem_get(ctx..., face_detail::unit_address(dest.data()), face_detail::source(from), count, pe);
  });
}
// `dest` holds the data after quiet.
template <symmetric S, context_like C = default_context>
void get_nbi(face_detail::result_span<S> dest, const S& from, int pe, const C& on = {}) noexcept {
  const std::size_t count = dest.size() * face_detail::units<value_of<S>>;
  on.call([&](auto... ctx) {
    shmem_get_nbi(ctx..., face_detail::unit_address(dest.data()), face_detail::source(from), count, pe);
  });
}

// ---- Strided: element i goes from index i * source stride to index i * target stride ----

template <symmetric S, context_like C = default_context>
void iput(const S& dest, const value_of<S>* source, std::ptrdiff_t dest_stride, std::ptrdiff_t source_stride,
          std::size_t count, int pe, const C& on = {}) noexcept {
  using T = value_of<S>;
  const auto to = face_detail::target(dest);
  const auto from = face_detail::unit_address(source);
  constexpr auto unit = static_cast<std::ptrdiff_t>(sizeof(T));
  on.call([&](auto... ctx) {
    if constexpr (named_type<T>)
      shmem_iput(ctx..., to, from, dest_stride, source_stride, count, pe);
    else
      shmem_ibput(ctx..., to, from, dest_stride * unit, source_stride * unit, sizeof(T), count, pe);
  });
}
template <symmetric S, context_like C = default_context>
void iget(value_of<S>* dest, const S& source, std::ptrdiff_t dest_stride, std::ptrdiff_t source_stride,
          std::size_t count, int pe, const C& on = {}) noexcept {
  using T = value_of<S>;
  const auto to = face_detail::unit_address(dest);
  const auto from = face_detail::source(source);
  constexpr auto unit = static_cast<std::ptrdiff_t>(sizeof(T));
  on.call([&](auto... ctx) {
    if constexpr (named_type<T>)
      shmem_iget(ctx..., to, from, dest_stride, source_stride, count, pe);
    else
      shmem_ibget(ctx..., to, from, dest_stride * unit, source_stride * unit, sizeof(T), count, pe);
  });
}
// Blocks of `block` elements; strides run from block start to block start.
template <symmetric S, context_like C = default_context>
void ibput(const S& dest, const value_of<S>* source, std::ptrdiff_t dest_stride, std::ptrdiff_t source_stride,
           std::size_t block, std::size_t count, int pe, const C& on = {}) noexcept {
  constexpr std::size_t units = face_detail::units<value_of<S>>;
  constexpr auto unit = static_cast<std::ptrdiff_t>(units);
  on.call([&](auto... ctx) {
    shmem_ibput(ctx..., face_detail::target(dest), face_detail::unit_address(source), dest_stride * unit,
                source_stride * unit, block * units, count, pe);
  });
}
template <symmetric S, context_like C = default_context>
void ibget(value_of<S>* dest, const S& source, std::ptrdiff_t dest_stride, std::ptrdiff_t source_stride,
           std::size_t block, std::size_t count, int pe, const C& on = {}) noexcept {
  constexpr std::size_t units = face_detail::units<value_of<S>>;
  constexpr auto unit = static_cast<std::ptrdiff_t>(units);
  on.call([&](auto... ctx) {
    shmem_ibget(ctx..., face_detail::unit_address(dest), face_detail::source(source), dest_stride * unit,
                source_stride * unit, block * units, count, pe);
  });
}

// ---- Signals: symmetric words of 64 bits ----

using signal_word = symmetric_ptr<std::uint64_t>;

// A put, then an update of the signal on the target, which follows the data of this put.
template <symmetric S, context_like C = default_context>
void put_signal(const S& dest, face_detail::source_span<S> source, signal_word signal, std::uint64_t value,
                signal_op op, int pe, const C& on = {}) noexcept {
  const std::size_t count = source.size() * face_detail::units<value_of<S>>;
  on.call([&](auto... ctx) {
    shmem_put_signal(ctx..., face_detail::target(dest), face_detail::unit_address(source.data()), count, signal.get(),
                     value, static_cast<int>(op), pe);
  });
}
// `source` stays in use until quiet.
template <symmetric S, context_like C = default_context>
void put_signal_nbi(const S& dest, face_detail::source_span<S> source, signal_word signal, std::uint64_t value,
                    signal_op op, int pe, const C& on = {}) noexcept {
  const std::size_t count = source.size() * face_detail::units<value_of<S>>;
  on.call([&](auto... ctx) {
    shmem_put_signal_nbi(ctx..., face_detail::target(dest), face_detail::unit_address(source.data()), count,
                         signal.get(), value, static_cast<int>(op), pe);
  });
}
template <context_like C = default_context>
void signal_add(signal_word signal, std::uint64_t value, int pe, const C& on = {}) noexcept {
  on.call([&](auto... ctx) { shmem_signal_add(ctx..., signal.get(), value, pe); });
}
template <context_like C = default_context>
void signal_set(signal_word signal, std::uint64_t value, int pe, const C& on = {}) noexcept {
  on.call([&](auto... ctx) { shmem_signal_set(ctx..., signal.get(), value, pe); });
}
// Reads this PE's.
inline std::uint64_t signal_fetch(signal_word signal) noexcept { return shmem_signal_fetch(signal.get()); }

// ---- Order and completion ----

template <context_like C = default_context>
void fence(const C& on = {}) noexcept {
  if constexpr (std::is_same_v<C, context>)
    shmem_ctx_fence(on.handle());
  else
    shmem_fence();
}
template <context_like C = default_context>
void quiet(const C& on = {}) noexcept {
  if constexpr (std::is_same_v<C, context>)
    shmem_ctx_quiet(on.handle());
  else
    shmem_quiet();
}
// Completes the operations on the listed PEs.
template <context_like C = default_context>
void pe_quiet(std::span<const int> pes, const C& on = {}) noexcept {
  if constexpr (std::is_same_v<C, context>)
    shmem_ctx_pe_quiet(on.handle(), pes.data(), pes.size());
  else
    shmem_pe_quiet(pes.data(), pes.size());
}

}  // namespace shmemx

#endif
