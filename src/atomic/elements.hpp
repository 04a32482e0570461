// Element types and operators of atomic operations and accumulates, on memory of this process. The instructions are
// those of atomic/direct.hpp, so everything is mutually atomic with the standard's atomics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace shmemx::atomic {

// The numbers are those of the public header, and travel in messages.
enum class ElementType : std::uint8_t { none = 0, int32 = 1, uint32, int64, uint64, float_, double_, end };
enum class ElementOp : std::uint8_t {
  none = 0,
  sum = 1,
  prod,
  min,
  max,
  band,
  bor,
  bxor,
  replace,
  no_op,
  end,
  compare_swap = 32  // of one integer
};

constexpr std::size_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::int32:
    case ElementType::uint32:
    case ElementType::float_:
      return 4;
    default:
      return 8;
  }
}
constexpr bool is_integer(ElementType type) { return type >= ElementType::int32 && type <= ElementType::uint64; }
constexpr bool is_type(ElementType type) { return type > ElementType::none && type < ElementType::end; }
constexpr bool go_together(ElementType type, ElementOp op) {
  if (!is_type(type)) return false;
  if (op == ElementOp::compare_swap || (op >= ElementOp::band && op <= ElementOp::bxor)) return is_integer(type);
  return op > ElementOp::none && op < ElementOp::end;
}

template <class T>
inline constexpr ElementType kElementType = std::is_floating_point_v<T>
                                                ? (sizeof(T) == 4 ? ElementType::float_ : ElementType::double_)
                                            : std::is_signed_v<T>
                                                ? (sizeof(T) == 4 ? ElementType::int32 : ElementType::int64)
                                                : (sizeof(T) == 4 ? ElementType::uint32 : ElementType::uint64);

// Operands are the bits of a value, in the low half for types of 32 bits.
template <class T>
std::uint64_t to_bits(T value) noexcept {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T from_bits(std::uint64_t bits) noexcept {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// An operation on one element.
struct Operation {
  ElementOp op;
  ElementType type;
  std::uint64_t operand;
  std::uint64_t condition;  // of compare_swap
};
template <class T>
Operation operation(ElementOp op, T operand = {}, T condition = {}) noexcept {
  return {op, kElementType<T>, to_bits(operand), to_bits(condition)};
}

struct Update {
  ElementType type;
  ElementOp op;
  bool exclusive;  // nobody else touches the elements meanwhile
};

// `at` is aligned to the element's size; source and result need not be. `result` null: nothing is fetched. `source` may
// be null with no_op. The update is one that go_together() allows, without compare_swap.
void apply(const Update& update, std::byte* at, const std::byte* source, std::byte* result, std::size_t count) noexcept;

// Updates one element; returns the bits of the old value. The same rules, and compare_swap.
std::uint64_t apply_one(const Operation& operation, std::byte* at) noexcept;

}  // namespace shmemx::atomic
