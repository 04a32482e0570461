// The C library's copies and strings, in front of it: what they read and write for the program. Calls of other
// libraries pass through, and so do those before the program starts.
#include <dlfcn.h>
#include <printf.h>
#include <unwind.h>

#include <cstdarg>
#include <cstddef>
#include <cstdio>

#include "races/libc.hpp"

namespace shmemx::races {
namespace {

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

_Unwind_Reason_Code visit_frame(_Unwind_Context* frame, void* found) {
  auto* const address = reinterpret_cast<const void*>(_Unwind_GetIP(frame));
  if (!executable.holds(address)) return _URC_NO_REASON;
  *static_cast<const void**>(found) = address;
  return _URC_NORMAL_STOP;
}

}  // namespace

const void* call_of_program() noexcept {
  const void* found = nullptr;
  _Unwind_Backtrace(visit_frame, &found);
  return found;
}

}  // namespace shmemx::races

using namespace shmemx::races;  // the names below are the C library's

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

SHMEMX_EXPORT void* memchr(const void* at, int value, std::size_t bytes) noexcept {
  const auto* const begin = static_cast<const Bytes*>(at);
  std::size_t n = 0;
  while (n < bytes && begin[n] != static_cast<unsigned char>(value)) ++n;
  SHMEMX_NOTE_LOAD(at, n < bytes ? n + 1 : bytes);
  return n < bytes ? const_cast<unsigned char*>(begin) + n : nullptr;
}
SHMEMX_EXPORT char* strchr(const char* text, int value) noexcept {
  SHMEMX_NOTE_LOAD(text, length_of(text) + 1);
  return SHMEMX_NEXT_AS(char* (*)(const char*, int), strchr)(text, value);
}
SHMEMX_EXPORT char* strrchr(const char* text, int value) noexcept {
  SHMEMX_NOTE_LOAD(text, length_of(text) + 1);
  return SHMEMX_NEXT_AS(char* (*)(const char*, int), strrchr)(text, value);
}
SHMEMX_EXPORT char* strstr(const char* text, const char* part) noexcept {
  SHMEMX_NOTE_LOAD(text, length_of(text) + 1);
  SHMEMX_NOTE_LOAD(part, length_of(part) + 1);
  return SHMEMX_NEXT_AS(char* (*)(const char*, const char*), strstr)(text, part);
}

// ---- Numbers in text ----
#define SHMEMX_NUMBER(R, NAME)                      \
  SHMEMX_EXPORT R NAME(const char* text) noexcept { \
    SHMEMX_NOTE_LOAD(text, length_of(text) + 1);    \
    return SHMEMX_NEXT(NAME)(text);                 \
  }
#define SHMEMX_NUMBER_OF_BASE(R, NAME)                                    \
  SHMEMX_EXPORT R NAME(const char* text, char** end, int base) noexcept { \
    SHMEMX_NOTE_LOAD(text, length_of(text) + 1);                          \
    return SHMEMX_NEXT(NAME)(text, end, base);                            \
  }
SHMEMX_NUMBER(int, atoi)
SHMEMX_NUMBER(long, atol)
SHMEMX_NUMBER(long long, atoll)
SHMEMX_NUMBER(double, atof)
SHMEMX_NUMBER_OF_BASE(long, strtol)
SHMEMX_NUMBER_OF_BASE(unsigned long, strtoul)
SHMEMX_NUMBER_OF_BASE(long long, strtoll)
SHMEMX_NUMBER_OF_BASE(unsigned long long, strtoull)
SHMEMX_EXPORT double strtod(const char* text, char** end) noexcept {
  SHMEMX_NOTE_LOAD(text, length_of(text) + 1);
  return SHMEMX_NEXT(strtod)(text, end);
}

