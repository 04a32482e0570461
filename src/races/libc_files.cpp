// The C library's calls for files, sockets and text that is scanned, in front of it: what they read and write for the
// program.
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "races/libc.hpp"
#include "races/local_words.hpp"

namespace shmemx::races {
namespace {

// Notes the first `bytes` of the places of a list.
void note_list(const Caller& caller, const iovec* list, int count, std::size_t bytes, Kind kind) noexcept {
  for (int i = 0; i < count && bytes != 0; ++i) {
    const std::size_t here = std::min(bytes, list[i].iov_len);
    note(caller.routine, caller.return_address, list[i].iov_base, here, kind);
    bytes -= here;
  }
}

// Threads may synchronise by what they send each other: whoever reads from a pipe, a socket, an event descriptor or a
// file knows what all knew that have written there. The two ends of a pipe are one file; all sockets count as one.
std::uint64_t word_of_descriptor(int fd) noexcept {
  constexpr std::uint64_t kDescriptors = std::uint64_t{1} << 63;  // no address
  struct stat status {};
  if (::fstat(fd, &status) != 0) return kDescriptors;
  if (S_ISSOCK(status.st_mode)) return kDescriptors | 1;
  return kDescriptors | (status.st_dev << 40 ^ status.st_ino << 1);
}
void release_descriptor(const Caller& caller, int fd) noexcept {
  if (thread_for(caller.return_address) != nullptr) release_word(word_of_descriptor(fd));
}
void acquire_descriptor(const Caller& caller, int fd) noexcept {
  if (thread_for(caller.return_address) != nullptr) acquire_word(word_of_descriptor(fd));
}

// A conversion of a scanf format that stores.
struct Conversion {
  enum class Stores : std::uint8_t { bytes, text, nothing };  // text: with a zero behind it
  Stores stores = Stores::nothing;
  std::size_t bytes = 0;
  bool counts = true;  // in the result
};

// Returns the size of an element from the length modifier at `at`, and moves `at` behind it. 0: there is none.
std::size_t take_modifier(const char*& at) noexcept {
  const char first = *at;
  if (first == 'h' || first == 'l') {
    ++at;
    const bool is_double = *at == first;
    if (is_double) ++at;
    if (first == 'l') return sizeof(long);
    return is_double ? 1 : sizeof(short);
  }
  if (first == 'L') {
    ++at;
    return sizeof(long double);
  }
  if (first == 'j' || first == 'z' || first == 't' || first == 'q') {
    ++at;
    return sizeof(long);
  }
  return 0;
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_one_of(char c, const char* set) noexcept {
  while (*set != 0 && *set != c) ++set;
  return c != 0 && *set == c;
}

// Moves behind the closing bracket of a set.
void skip_set(const char*& at) noexcept {
  if (*at == '^') ++at;
  if (*at == ']') ++at;
  while (*at != 0 && *at != ']') ++at;
  if (*at != 0) ++at;
}

// Takes what follows a '%'. Returns false where the arguments cannot be told any more.
bool take_conversion(const char*& at, Conversion& out) noexcept {
  using Stores = Conversion::Stores;
  const bool is_skipped = *at == '*';
  if (is_skipped) ++at;
  std::size_t width = 0;
  while (is_digit(*at)) width = width * 10 + static_cast<std::size_t>(*at++ - '0');
  if (*at == '$') return false;
  const bool allocates = *at == 'm';
  if (allocates) ++at;
  const std::size_t element = take_modifier(at);
  const char kind = *at;
  if (kind == 0) return false;
  ++at;
  if (kind == '[') skip_set(at);
  if (kind == '%') return true;
  if (is_one_of(kind, "diuoxXn")) {
    out = {Stores::bytes, element != 0 ? element : sizeof(int), kind != 'n'};
  } else if (is_one_of(kind, "aAeEfFgG")) {
    out = {Stores::bytes, element == 0 ? sizeof(float) : element, true};
  } else if (kind == 'p') {
    out = {Stores::bytes, sizeof(void*), true};
  } else if (kind == 'c' && element == 0) {
    out = {Stores::bytes, std::max<std::size_t>(width, 1), true};
  } else if (is_one_of(kind, "s[") && element == 0) {
    out = {Stores::text, 0, true};
  } else {
    return false;  // wide characters
  }
  if (allocates) out = {Stores::bytes, sizeof(char*), true};
  if (is_skipped) out = {};
  return true;
}

// Notes what a scan has stored, after `converted` conversions.
void note_scanned(const Caller& caller, const char* format, int converted, std::va_list arguments) noexcept {
  if (thread_for(caller.return_address) == nullptr) return;
  const char* at = format;
  while (*at != 0) {
    if (*at++ != '%') continue;
    Conversion one;
    if (!take_conversion(at, one)) return;
    if (one.stores == Conversion::Stores::nothing) continue;
    if (one.counts && converted-- <= 0) return;
    const auto* const place = va_arg(arguments, const char*);
    const std::size_t bytes = one.stores == Conversion::Stores::text ? length_of(place) + 1 : one.bytes;
    note(caller.routine, caller.return_address, place, bytes, Kind::store);
  }
}

}  // namespace
}  // namespace shmemx::races

using namespace shmemx::races;  // the names below are the C library's

// ---- Files and sockets ----
#define SHMEMX_CALLER (Caller{__func__, __builtin_return_address(0)})
#define SHMEMX_READ(NAME, PARAMETERS, ARGUMENTS)           \
  SHMEMX_EXPORT ssize_t NAME PARAMETERS {                  \
    const ssize_t got = SHMEMX_NEXT(NAME) ARGUMENTS;       \
    if (got > 0) acquire_descriptor(SHMEMX_CALLER, fd);    \
    SHMEMX_NOTE_STORE(to, got > 0 ? std::size_t(got) : 0); \
    return got;                                            \
  }
#define SHMEMX_WRITE(NAME, PARAMETERS, ARGUMENTS) \
  SHMEMX_EXPORT ssize_t NAME PARAMETERS {         \
    SHMEMX_NOTE_LOAD(from, bytes);                \
    release_descriptor(SHMEMX_CALLER, fd);        \
    return SHMEMX_NEXT(NAME) ARGUMENTS;           \
  }
SHMEMX_READ(read, (int fd, void* to, std::size_t bytes), (fd, to, bytes))
SHMEMX_READ(pread, (int fd, void* to, std::size_t bytes, off_t at), (fd, to, bytes, at))
SHMEMX_READ(pread64, (int fd, void* to, std::size_t bytes, off64_t at), (fd, to, bytes, at))
SHMEMX_READ(recv, (int fd, void* to, std::size_t bytes, int flags), (fd, to, bytes, flags))
SHMEMX_READ(recvfrom, (int fd, void* to, std::size_t bytes, int flags, sockaddr* address, socklen_t* address_bytes),
            (fd, to, bytes, flags, address, address_bytes))
SHMEMX_WRITE(write, (int fd, const void* from, std::size_t bytes), (fd, from, bytes))
SHMEMX_WRITE(pwrite, (int fd, const void* from, std::size_t bytes, off_t at), (fd, from, bytes, at))
SHMEMX_WRITE(pwrite64, (int fd, const void* from, std::size_t bytes, off64_t at), (fd, from, bytes, at))
SHMEMX_WRITE(send, (int fd, const void* from, std::size_t bytes, int flags), (fd, from, bytes, flags))
SHMEMX_WRITE(sendto,
             (int fd, const void* from, std::size_t bytes, int flags, const sockaddr* address, socklen_t address_bytes),
             (fd, from, bytes, flags, address, address_bytes))

// What the compiler calls with _FORTIFY_SOURCE. The size of the object is checked by the C library's own one.
#define SHMEMX_READ_CHECKED(NAME, PARAMETERS, TYPES, ARGUMENTS)           \
  SHMEMX_EXPORT ssize_t NAME PARAMETERS {                                 \
    const ssize_t got = SHMEMX_NEXT_AS(ssize_t(*) TYPES, NAME) ARGUMENTS; \
    if (got > 0) acquire_descriptor(SHMEMX_CALLER, fd);                   \
    SHMEMX_NOTE_STORE(to, got > 0 ? std::size_t(got) : 0);                \
    return got;                                                           \
  }
SHMEMX_READ_CHECKED(__read_chk, (int fd, void* to, std::size_t bytes, std::size_t room),
                    (int, void*, std::size_t, std::size_t), (fd, to, bytes, room))
SHMEMX_READ_CHECKED(__pread_chk, (int fd, void* to, std::size_t bytes, off_t at, std::size_t room),
                    (int, void*, std::size_t, off_t, std::size_t), (fd, to, bytes, at, room))
SHMEMX_READ_CHECKED(__pread64_chk, (int fd, void* to, std::size_t bytes, off64_t at, std::size_t room),
                    (int, void*, std::size_t, off64_t, std::size_t), (fd, to, bytes, at, room))
SHMEMX_READ_CHECKED(__recv_chk, (int fd, void* to, std::size_t bytes, std::size_t room, int flags),
                    (int, void*, std::size_t, std::size_t, int), (fd, to, bytes, room, flags))

SHMEMX_EXPORT ssize_t readv(int fd, const iovec* list, int count) {
  const ssize_t got = SHMEMX_NEXT(readv)(fd, list, count);
  if (got <= 0) return got;
  acquire_descriptor(SHMEMX_CALLER, fd);
  note_list(SHMEMX_CALLER, list, count, static_cast<std::size_t>(got), Kind::store);
  return got;
}
SHMEMX_EXPORT ssize_t writev(int fd, const iovec* list, int count) {
  note_list(SHMEMX_CALLER, list, count, kNoLimit, Kind::load);
  release_descriptor(SHMEMX_CALLER, fd);
  return SHMEMX_NEXT(writev)(fd, list, count);
}
SHMEMX_EXPORT ssize_t recvmsg(int fd, msghdr* message, int flags) {
  const ssize_t got = SHMEMX_NEXT(recvmsg)(fd, message, flags);
  if (got <= 0) return got;
  acquire_descriptor(SHMEMX_CALLER, fd);
  note_list(SHMEMX_CALLER, message->msg_iov, static_cast<int>(message->msg_iovlen), static_cast<std::size_t>(got),
            Kind::store);
  return got;
}
SHMEMX_EXPORT ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  note_list(SHMEMX_CALLER, message->msg_iov, static_cast<int>(message->msg_iovlen), kNoLimit, Kind::load);
  release_descriptor(SHMEMX_CALLER, fd);
  return SHMEMX_NEXT(sendmsg)(fd, message, flags);
}
SHMEMX_EXPORT int eventfd_read(int fd, eventfd_t* value) {
  const int error = SHMEMX_NEXT(eventfd_read)(fd, value);
  if (error != 0) return error;
  acquire_descriptor(SHMEMX_CALLER, fd);
  SHMEMX_NOTE_STORE(value, sizeof *value);
  return error;
}
SHMEMX_EXPORT int eventfd_write(int fd, eventfd_t value) {
  release_descriptor(SHMEMX_CALLER, fd);
  return SHMEMX_NEXT(eventfd_write)(fd, value);
}

