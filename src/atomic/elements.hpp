// Element types and operators of atomic operations and accumulates, on memory of this process. Integers and pairs
// of 4 and 8 bytes whose address is a multiple of their size are updated by the instructions of atomic/direct.hpp, so
// everything there is mutually atomic with the standard's atomics. Others are updated under a lock that belongs to
// their address (element_locks.hpp): wide ones, those that are not aligned, and floating-point and narrow ones and the
// integers of the array types, of which a whole run takes one lock instead of an instruction for each. Type and address
// decide, so all updates of one element take the same way.
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
  int32_array,  // integers that are updated under locks
  uint32_array,
  int64_array,
  uint64_array,
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

// The bytes of a pair behind its index.
template <class Pair>
constexpr std::size_t trailing_padding() {
  return sizeof(Pair) - offsetof(Pair, index) - sizeof(Pair::index);
}

namespace detail {

enum class Class : std::uint8_t { none, integer, logical, floating, complex, pair };
struct TypeFacts {
  std::uint8_t bytes;
  Class kind;
  bool is_locked = false;  // whatever the kind
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
    {4, Class::integer, true},
    {4, Class::integer, true},
    {8, Class::integer, true},
    {8, Class::integer, true},
}};
constexpr bool belongs(Class kind, ElementOp op) {
  const bool is_number = kind == Class::integer || kind == Class::floating;
  switch (op) {
    case ElementOp::sum:
    case ElementOp::prod:
      return is_number || kind == Class::complex;
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
      return kind == Class::integer || kind == Class::logical;
    case ElementOp::minloc:
    case ElementOp::maxloc:
      return kind == Class::pair;
    case ElementOp::replace:
    case ElementOp::no_op:
      return kind != Class::none;
    default:
      return false;
  }
}

// One look each on the hot path: the size; the bits of an address that have to be 0 for a direct update, all for types
// that have none; a bit for each operator.
struct TypeTables {
  std::uint8_t bytes[static_cast<std::size_t>(ElementType::end)];
  std::uint8_t padding[static_cast<std::size_t>(ElementType::end)];  // behind the last part
  std::uint64_t misaligned[static_cast<std::size_t>(ElementType::end)];
  std::uint64_t operators[static_cast<std::size_t>(ElementType::end)];
};
constexpr TypeTables make_tables() {
  TypeTables tables{};
  tables.padding[static_cast<std::size_t>(ElementType::double_int)] = trailing_padding<ValueAt<double, int>>();
  tables.padding[static_cast<std::size_t>(ElementType::long_int)] = trailing_padding<ValueAt<long, int>>();
  tables.padding[static_cast<std::size_t>(ElementType::long_double_int)] =
      trailing_padding<ValueAt<long double, int>>();
  for (std::size_t i = 0; i < kTypeFacts.size(); ++i) {
    const TypeFacts& facts = kTypeFacts[i];
    tables.bytes[i] = facts.bytes;
    const bool is_word = facts.bytes == sizeof(std::uint32_t) || facts.bytes == sizeof(std::uint64_t);
    const bool is_locked = facts.is_locked || !is_word || facts.kind == Class::floating || facts.kind == Class::complex;
    tables.misaligned[i] = is_locked ? ~std::uint64_t{0} : facts.bytes - std::uint64_t{1};
    for (unsigned op = 0; op < 64; ++op)
      tables.operators[i] |= std::uint64_t{belongs(facts.kind, static_cast<ElementOp>(op))} << op;
  }
  return tables;
}
inline constexpr TypeTables kTables = make_tables();

}  // namespace detail

constexpr bool is_type(ElementType type) { return type > ElementType::none && type < ElementType::end; }
// Requires is_type(), as the next four.
constexpr std::size_t element_bytes(ElementType type) { return detail::kTables.bytes[static_cast<std::size_t>(type)]; }
// Returns the bytes from the first one of an array to the last one that belongs to an element.
constexpr std::uint64_t span_bytes(ElementType type, std::uint64_t count) {
  return count == 0 ? 0 : count * element_bytes(type) - detail::kTables.padding[static_cast<std::size_t>(type)];
}
constexpr bool has_operator(ElementType type, ElementOp op) {
  return static_cast<unsigned>(op) < 64 &&
         (detail::kTables.operators[static_cast<std::size_t>(type)] >> static_cast<unsigned>(op) & 1) != 0;
}
// The ones that compare_swap takes.
constexpr bool is_integer(ElementType type) { return has_operator(type, ElementOp::compare_swap); }
// Do operands and old values fit a number of 64 bits, as apply_one() takes them?
constexpr bool fits_word(ElementType type) { return element_bytes(type) <= sizeof(std::uint64_t); }
constexpr bool go_together(ElementType type, ElementOp op) { return is_type(type) && has_operator(type, op); }

// The type with the same values.
constexpr ElementType value_type(ElementType type) {
  if (type < ElementType::int32_array) return type;
  return static_cast<ElementType>(static_cast<int>(type) - static_cast<int>(ElementType::int32_array) +
                                  static_cast<int>(ElementType::int32));
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
  return (address & detail::kTables.misaligned[static_cast<std::size_t>(type)]) == 0;
}

// No address needs to be aligned. `result` null: nothing is fetched. `source` may be null with no_op. The update is one
// that go_together() allows, without compare_swap.
void apply(const Update& update, const Elements& elements, const std::byte* source, std::byte* result,
           std::size_t count) noexcept;

// Blocks of `count` elements at equal distances on each side.
struct ElementBlocks {
  Elements first;
  const std::byte* source;
  std::byte* result;
  std::size_t count;
  std::size_t blocks;
  std::ptrdiff_t step;
  std::ptrdiff_t source_step;
  std::ptrdiff_t result_step;
};
// As apply() of each block; those that belong to one lock take it once.
void apply_blocks(const Update& update, ElementBlocks blocks) noexcept;

// Updates one element of a type that fits_word(); returns the bits of the old value. The same rules, and compare_swap.
// The first form is the CPU's instruction whatever is_direct() says, and requires an aligned element: it is atomic with
// the standard's atomics, also on floating-point numbers.
std::uint64_t apply_one(const Operation& operation, std::byte* at) noexcept;
[[gnu::noinline]] std::uint64_t apply_one_locked(const Operation& operation, const Elements& element) noexcept;
inline std::uint64_t apply_one(const Operation& operation, const Elements& element) noexcept {
  if (is_direct(operation.type, element.key)) [[likely]]
    return apply_one(operation, element.at);
  return apply_one_locked(operation, element);
}

}  // namespace shmemx::atomic
