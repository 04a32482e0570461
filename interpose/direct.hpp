// Mapped memory: copies of short blocks without a call, and updates of one integer by one instruction, the same that
// shmemx uses. Its elements of 4 and 8 bytes are updated by the processor's atomic instructions
// (shmemx/window_updates.h), so both are atomic with each other.
#pragma once

#include <shmemx.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interpose/layout.hpp"
#include "interpose/window.hpp"

namespace shmemx::interpose {

// Copies words by single stores and loads, since a program may poll them, and a few blocks of other sizes that are
// frequent in strided data. Returns false for all other sizes.
[[gnu::always_inline]] inline bool try_copy_words(void* to, const void* from, std::size_t bytes) noexcept {
  switch (bytes) {
    case 8:
      std::memcpy(to, from, 8);
      return true;
    case 4:
      std::memcpy(to, from, 4);
      return true;
    case 16:
      std::memcpy(to, from, 16);
      return true;
    case 32:
      std::memcpy(to, from, 32);
      return true;
    case 64:
      std::memcpy(to, from, 32);  // at once it would be a string instruction, which takes long to start
      std::memcpy(static_cast<std::byte*>(to) + 32, static_cast<const std::byte*>(from) + 32, 32);
      return true;
    default:
      return false;
  }
}

inline void copy_block(void* to, const void* from, std::size_t bytes) noexcept {
  if (!try_copy_words(to, from, bytes)) std::memcpy(to, from, bytes);
}

// Returns the bytes of the one integer that an item of the datatype is, if an instruction updates it in this window; 0
// for anything else.
inline std::uint8_t update_bytes_of(const Window& window, const Layout& layout) noexcept {
  const Element* const element = layout.element;
  if (window.has_array_locks || element == nullptr || layout.elements != 1 || element->kind != Kind::integer) return 0;
  return element->bytes == 4 || element->bytes == 8 ? static_cast<std::uint8_t>(element->bytes) : 0;
}

template <class Word>
[[gnu::always_inline]] inline bool update_word(std::byte* at, int op, const void* operand, void* result) noexcept {
  if (reinterpret_cast<std::uintptr_t>(at) % sizeof(Word) != 0) [[unlikely]]
    return false;
  std::atomic_ref<Word> word(*reinterpret_cast<Word*>(at));
  Word value{};
  Word old{};
  if (op != SHMEMX_OP_NO_OP) std::memcpy(&value, operand, sizeof value);
  switch (op) {
    case SHMEMX_OP_SUM:
      old = word.fetch_add(value, std::memory_order_seq_cst);
      break;
    case SHMEMX_OP_REPLACE:
      old = word.exchange(value, std::memory_order_seq_cst);
      break;
    case SHMEMX_OP_NO_OP:
      old = word.load(std::memory_order_seq_cst);
      break;
    default:
      return false;
  }
  if (result != nullptr) std::memcpy(result, &old, sizeof old);
  return true;
}

// An integer of 4 or 8 bytes. Returns false if there is no such instruction; then nothing has been done. A null result
// is not written.
[[gnu::always_inline]] inline bool update_integer(std::byte* at, std::size_t bytes, int op, const void* operand,
                                                  void* result) noexcept {
  if (bytes == sizeof(std::uint64_t)) [[likely]]
    return update_word<std::uint64_t>(at, op, operand, result);
  return bytes == sizeof(std::uint32_t) && update_word<std::uint32_t>(at, op, operand, result);
}

template <class Word>
[[gnu::always_inline]] inline bool swap_word(std::byte* at, const void* compare, const void* value,
                                             void* result) noexcept {
  if (reinterpret_cast<std::uintptr_t>(at) % sizeof(Word) != 0) [[unlikely]]
    return false;
  Word expected{};
  Word wanted{};
  std::memcpy(&expected, compare, sizeof expected);
  std::memcpy(&wanted, value, sizeof wanted);
  std::atomic_ref<Word>(*reinterpret_cast<Word*>(at)).compare_exchange_strong(expected, wanted);
  std::memcpy(result, &expected, sizeof expected);
  return true;
}

// Compares and swaps an integer of 4 or 8 bytes. Returns false for one of another size.
[[gnu::always_inline]] inline bool swap_integer(std::byte* at, std::size_t bytes, const void* compare,
                                                const void* value, void* result) noexcept {
  if (bytes == sizeof(std::uint64_t)) [[likely]]
    return swap_word<std::uint64_t>(at, compare, value, result);
  return bytes == sizeof(std::uint32_t) && swap_word<std::uint32_t>(at, compare, value, result);
}

}  // namespace shmemx::interpose
