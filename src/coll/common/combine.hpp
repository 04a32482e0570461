// How reductions and scans combine elements: loops for each operator and type, which are called without the type, and
// the shares of elements that PEs compute for each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "coll/common/call.hpp"
#include "coll/common/operators.hpp"

namespace shmemx::coll {

// An operator on elements of some type, for code that does not know the type.
struct Combine {
  std::size_t element_bytes;
  // result = left op right. `result` may be `left`.
  void (*apply)(std::byte* result, const std::byte* left, const std::byte* right, std::size_t nelems) noexcept;
  std::uint32_t kind = 0;  // of a reduction with this operator (call.hpp)
  // into = into op from
  void accumulate(std::byte* into, const std::byte* from, std::size_t nelems) const noexcept {
    apply(into, into, from, nelems);
  }
};

// Integers of equal size and signedness share a loop.
template <std::size_t kBytes, bool kSigned>
struct IntegerOf {
  using type = std::conditional_t<kSigned, std::int64_t, std::uint64_t>;
  static_assert(sizeof(type) == kBytes);
};
template <bool kSigned>
struct IntegerOf<1, kSigned> : std::conditional<kSigned, std::int8_t, std::uint8_t> {};
template <bool kSigned>
struct IntegerOf<2, kSigned> : std::conditional<kSigned, std::int16_t, std::uint16_t> {};
template <bool kSigned>
struct IntegerOf<4, kSigned> : std::conditional<kSigned, std::int32_t, std::uint32_t> {};
template <class T, bool = std::is_integral_v<T>>
struct LoopTypeOf : std::type_identity<T> {};
template <class T>
struct LoopTypeOf<T, true> : IntegerOf<sizeof(T), std::is_signed_v<T>> {};

// The operators and types by number, for kinds of calls.
template <class Op, class... Ops>
constexpr std::uint32_t index_among() noexcept {
  std::uint32_t index = 0;
  static_cast<void>(((std::is_same_v<Op, Ops> || (++index, false)) || ...));
  return index;
}
template <class T>
inline constexpr std::uint32_t kTypeIndex =
    index_among<T, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t, std::uint64_t,
                std::int64_t, float, double, long double, std::complex<float>, std::complex<double>>();
template <class Op>
inline constexpr std::uint32_t kOperatorIndex = index_among<Op, And, Or, Xor, Max, Min, Sum, Prod>();

template <class T, class Op>
inline constexpr Combine kCombine = {
    sizeof(T),
    [](std::byte* result, const std::byte* left, const std::byte* right, std::size_t nelems) noexcept {
      for (std::size_t i = 0; i < nelems; ++i) {
        reinterpret_cast<T*>(result)[i] =
            Op::template apply<T>(reinterpret_cast<const T*>(left)[i], reinterpret_cast<const T*>(right)[i]);
      }
    },
    kind_of(CallFamily::reduce) + kOperatorIndex<Op>* kKindsOfOperator + kTypeIndex<T>};
template <class T, class Op>
constexpr const Combine& combine_of() noexcept {
  return kCombine<typename LoopTypeOf<T>::type, Op>;
}

// A scan, for code that does not know the type.
struct Scan {
  Combine sum;
  bool exclusive;
  std::uint32_t kind() const noexcept {
    return kind_of(exclusive ? CallFamily::exclusive_scan : CallFamily::inclusive_scan) + sum.kind % kKindsOfOperator;
  }
};
template <class T>
inline constexpr Scan kInclusiveScan = {combine_of<T, Sum>(), false};
template <class T>
inline constexpr Scan kExclusiveScan = {combine_of<T, Sum>(), true};

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
