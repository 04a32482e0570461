// Sums and bitwise operators of several integers by one instruction of 16 bytes.
//
// x86 holds the cache line for each locked instruction, whatever its width, so those of single elements are atomic with
// it. ThreadSanitizer does not see the instruction and keeps to single ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "atomic/combine.hpp"

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define SHMEMX_HAS_WIDE_UPDATES 1

#include <cpuid.h>

namespace shmemx::atomic {

template <class T, ElementOp Op>
inline constexpr bool kGoesWide = std::is_integral_v<T> && sizeof(T) >= sizeof(std::uint32_t) &&
                                  (Op == ElementOp::sum || is_bitwise(Op));

inline bool has_wide_instruction() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_CMPXCHG16B) != 0;
}
inline const bool goes_wide = has_wide_instruction();  // false before it is initialised, which is right on every CPU

// Stores `next` if the memory, aligned to 16 bytes, holds `expected`; else sets `expected` to what it holds.
[[gnu::always_inline]] inline bool swap_wide(std::byte* at, Wide16& expected, const Wide16& next) {
  bool swapped;
  asm volatile("lock cmpxchg16b %1"
               : "=@ccz"(swapped), "+m"(*reinterpret_cast<Wide16*>(at)), "+a"(expected.words[0]),
                 "+d"(expected.words[1])
               : "b"(next.words[0]), "c"(next.words[1])
               : "memory");
  return swapped;
}

// All elements of a word at once, since taking them apart would cost more than the instruction. Sums of half words: the
// highest bits are added without their carries.
template <class T, ElementOp Op>
[[gnu::always_inline]] inline std::uint64_t combine_in_word(std::uint64_t old, std::uint64_t operand) {
  if constexpr (Op == ElementOp::sum && sizeof(T) < sizeof old) {
    constexpr std::uint64_t kHighest = 0x80000000'80000000;
    return ((old & ~kHighest) + (operand & ~kHighest)) ^ ((old ^ operand) & kHighest);
  } else {
    return combine_integers<Op>(old, operand);
  }
}

// Updates elements as long as 16 bytes of them follow at a multiple of 16; returns how many.
template <class T, ElementOp Op>
std::size_t apply_wide(std::byte* at, const std::byte* source, std::byte* result, std::size_t count) {
  constexpr std::size_t kElements = sizeof(Wide16) / sizeof(T);
  std::size_t done = 0;
  for (; count - done >= kElements; done += kElements) {
    const std::size_t offset = done * sizeof(T);
    // What two loads find may never have been there together: then nothing is stored.
    Wide16 old{{__atomic_load_n(reinterpret_cast<const std::uint64_t*>(at + offset), __ATOMIC_RELAXED),
                __atomic_load_n(reinterpret_cast<const std::uint64_t*>(at + offset) + 1, __ATOMIC_RELAXED)}};
    Wide16 operand;
    std::memcpy(&operand, source + offset, sizeof operand);
    while (!swap_wide(at + offset, old,
                      {{combine_in_word<T, Op>(old.words[0], operand.words[0]),
                        combine_in_word<T, Op>(old.words[1], operand.words[1])}})) {
    }
    if (result != nullptr) std::memcpy(result + offset, &old, sizeof old);
  }
  return done;
}

}  // namespace shmemx::atomic
#endif