// ---- Text that is scanned: by the names that different standards give the routines ----
using ScanText = int (*)(const char*, const char*, std::va_list);
using ScanFile = int (*)(FILE*, const char*, std::va_list);
#define SHMEMX_SCAN(NAME, VNAME, SHOWN)                                                 \
  SHMEMX_EXPORT int NAME(const char* text, const char* format, ...) noexcept {          \
    const Caller caller{SHOWN, __builtin_return_address(0)};                            \
    note(caller.routine, caller.return_address, text, length_of(text) + 1, Kind::load); \
    std::va_list arguments;                                                             \
    va_start(arguments, format);                                                        \
    const int converted = SHMEMX_NEXT_AS(ScanText, VNAME)(text, format, arguments);     \
    va_end(arguments);                                                                  \
    va_start(arguments, format);                                                        \
    note_scanned(caller, format, converted, arguments);                                 \
    va_end(arguments);                                                                  \
    return converted;                                                                   \
  }
#define SHMEMX_SCAN_FILE(NAME, VNAME, SHOWN)                                        \
  SHMEMX_EXPORT int NAME(FILE* file, const char* format, ...) {                     \
    const Caller caller{SHOWN, __builtin_return_address(0)};                        \
    std::va_list arguments;                                                         \
    va_start(arguments, format);                                                    \
    const int converted = SHMEMX_NEXT_AS(ScanFile, VNAME)(file, format, arguments); \
    va_end(arguments);                                                              \
    va_start(arguments, format);                                                    \
    note_scanned(caller, format, converted, arguments);                             \
    va_end(arguments);                                                              \
    return converted;                                                               \
  }
