// The C library's less usual routines for texts and memory, wide characters, and times, in front of it: what they read
// and write for the program.
#include <sys/time.h>
#include <time.h>

#include <cctype>
#include <cstddef>

#include "races/libc.hpp"

namespace shmemx::races {
namespace {

void note_text(const Caller& caller, const char* text, std::size_t most = kNoLimit) noexcept {
  const std::size_t length = length_up_to(text, most);
  note(caller.routine, caller.return_address, text, length < most ? length + 1 : most, Kind::load);
}

// How many bytes of two texts are looked at to compare them, whatever the case of their letters.
std::size_t compared_letters(const char* a, const char* b, std::size_t most) noexcept {
  std::size_t n = 0;
  while (n < most && std::tolower(static_cast<unsigned char>(a[n])) == std::tolower(static_cast<unsigned char>(b[n])) &&
         a[n] != 0)
    ++n;
  return n < most ? n + 1 : most;
}

std::size_t length_of_wide(const wchar_t* text) noexcept {
  const volatile wchar_t* at = text;
  while (*at != 0) ++at;
  return static_cast<std::size_t>(at - text);
}

// A token ends with a zero, which stands for the character behind it unless that was the end of the text.
void note_token(const Caller& caller, const char* token, const char* rest) noexcept {
  if (token == nullptr) return;
  const std::size_t length = length_of(token);
  note(caller.routine, caller.return_address, token, length + 1, Kind::load);
  if (rest == nullptr || rest == token + length + 1)
    note(caller.routine, caller.return_address, token + length, 1, Kind::store);
}

}  // namespace
}  // namespace shmemx::races

using namespace shmemx::races;  // the names below are the C library's

#define SHMEMX_CALLER (Caller{__func__, __builtin_return_address(0)})

// ---- Texts that are read ----
#define SHMEMX_TWO_TEXTS(R, NAME)                                      \
  SHMEMX_EXPORT R NAME(const char* a, const char* b) noexcept {        \
    note_text(SHMEMX_CALLER, a);                                       \
    note_text(SHMEMX_CALLER, b);                                       \
    return SHMEMX_NEXT_AS(R(*)(const char*, const char*), NAME)(a, b); \
  }
SHMEMX_TWO_TEXTS(int, strcoll)
SHMEMX_TWO_TEXTS(char*, strcasestr)
#define SHMEMX_SPAN(NAME)                                                      \
  SHMEMX_EXPORT std::size_t NAME(const char* text, const char* set) noexcept { \
    const std::size_t length = SHMEMX_NEXT(NAME)(text, set);                   \
    SHMEMX_NOTE_LOAD(text, length + 1);                                        \
    note_text(SHMEMX_CALLER, set);                                             \
    return length;                                                             \
  }
SHMEMX_SPAN(strspn)
SHMEMX_SPAN(strcspn)
SHMEMX_EXPORT char* strpbrk(const char* text, const char* set) noexcept {
  char* const found = SHMEMX_NEXT_AS(char* (*)(const char*, const char*), strpbrk)(text, set);
  note_text(SHMEMX_CALLER, text, found == nullptr ? kNoLimit : static_cast<std::size_t>(found - text) + 1);
  note_text(SHMEMX_CALLER, set);
  return found;
}
SHMEMX_EXPORT int strcasecmp(const char* a, const char* b) noexcept {
  const std::size_t bytes = compared_letters(a, b, kNoLimit);
  SHMEMX_NOTE_LOAD(a, bytes);
  SHMEMX_NOTE_LOAD(b, bytes);
  return SHMEMX_NEXT(strcasecmp)(a, b);
}
SHMEMX_EXPORT int strncasecmp(const char* a, const char* b, std::size_t most) noexcept {
  const std::size_t bytes = compared_letters(a, b, most);
  SHMEMX_NOTE_LOAD(a, bytes);
  SHMEMX_NOTE_LOAD(b, bytes);
  return SHMEMX_NEXT(strncasecmp)(a, b, most);
}
SHMEMX_EXPORT char* strndup(const char* text, std::size_t most) noexcept {
  note_text(SHMEMX_CALLER, text, most);
  return SHMEMX_NEXT(strndup)(text, most);
}
SHMEMX_EXPORT char* strchrnul(const char* text, int value) noexcept {
  note_text(SHMEMX_CALLER, text);
  return SHMEMX_NEXT_AS(char* (*)(const char*, int), strchrnul)(text, value);
}
SHMEMX_EXPORT float strtof(const char* text, char** end) noexcept {
  note_text(SHMEMX_CALLER, text);
  return SHMEMX_NEXT(strtof)(text, end);
}
SHMEMX_EXPORT long double strtold(const char* text, char** end) noexcept {
  note_text(SHMEMX_CALLER, text);
  return SHMEMX_NEXT(strtold)(text, end);
}
SHMEMX_EXPORT void* memrchr(const void* at, int value, std::size_t bytes) noexcept {
  SHMEMX_NOTE_LOAD(at, bytes);
  return SHMEMX_NEXT_AS(void* (*)(const void*, int, std::size_t), memrchr)(at, value, bytes);
}
SHMEMX_EXPORT void* memmem(const void* at, std::size_t bytes, const void* part, std::size_t part_bytes) noexcept {
  SHMEMX_NOTE_LOAD(at, bytes);
  SHMEMX_NOTE_LOAD(part, part_bytes);
  return SHMEMX_NEXT(memmem)(at, bytes, part, part_bytes);
}

