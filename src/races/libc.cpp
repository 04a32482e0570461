// The C library's copies and strings, in front of it: what they read and write for the program. Calls of other
// libraries pass through, and so do those before the program starts.
#include <dlfcn.h>

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "races/access.hpp"
#include "races/life.hpp"

namespace shmemx::races {
namespace {

Thread* thread_for(const void* return_address) noexcept {
  Thread* const thread = self;
  return thread != nullptr && thread->in_library == 0 && site_of(return_address) != 0 ? thread : nullptr;
}

void note(const char* routine, const void* return_address, const void* at, std::size_t bytes, Kind kind) noexcept {
  Thread* const thread = thread_for(return_address);
  if (thread == nullptr || bytes == 0) return;
  record_range(*thread, {reinterpret_cast<std::uintptr_t>(at), bytes}, kind,
               where_of(*thread, {routine, return_address}));
}

// Loops that the compiler must not turn into calls of the routines that stand here.
using Bytes = volatile unsigned char;
std::size_t length_of(const char* text) noexcept {
  const volatile char* at = text;
  while (*at != 0) ++at;
  return static_cast<std::size_t>(at - text);
}
std::size_t length_up_to(const char* text, std::size_t most) noexcept {
  std::size_t n = 0;
  while (n < most && static_cast<const volatile char*>(text)[n] != 0) ++n;
  return n;
}
// How many bytes of two texts are looked at to compare them.
std::size_t compared(const char* a, const char* b, std::size_t most) noexcept {
  std::size_t n = 0;
  while (n < most && a[n] == b[n] && a[n] != 0) ++n;
  return n < most ? n + 1 : most;
}

// Before the definitions behind these are known.
void* copy_slowly(void* to, const void* from, std::size_t bytes) noexcept {
  auto* const dest = static_cast<Bytes*>(to);
  const auto* const source = static_cast<const Bytes*>(from);
  if (dest <= source) {
    for (std::size_t i = 0; i < bytes; ++i) dest[i] = source[i];
  } else {
    for (std::size_t i = bytes; i != 0; --i) dest[i - 1] = source[i - 1];
  }
  return to;
}
void* set_slowly(void* to, int value, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < bytes; ++i) static_cast<Bytes*>(to)[i] = static_cast<unsigned char>(value);
  return to;
}

using Copy = void*(void*, const void*, std::size_t);
using Set = void*(void*, int, std::size_t);
constinit Copy* real_memcpy = copy_slowly;
constinit Copy* real_memmove = copy_slowly;
constinit Set* real_memset = set_slowly;

[[gnu::constructor]] void find_definitions() noexcept {
  real_memcpy = reinterpret_cast<Copy*>(next_definition("memcpy"));
  real_memmove = reinterpret_cast<Copy*>(next_definition("memmove"));
  real_memset = reinterpret_cast<Set*>(next_definition("memset"));
}

constexpr std::size_t kNoLimit = ~std::size_t{0};

}  // namespace
}  // namespace shmemx::races

using namespace shmemx::races;  // the names below are the C library's

