// What wrappers of the C library's routines have in common: they note what a routine reads and writes for the program,
// and call the definition behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "races/access.hpp"
#include "races/life.hpp"

namespace shmemx::races {

// Calls of the library of C++ are the program's, as its strings and streams read and write for that.
inline Thread* thread_for(const void* return_address) noexcept {
  Thread* const thread = self;
  const bool is_of_program = executable.holds(return_address) || cxx_library.holds(return_address);
  return thread != nullptr && thread->in_library == 0 && is_of_program ? thread : nullptr;
}
// Where the program has called what has led here.
const void* call_of_program() noexcept;

inline void note(const char* routine, const void* return_address, const void* at, std::size_t bytes,
                 Kind kind) noexcept {
  Thread* const thread = thread_for(return_address);
  if (thread == nullptr || bytes == 0) return;
  if (!executable.holds(return_address)) return_address = call_of_program();
  record_range(*thread, {reinterpret_cast<std::uintptr_t>(at), bytes}, kind,
               where_of(*thread, {routine, return_address}));
}

// Loops that the compiler must not turn into calls of the routines that stand here.
using Bytes = volatile unsigned char;
inline std::size_t length_of(const char* text) noexcept {
  const volatile char* at = text;
  while (*at != 0) ++at;
  return static_cast<std::size_t>(at - text);
}
inline std::size_t length_up_to(const char* text, std::size_t most) noexcept {
  std::size_t n = 0;
  while (n < most && static_cast<const volatile char*>(text)[n] != 0) ++n;
  return n;
}

struct Caller {
  const char* routine;
  const void* return_address;
};

inline constexpr std::size_t kNoLimit = ~std::size_t{0};

}  // namespace shmemx::races

#define SHMEMX_EXPORT extern "C" [[gnu::visibility("default")]]
#define SHMEMX_NOTE_LOAD(AT, BYTES) note(__func__, __builtin_return_address(0), AT, BYTES, Kind::load)
#define SHMEMX_NOTE_STORE(AT, BYTES) note(__func__, __builtin_return_address(0), AT, BYTES, Kind::store)
#define SHMEMX_NEXT(NAME)                                                                        \
  ([] {                                                                                          \
    static decltype(&::NAME) kept = reinterpret_cast<decltype(&::NAME)>(next_definition(#NAME)); \
    return kept;                                                                                 \
  }())

#define SHMEMX_NEXT_AS(TYPE, NAME)                                                           \
  ([] {                                                                                      \
    static std::type_identity_t<TYPE> kept = reinterpret_cast<TYPE>(next_definition(#NAME)); \
    return kept;                                                                             \
  }())