// ---- Text that is printed: the strings among the arguments are read ----
namespace {
// A string with a precision may end without a zero.
bool has_precision(const char* format) noexcept {
  for (const volatile char* at = format; *at != 0; ++at) {
    if (*at == '.') return true;
  }
  return false;
}
// Walks the arguments as the format has them, and notes the strings.
void note_strings(const Caller& caller, const char* format, std::va_list arguments) noexcept {
  constexpr std::size_t kMostArguments = 64;
  int types[kMostArguments];
  if (thread_for(caller.return_address) == nullptr) return;
  const std::size_t n = ::parse_printf_format(format, kMostArguments, types);
  const bool may_have_precision = has_precision(format);
  for (std::size_t i = 0; i < n && i < kMostArguments; ++i) {
    const int flags = types[i] & PA_FLAG_MASK;
    const int type = types[i] & ~PA_FLAG_MASK;
    if ((flags & PA_FLAG_PTR) != 0 || type == PA_POINTER || type == PA_WSTRING) {
      static_cast<void>(va_arg(arguments, void*));
    } else if (type == PA_STRING) {
      const char* const text = va_arg(arguments, const char*);
      if (text != nullptr && !may_have_precision)
        note(caller.routine, caller.return_address, text, length_of(text) + 1, Kind::load);
    } else if (type == PA_DOUBLE || type == PA_FLOAT) {
      if ((flags & PA_FLAG_LONG_DOUBLE) != 0) {
        static_cast<void>(va_arg(arguments, long double));
      } else {
        static_cast<void>(va_arg(arguments, double));
      }
    } else if ((flags & (PA_FLAG_LONG | PA_FLAG_LONG_LONG)) != 0) {
      static_cast<void>(va_arg(arguments, long));
    } else {
      static_cast<void>(va_arg(arguments, int));
    }
  }
}
}  // namespace

// ---- Text that is printed into a buffer ----
SHMEMX_EXPORT int vsnprintf(char* to, std::size_t bytes, const char* format, std::va_list arguments) {
  std::va_list strings;
  va_copy(strings, arguments);
  note_strings({__func__, __builtin_return_address(0)}, format, strings);
  va_end(strings);
  const int length = SHMEMX_NEXT(vsnprintf)(to, bytes, format, arguments);
  if (bytes != 0 && length >= 0)
    SHMEMX_NOTE_STORE(to, static_cast<std::size_t>(length) < bytes ? static_cast<std::size_t>(length) + 1 : bytes);
  return length;
}
SHMEMX_EXPORT int snprintf(char* to, std::size_t bytes, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  note_strings({__func__, __builtin_return_address(0)}, format, arguments);
  va_end(arguments);
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
  note_strings({__func__, __builtin_return_address(0)}, format, arguments);
  va_end(arguments);
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

SHMEMX_EXPORT int puts(const char* text) {
  SHMEMX_NOTE_LOAD(text, length_of(text) + 1);
  return SHMEMX_NEXT(puts)(text);
}
SHMEMX_EXPORT int fputs(const char* text, FILE* file) {
  SHMEMX_NOTE_LOAD(text, length_of(text) + 1);
  return SHMEMX_NEXT(fputs)(text, file);
}
SHMEMX_EXPORT char* fgets(char* to, int bytes, FILE* file) {
  char* const got = SHMEMX_NEXT(fgets)(to, bytes, file);
  if (got != nullptr) SHMEMX_NOTE_STORE(to, length_of(to) + 1);
  return got;
}

// ---- Text that is printed ----
SHMEMX_EXPORT int printf(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  note_strings({__func__, __builtin_return_address(0)}, format, arguments);
  va_end(arguments);
  va_start(arguments, format);
  const int length = SHMEMX_NEXT(vfprintf)(stdout, format, arguments);
  va_end(arguments);
  return length;
}
SHMEMX_EXPORT int fprintf(FILE* file, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  note_strings({__func__, __builtin_return_address(0)}, format, arguments);
  va_end(arguments);
  va_start(arguments, format);
  const int length = SHMEMX_NEXT(vfprintf)(file, format, arguments);
  va_end(arguments);
  return length;
}

// ---- Sorting: the comparisons are the program's, the moves are not ----
SHMEMX_EXPORT void qsort(void* base, std::size_t n, std::size_t size, int (*compare)(const void*, const void*)) {
  SHMEMX_NOTE_STORE(base, n * size);
  SHMEMX_NEXT(qsort)(base, n, size, compare);
}