#define SHMEMX_EXPORT extern "C" [[gnu::visibility("default")]]
#define SHMEMX_NOTE_LOAD(AT, BYTES) note(__func__, __builtin_return_address(0), AT, BYTES, Kind::load)
#define SHMEMX_NOTE_STORE(AT, BYTES) note(__func__, __builtin_return_address(0), AT, BYTES, Kind::store)
#define SHMEMX_NEXT(NAME)                                                                        \
  ([] {                                                                                          \
    static decltype(&::NAME) kept = reinterpret_cast<decltype(&::NAME)>(next_definition(#NAME)); \
    return kept;                                                                                 \
  }())

// ---- Copies ----
SHMEMX_EXPORT void* memcpy(void* to, const void* from, std::size_t bytes) {
  SHMEMX_NOTE_LOAD(from, bytes);
  SHMEMX_NOTE_STORE(to, bytes);
  return real_memcpy(to, from, bytes);
}
SHMEMX_EXPORT void* __memcpy_chk(void* to, const void* from, std::size_t bytes, std::size_t) {
  SHMEMX_NOTE_LOAD(from, bytes);
  SHMEMX_NOTE_STORE(to, bytes);
  return real_memcpy(to, from, bytes);
}
SHMEMX_EXPORT void* mempcpy(void* to, const void* from, std::size_t bytes) {
  SHMEMX_NOTE_LOAD(from, bytes);
  SHMEMX_NOTE_STORE(to, bytes);
  return static_cast<char*>(real_memcpy(to, from, bytes)) + bytes;
}
SHMEMX_EXPORT void* memmove(void* to, const void* from, std::size_t bytes) {
  SHMEMX_NOTE_LOAD(from, bytes);
  SHMEMX_NOTE_STORE(to, bytes);
  return real_memmove(to, from, bytes);
}
SHMEMX_EXPORT void* __memmove_chk(void* to, const void* from, std::size_t bytes, std::size_t) {
  SHMEMX_NOTE_LOAD(from, bytes);
  SHMEMX_NOTE_STORE(to, bytes);
  return real_memmove(to, from, bytes);
}
// What clang calls instead.
SHMEMX_EXPORT void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  SHMEMX_NOTE_LOAD(from, bytes);
  SHMEMX_NOTE_STORE(to, bytes);
  return real_memcpy(to, from, bytes);
}
SHMEMX_EXPORT void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  SHMEMX_NOTE_LOAD(from, bytes);
  SHMEMX_NOTE_STORE(to, bytes);
  return real_memmove(to, from, bytes);
}
SHMEMX_EXPORT void* __tsan_memset(void* to, int value, std::size_t bytes) {
  SHMEMX_NOTE_STORE(to, bytes);
  return real_memset(to, value, bytes);
}
SHMEMX_EXPORT void bcopy(const void* from, void* to, std::size_t bytes) {
  SHMEMX_NOTE_LOAD(from, bytes);
  SHMEMX_NOTE_STORE(to, bytes);
  real_memmove(to, from, bytes);
}
SHMEMX_EXPORT void* memset(void* to, int value, std::size_t bytes) {
  SHMEMX_NOTE_STORE(to, bytes);
  return real_memset(to, value, bytes);
}
SHMEMX_EXPORT void* __memset_chk(void* to, int value, std::size_t bytes, std::size_t) {
  SHMEMX_NOTE_STORE(to, bytes);
  return real_memset(to, value, bytes);
}
SHMEMX_EXPORT void bzero(void* to, std::size_t bytes) {
  SHMEMX_NOTE_STORE(to, bytes);
  real_memset(to, 0, bytes);
}
SHMEMX_EXPORT int memcmp(const void* a, const void* b, std::size_t bytes) {
  SHMEMX_NOTE_LOAD(a, bytes);
  SHMEMX_NOTE_LOAD(b, bytes);
  const auto* const left = static_cast<const unsigned char*>(a);
  const auto* const right = static_cast<const unsigned char*>(b);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
  }
  return 0;
}

