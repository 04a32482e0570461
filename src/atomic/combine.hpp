// What each operator makes of an old value and an operand, and the C++ type of each element type.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "atomic/elements.hpp"

namespace shmemx::atomic {

template <class T>
inline constexpr bool kIsPair = false;
template <class Value, class Index>
inline constexpr bool kIsPair<ValueAt<Value, Index>> = true;

constexpr bool is_bitwise(ElementOp op) { return op >= ElementOp::band && op <= ElementOp::bxor; }
constexpr bool is_logical(ElementOp op) { return op >= ElementOp::land && op <= ElementOp::lxor; }
// Operators that often change nothing: then no store is needed.
constexpr bool is_choice(ElementOp op) {
  return op == ElementOp::min || op == ElementOp::max || op == ElementOp::minloc || op == ElementOp::maxloc ||
         is_logical(op);
}

// Integers wrap: sums and products are those of the unsigned type, and narrow ones are widened first.
template <ElementOp Op, class T>
[[gnu::always_inline]] inline T combine_integers(T old, T operand) {
  using Wide = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  if constexpr (Op == ElementOp::sum) {
    return static_cast<T>(static_cast<Wide>(old) + static_cast<Wide>(operand));
  } else if constexpr (Op == ElementOp::prod) {
    return static_cast<T>(static_cast<Wide>(old) * static_cast<Wide>(operand));
  } else if constexpr (Op == ElementOp::band) {
    return static_cast<T>(old & operand);
  } else if constexpr (Op == ElementOp::bor) {
    return static_cast<T>(old | operand);
  } else if constexpr (Op == ElementOp::bxor) {
    return static_cast<T>(old ^ operand);
  } else if constexpr (Op == ElementOp::land) {
    return static_cast<T>(old != 0 && operand != 0);
  } else if constexpr (Op == ElementOp::lor) {
    return static_cast<T>(old != 0 || operand != 0);
  } else {
    static_assert(Op == ElementOp::lxor);
    return static_cast<T>((old != 0) != (operand != 0));
  }
}

// The pair with the least or greatest value; of equal values the least index.
template <ElementOp Op, class T>
[[gnu::always_inline]] inline T combine_pairs(const T& old, const T& operand) {
  const bool is_better = Op == ElementOp::minloc ? operand.value < old.value : old.value < operand.value;
  if (is_better || (operand.value == old.value && operand.index < old.index)) return operand;
  return old;
}

template <ElementOp Op, class T>
[[gnu::always_inline]] inline T combine(const T& old, const T& operand) {
  if constexpr (Op == ElementOp::replace) {
    return operand;
  } else if constexpr (Op == ElementOp::no_op) {
    return old;
  } else if constexpr (Op == ElementOp::min) {
    return operand < old ? operand : old;
  } else if constexpr (Op == ElementOp::max) {
    return old < operand ? operand : old;
  } else if constexpr (kIsPair<T>) {
    return combine_pairs<Op>(old, operand);
  } else if constexpr (std::is_integral_v<T>) {
    return combine_integers<Op>(old, operand);
  } else if constexpr (Op == ElementOp::sum) {
    return old + operand;
  } else {
    static_assert(Op == ElementOp::prod);
    return old * operand;
  }
}

// A type of C++ as large as an element, for operators to which all such types are alike.
struct Wide16 {
  std::uint64_t words[2];
};
struct Wide32 {
  std::uint64_t words[4];
};
template <std::size_t Bytes>
using BitsOfSize = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t,
                       std::conditional_t<Bytes == 4, std::uint32_t,
                                          std::conditional_t<Bytes == 8, std::uint64_t,
                                                             std::conditional_t<Bytes == 16, Wide16, Wide32>>>>>;

// Pairs with padding behind the index. It does not belong to the element: another one may lie there, or no memory.
template <class T>
inline constexpr bool kEndsInPadding = false;
template <class Value, class Index>
inline constexpr bool kEndsInPadding<ValueAt<Value, Index>> = trailing_padding<ValueAt<Value, Index>>() != 0;

// The type with which an operator is carried out, so that each is compiled once for all types to which it is the same.
template <ElementOp Op, class T>
using Operand = std::conditional_t<((Op == ElementOp::replace || Op == ElementOp::no_op) && !kEndsInPadding<T>) ||
                                       (std::is_integral_v<T> && Op != ElementOp::min && Op != ElementOp::max),
                                   BitsOfSize<sizeof(T)>, T>;

}  // namespace shmemx::atomic
