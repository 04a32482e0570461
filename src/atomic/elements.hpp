// Element types and operators of atomic operations and accumulates, on memory of this process. Elements of 1 to 8 bytes
// whose address is a multiple of their size are updated by the instructions of atomic/direct.hpp, so everything there
// is mutually atomic with the standard's atomics. Others are updated under a lock that belongs to their address
// (element_locks.hpp). Type and address decide, so all updates of one element take the same way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "atomic/element_locks.hpp"

namespace shmemx::atomic {

// The numbers are those of the public header, and travel in messages.
enum class ElementType : std::uint8_t {
  none = 0,
  int32 = 1,
  uint32,
  int64,
  uint64,
  float_,
  double_,
  int8,
  uint8,
  int16,
  uint16,
  bool_,
  long_double,
  complex_float,
  complex_double,
  complex_long_double,
  float_int,
  double_int,
  long_int,
  int_int,
  short_int,
  long_double_int,
  float_float,
  double_double,
  end
};
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
  land,
  lor,
  lxor,
  minloc,
  maxloc,
  end,
  compare_swap = 32  // of one integer
};

// A value and where it is, as C lays the struct out.
template <class Value, class Index>
struct ValueAt {
  Value value;
  Index index;
};

inline constexpr std::size_t kWidestElement = 32;

namespace detail {

enum class Class : std::uint8_t { none, integer, logical, floating, complex, pair };
struct TypeFacts {
  std::uint8_t bytes;
  Class kind;
};
inline constexpr std::array<TypeFacts, static_cast<std::size_t>(ElementType::end)> kTypeFacts = {{
    {0, Class::none},
    {4, Class::integer},
    {4, Class::integer},
    {8, Class::integer},
    {8, Class::integer},
    {4, Class::floating},
    {8, Class::floating},
    {1, Class::integer},
    {1, Class::integer},
    {2, Class::integer},
    {2, Class::integer},
    {1, Class::logical},
    {sizeof(long double), Class::floating},
    {8, Class::complex},
    {16, Class::complex},
    {2 * sizeof(long double), Class::complex},
    {sizeof(ValueAt<float, int>), Class::pair},
    {sizeof(ValueAt<double, int>), Class::pair},
    {sizeof(ValueAt<long, int>), Class::pair},
    {sizeof(ValueAt<int, int>), Class::pair},
    {sizeof(ValueAt<short, int>), Class::pair},
    {sizeof(ValueAt<long double, int>), Class::pair},
    {sizeof(ValueAt<float, float>), Class::pair},
    {sizeof(ValueAt<double, double>), Class::pair},
}};
constexpr const TypeFacts& facts_of(ElementType type) { return kTypeFacts[static_cast<std::size_t>(type)]; }

}  // namespace detail

constexpr bool is_type(ElementType type) { return type > ElementType::none && type < ElementType::end; }
constexpr std::size_t element_bytes(ElementType type) { return detail::facts_of(type).bytes; }
// The ones that compare_swap takes.
constexpr bool is_integer(ElementType type) {
  return detail::facts_of(type).kind == detail::Class::integer || detail::facts_of(type).kind == detail::Class::logical;
}
// Do operands and old values fit a number of 64 bits, as apply_one() takes them?
constexpr bool fits_word(ElementType type) { return element_bytes(type) <= sizeof(std::uint64_t); }

constexpr bool go_together(ElementType type, ElementOp op) {
  if (!is_type(type)) return false;
  const detail::Class kind = detail::facts_of(type).kind;
  const bool is_number = kind == detail::Class::integer || kind == detail::Class::floating;
  switch (op) {
    case ElementOp::sum:
    case ElementOp::prod:
      return is_number || kind == detail::Class::complex;
    case ElementOp::min:
    case ElementOp::max:
      return is_number;
    case ElementOp::band:
    case ElementOp::bor:
    case ElementOp::bxor:
    case ElementOp::land:
    case ElementOp::lor:
    case ElementOp::lxor:
    case ElementOp::compare_swap:
      return is_integer(type);
    case ElementOp::minloc:
    case ElementOp::maxloc:
      return kind == detail::Class::pair;
    case ElementOp::replace:
    case ElementOp::no_op:
      return true;
    default:
      return false;
  }
}

template <class T>
inline constexpr ElementType kElementType = std::is_floating_point_v<T>
                                                ? (sizeof(T) == 4 ? ElementType::float_ : ElementType::double_)
                                            : std::is_signed_v<T>
                                                ? (sizeof(T) == 4 ? ElementType::int32 : ElementType::int64)
                                                : (sizeof(T) == 4 ? ElementType::uint32 : ElementType::uint64);

// Operands are the bits of a value, in the low bytes for types of less than 64 bits.
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

// Elements at `at`, one after the other. `key` is their address at the owner, which has the same offset in its page,
// `locks` the owner's.
struct Elements {
  std::byte* at;
  std::uint64_t key;
  ElementLocks* locks;
};
inline Elements own_elements(std::byte* at) noexcept {
  return {at, reinterpret_cast<std::uintptr_t>(at), own_element_locks};
}

// Is an element at that address updated by the CPU's instructions?
inline bool is_direct(ElementType type, std::uint64_t address) noexcept {
  const std::size_t bytes = element_bytes(type);
  return (address & (bytes - 1)) == 0 && bytes <= sizeof(std::uint64_t);
}

// No address needs to be aligned. `result` null: nothing is fetched. `source` may be null with no_op. The update is one
// that go_together() allows, without compare_swap.
void apply(const Update& update, const Elements& elements, const std::byte* source, std::byte* result,
           std::size_t count) noexcept;

// Updates one element of a type that fits_word(); returns the bits of the old value. The same rules, and compare_swap.
// The first form requires is_direct().
std::uint64_t apply_one(const Operation& operation, std::byte* at) noexcept;
[[gnu::noinline]] std::uint64_t apply_one_locked(const Operation& operation, const Elements& element) noexcept;
inline std::uint64_t apply_one(const Operation& operation, const Elements& element) noexcept {
  if (is_direct(operation.type, element.key)) [[likely]]
    return apply_one(operation, element.at);
  return apply_one_locked(operation, element);
}

}  // namespace shmemx::atomic