// ---- Strings ----
SHMEMX_EXPORT std::size_t strlen(const char* text) {
  const std::size_t length = length_of(text);
  SHMEMX_NOTE_LOAD(text, length + 1);
  return length;
}
SHMEMX_EXPORT std::size_t strnlen(const char* text, std::size_t most) {
  const std::size_t length = length_up_to(text, most);
  SHMEMX_NOTE_LOAD(text, length < most ? length + 1 : most);
  return length;
}
SHMEMX_EXPORT char* strcpy(char* to, const char* from) {
  const std::size_t bytes = length_of(from) + 1;
  SHMEMX_NOTE_LOAD(from, bytes);
  SHMEMX_NOTE_STORE(to, bytes);
  return static_cast<char*>(real_memmove(to, from, bytes));
}
SHMEMX_EXPORT char* stpcpy(char* to, const char* from) {
  const std::size_t bytes = length_of(from) + 1;
  SHMEMX_NOTE_LOAD(from, bytes);
  SHMEMX_NOTE_STORE(to, bytes);
  return static_cast<char*>(real_memmove(to, from, bytes)) + bytes - 1;
}
SHMEMX_EXPORT char* strncpy(char* to, const char* from, std::size_t bytes) {
  const std::size_t length = length_up_to(from, bytes);
  SHMEMX_NOTE_LOAD(from, length < bytes ? length + 1 : bytes);
  SHMEMX_NOTE_STORE(to, bytes);
  real_memmove(to, from, length);
  real_memset(to + length, 0, bytes - length);
  return to;
}
SHMEMX_EXPORT char* strcat(char* to, const char* from) {
  const std::size_t old = length_of(to);
  const std::size_t bytes = length_of(from) + 1;
  SHMEMX_NOTE_LOAD(to, old + 1);
  SHMEMX_NOTE_LOAD(from, bytes);
  SHMEMX_NOTE_STORE(to + old, bytes);
  real_memmove(to + old, from, bytes);
  return to;
}
SHMEMX_EXPORT char* strncat(char* to, const char* from, std::size_t most) {
  const std::size_t old = length_of(to);
  const std::size_t length = length_up_to(from, most);
  SHMEMX_NOTE_LOAD(to, old + 1);
  SHMEMX_NOTE_LOAD(from, length < most ? length + 1 : most);
  SHMEMX_NOTE_STORE(to + old, length + 1);
  real_memmove(to + old, from, length);
  to[old + length] = 0;
  return to;
}
SHMEMX_EXPORT int strcmp(const char* a, const char* b) {
  const std::size_t bytes = compared(a, b, kNoLimit);
  SHMEMX_NOTE_LOAD(a, bytes);
  SHMEMX_NOTE_LOAD(b, bytes);
  return static_cast<unsigned char>(a[bytes - 1]) - static_cast<unsigned char>(b[bytes - 1]);
}
SHMEMX_EXPORT int strncmp(const char* a, const char* b, std::size_t most) {
  const std::size_t bytes = compared(a, b, most);
  SHMEMX_NOTE_LOAD(a, bytes);
  SHMEMX_NOTE_LOAD(b, bytes);
  return bytes == 0 ? 0 : static_cast<unsigned char>(a[bytes - 1]) - static_cast<unsigned char>(b[bytes - 1]);
}
SHMEMX_EXPORT char* strdup(const char* text) {
  SHMEMX_NOTE_LOAD(text, length_of(text) + 1);
  return SHMEMX_NEXT(strdup)(text);
}

// ---- Text that is printed into a buffer ----
SHMEMX_EXPORT int vsnprintf(char* to, std::size_t bytes, const char* format, std::va_list arguments) {
  const int length = SHMEMX_NEXT(vsnprintf)(to, bytes, format, arguments);
  if (bytes != 0 && length >= 0)
    SHMEMX_NOTE_STORE(to, static_cast<std::size_t>(length) < bytes ? static_cast<std::size_t>(length) + 1 : bytes);
  return length;
}
SHMEMX_EXPORT int snprintf(char* to, std::size_t bytes, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int length = SHMEMX_NEXT(vsnprintf)(to, bytes, format, arguments);
  va_end(arguments);
  if (bytes != 0 && length >= 0)
    SHMEMX_NOTE_STORE(to, static_cast<std::size_t>(length) < bytes ? static_cast<std::size_t>(length) + 1 : bytes);
  return length;
}
SHMEMX_EXPORT int sprintf(char* to, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int length = SHMEMX_NEXT(vsprintf)(to, format, arguments);
  va_end(arguments);
  if (length >= 0) SHMEMX_NOTE_STORE(to, static_cast<std::size_t>(length) + 1);
  return length;
}

// ---- Files ----
SHMEMX_EXPORT std::size_t fread(void* to, std::size_t size, std::size_t n, FILE* file) {
  const std::size_t got = SHMEMX_NEXT(fread)(to, size, n, file);
  SHMEMX_NOTE_STORE(to, got * size);
  return got;
}
SHMEMX_EXPORT std::size_t fwrite(const void* from, std::size_t size, std::size_t n, FILE* file) {
  SHMEMX_NOTE_LOAD(from, n * size);
  return SHMEMX_NEXT(fwrite)(from, size, n, file);
}

// ---- Sorting: the comparisons are the program's, the moves are not ----
SHMEMX_EXPORT void qsort(void* base, std::size_t n, std::size_t size, int (*compare)(const void*, const void*)) {
  SHMEMX_NOTE_STORE(base, n * size);
  SHMEMX_NEXT(qsort)(base, n, size, compare);
}