// ---- Texts that are written ----
SHMEMX_EXPORT void* memccpy(void* to, const void* from, int last, std::size_t bytes) noexcept {
  const auto* const text = static_cast<const Bytes*>(from);
  std::size_t n = 0;
  while (n < bytes && text[n++] != static_cast<unsigned char>(last)) {
  }
  SHMEMX_NOTE_LOAD(from, n);
  SHMEMX_NOTE_STORE(to, n);
  return SHMEMX_NEXT(memccpy)(to, from, last, bytes);
}
SHMEMX_EXPORT char* stpncpy(char* to, const char* from, std::size_t bytes) noexcept {
  note_text(SHMEMX_CALLER, from, bytes);
  SHMEMX_NOTE_STORE(to, bytes);
  return SHMEMX_NEXT(stpncpy)(to, from, bytes);
}
SHMEMX_EXPORT char* strtok_r(char* text, const char* separators, char** rest) noexcept {
  char* const token = SHMEMX_NEXT(strtok_r)(text, separators, rest);
  note_token(SHMEMX_CALLER, token, *rest);
  return token;
}
SHMEMX_EXPORT char* __strtok_r(char* text, const char* separators, char** rest) noexcept {
  char* const token = SHMEMX_NEXT(__strtok_r)(text, separators, rest);
  note_token({"strtok_r", __builtin_return_address(0)}, token, *rest);
  return token;
}
SHMEMX_EXPORT char* strtok(char* text, const char* separators) noexcept {
  static char* rest = nullptr;
  char* const token = SHMEMX_NEXT(strtok_r)(text, separators, &rest);
  note_token(SHMEMX_CALLER, token, rest);
  return token;
}
SHMEMX_EXPORT char* strsep(char** text, const char* separators) noexcept {
  char* const token = SHMEMX_NEXT(strsep)(text, separators);
  note_token(SHMEMX_CALLER, token, *text == nullptr ? token : *text);
  return token;
}

// ---- Wide characters ----
#define SHMEMX_WIDE_COPY(NAME)                                                            \
  SHMEMX_EXPORT wchar_t* NAME(wchar_t* to, const wchar_t* from, std::size_t n) noexcept { \
    SHMEMX_NOTE_LOAD(from, n * sizeof *from);                                             \
    SHMEMX_NOTE_STORE(to, n * sizeof *to);                                                \
    return SHMEMX_NEXT(NAME)(to, from, n);                                                \
  }
SHMEMX_WIDE_COPY(wmemcpy)
SHMEMX_WIDE_COPY(wmemmove)
SHMEMX_WIDE_COPY(wmempcpy)
SHMEMX_EXPORT wchar_t* wmemset(wchar_t* to, wchar_t value, std::size_t n) noexcept {
  SHMEMX_NOTE_STORE(to, n * sizeof *to);
  return SHMEMX_NEXT(wmemset)(to, value, n);
}
SHMEMX_EXPORT int wmemcmp(const wchar_t* a, const wchar_t* b, std::size_t n) noexcept {
  SHMEMX_NOTE_LOAD(a, n * sizeof *a);
  SHMEMX_NOTE_LOAD(b, n * sizeof *b);
  return SHMEMX_NEXT(wmemcmp)(a, b, n);
}
SHMEMX_EXPORT std::size_t wcslen(const wchar_t* text) noexcept {
  const std::size_t length = length_of_wide(text);
  SHMEMX_NOTE_LOAD(text, (length + 1) * sizeof *text);
  return length;
}
SHMEMX_EXPORT wchar_t* wcscpy(wchar_t* to, const wchar_t* from) noexcept {
  const std::size_t bytes = (length_of_wide(from) + 1) * sizeof *from;
  SHMEMX_NOTE_LOAD(from, bytes);
  SHMEMX_NOTE_STORE(to, bytes);
  return SHMEMX_NEXT(wcscpy)(to, from);
}
SHMEMX_EXPORT int wcscmp(const wchar_t* a, const wchar_t* b) noexcept {
  SHMEMX_NOTE_LOAD(a, (length_of_wide(a) + 1) * sizeof *a);
  SHMEMX_NOTE_LOAD(b, (length_of_wide(b) + 1) * sizeof *b);
  return SHMEMX_NEXT(wcscmp)(a, b);
}

// ---- Times ----
SHMEMX_EXPORT int clock_gettime(clockid_t clock, timespec* now) noexcept {
  SHMEMX_NOTE_STORE(now, sizeof *now);
  return SHMEMX_NEXT(clock_gettime)(clock, now);
}
SHMEMX_EXPORT int gettimeofday(timeval* now, void* zone) noexcept {
  SHMEMX_NOTE_STORE(now, sizeof *now);
  return SHMEMX_NEXT(gettimeofday)(now, zone);
}
SHMEMX_EXPORT time_t time(time_t* now) noexcept {
  if (now != nullptr) SHMEMX_NOTE_STORE(now, sizeof *now);
  return SHMEMX_NEXT(time)(now);
}
#define SHMEMX_BROKEN_DOWN(NAME)                                \
  SHMEMX_EXPORT tm* NAME(const time_t* when, tm* to) noexcept { \
    SHMEMX_NOTE_LOAD(when, sizeof *when);                       \
    SHMEMX_NOTE_STORE(to, sizeof *to);                          \
    return SHMEMX_NEXT(NAME)(when, to);                         \
  }
SHMEMX_BROKEN_DOWN(localtime_r)
SHMEMX_BROKEN_DOWN(gmtime_r)
