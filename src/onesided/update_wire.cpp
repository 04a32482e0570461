#include "onesided/update_wire.hpp"

#include "atomic/direct.hpp"

namespace shmemx::onesided {
namespace {

constexpr bool goes_together(Op op, Type type) noexcept {
  if (type != Type::float32 && type != Type::float64) return true;
  return op == Op::fetch || op == Op::set || op == Op::swap || op == Op::add;
}

// No path returns an operand: GCC 12 would keep result and operand of the bitwise operations in one register and lose
// the operand in their loop.
template <class T>
T perform_on(T* word, Op op, T operand, T condition) noexcept {
  if constexpr (std::is_integral_v<T>) {
    if (op == Op::compare_swap) return atomic::compare_swap(word, condition, operand);
    if (op == Op::and_) return atomic::fetch_and(word, operand);
    if (op == Op::or_) return atomic::fetch_or(word, operand);
    if (op == Op::xor_) return atomic::fetch_xor(word, operand);
  }
  switch (op) {
    case Op::set:
      atomic::set(word, operand);
      return T{};
    case Op::swap:
      return atomic::swap(word, operand);
    case Op::add:
      return atomic::fetch_add(word, operand);
    default:
      return atomic::fetch(word);
  }
}

template <class T>
std::uint64_t perform_as(const AtomicHeader& header, std::byte* word) noexcept {
  return to_bits(
      perform_on(reinterpret_cast<T*>(word), header.op, from_bits<T>(header.operand), from_bits<T>(header.condition)));
}

template <class T>
bool decode_exactly(am::Bytes payload, T& header) noexcept {
  if (payload.size() != sizeof header) return false;
  std::memcpy(&header, payload.data(), sizeof header);
  return true;
}

}  // namespace

bool decode_atomic(am::Bytes payload, AtomicHeader& header) noexcept {
  if (!decode_exactly(payload, header)) return false;
  if (static_cast<unsigned>(header.op) >= kOps || static_cast<unsigned>(header.type) >= kTypes) return false;
  return goes_together(header.op, header.type);
}

bool decode_atomic_reply(am::Bytes payload, AtomicReply& reply) noexcept { return decode_exactly(payload, reply); }

std::byte* find_word(const AtomicHeader& header) noexcept {
  const std::size_t bytes = bytes_of_type(header.type);
  std::byte* const word = windows::find_exposed(header.window, header.offset, bytes);
  return reinterpret_cast<std::uintptr_t>(word) % bytes == 0 ? word : nullptr;
}

std::uint64_t perform(const AtomicHeader& header, std::byte* word) noexcept {
  switch (header.type) {
    case Type::int32:
      return perform_as<std::int32_t>(header, word);
    case Type::int64:
      return perform_as<std::int64_t>(header, word);
    case Type::uint32:
      return perform_as<std::uint32_t>(header, word);
    case Type::uint64:
      return perform_as<std::uint64_t>(header, word);
    case Type::float32:
      return perform_as<float>(header, word);
    default:
      return perform_as<double>(header, word);
  }
}

}  // namespace shmemx::onesided
