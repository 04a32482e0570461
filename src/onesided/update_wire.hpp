// Messages of atomics, and what the target does with them. Nothing here is trusted: every function below takes what
// came and touches no memory that the message has no right to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "am/channel.hpp"
#include "onesided/requests.hpp"
#include "windows/exposure.hpp"

namespace shmemx::onesided {

enum class Op : std::uint8_t { fetch, set, swap, compare_swap, add, and_, or_, xor_ };
inline constexpr unsigned kOps = 8;
enum class Type : std::uint8_t { int32, int64, uint32, uint64, float32, float64 };
inline constexpr unsigned kTypes = 6;

template <class T>
inline constexpr Type kTypeOf = std::is_floating_point_v<T> ? (sizeof(T) == 4 ? Type::float32 : Type::float64)
                                : std::is_signed_v<T>       ? (sizeof(T) == 4 ? Type::int32 : Type::int64)
                                                            : (sizeof(T) == 4 ? Type::uint32 : Type::uint64);

constexpr std::size_t bytes_of_type(Type type) noexcept {
  return type == Type::int32 || type == Type::uint32 || type == Type::float32 ? 4 : 8;
}

// Operands travel as the bits of the value, in the low half for types of 32 bits.
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

struct Operation {
  Op op;
  Type type;
  std::uint64_t operand;
  std::uint64_t condition;  // of compare_swap
};

template <class T>
Operation operation(Op op, T operand = {}, T condition = {}) noexcept {
  return {op, kTypeOf<T>, to_bits(operand), to_bits(condition)};
}

// kAtomic, kAtomicFetch. With what the channel adds it fits one cache line.
struct AtomicHeader {
  windows::WindowName window;
  std::uint64_t offset;
  std::uint64_t operand;
  std::uint64_t condition;
  Ticket ticket;  // 0 in kAtomic, which has no answer
  Op op;
  Type type;
  std::uint16_t reserved;
};
static_assert(sizeof(AtomicHeader) == 40 && std::is_trivially_copyable_v<AtomicHeader>);
static_assert(offsetof(AtomicHeader, ticket) == 32 && offsetof(AtomicHeader, type) == 37);

// kAtomicReply: the value before.
struct AtomicReply {
  Ticket ticket;
  std::uint32_t reserved;
  std::uint64_t value;
};
static_assert(sizeof(AtomicReply) == 16 && offsetof(AtomicReply, value) == 8);

// False: the length is wrong, or operation and type are none or do not go together.
bool decode_atomic(am::Bytes payload, AtomicHeader& header) noexcept;
bool decode_atomic_reply(am::Bytes payload, AtomicReply& reply) noexcept;

// The word that a decoded header names; null when it is not there, or misaligned.
std::byte* find_word(const AtomicHeader& header) noexcept;
// Carries it out; the value before.
std::uint64_t perform(const AtomicHeader& header, std::byte* word) noexcept;

}  // namespace shmemx::onesided