SHMEMX_SCAN(__isoc99_sscanf, __isoc99_vsscanf, "sscanf")
SHMEMX_SCAN(__isoc23_sscanf, __isoc23_vsscanf, "sscanf")
SHMEMX_SCAN_FILE(__isoc99_fscanf, __isoc99_vfscanf, "fscanf")
SHMEMX_SCAN_FILE(__isoc23_fscanf, __isoc23_vfscanf, "fscanf")

// C23 changed which numbers strtol() and its kin read: they have second names, too.
#define SHMEMX_NUMBER_OF_2023(R, NAME, SHOWN)                                        \
  SHMEMX_EXPORT R NAME(const char* text, char** end, int base) noexcept {            \
    note(SHOWN, __builtin_return_address(0), text, length_of(text) + 1, Kind::load); \
    return SHMEMX_NEXT_AS(R(*)(const char*, char**, int), NAME)(text, end, base);    \
  }
SHMEMX_NUMBER_OF_2023(long, __isoc23_strtol, "strtol")
SHMEMX_NUMBER_OF_2023(unsigned long, __isoc23_strtoul, "strtoul")
SHMEMX_NUMBER_OF_2023(long long, __isoc23_strtoll, "strtoll")
SHMEMX_NUMBER_OF_2023(unsigned long long, __isoc23_strtoull, "strtoull")
