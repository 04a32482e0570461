#include "check/pending.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/fatal.hpp"
#include "base/hash.hpp"
#include "base/mutex.hpp"
#include "check/checks.hpp"
#include "check/report.hpp"

namespace shmemx::check {
namespace {

constexpr std::size_t kMostPending = 4096;  // beyond, the oldest are compared and forgotten
constexpr std::size_t kChunkBytes = 4096;

struct Digest {
  std::uint64_t value = 0;
  bool is_readable = true;
};

struct Operation {
  Range buffer;
  Initiator of;
  Place place;
  Digest digest;
  bool is_dest;

  bool overlaps(const Range& range) const noexcept {
    const auto mine = reinterpret_cast<std::uintptr_t>(buffer.at);
    const auto other = reinterpret_cast<std::uintptr_t>(range.at);
    return mine < other + range.bytes && other < mine + buffer.bytes;
  }
  const char* side() const noexcept { return is_dest ? "dest" : "source"; }
};

struct Table {
  Mutex mutex;
  std::vector<Operation> operations;  // the oldest first
};
// Never destroyed: threads may still use the library while the process exits.
Table& table() {
  static auto* const instance = new Table;
  return *instance;
}

using Guard = std::lock_guard<Mutex>;

void add(Fnv1a& hash, const std::byte* bytes, std::size_t count) {
  std::uint64_t word = 0;
  for (; count >= sizeof word; bytes += sizeof word, count -= sizeof word) {
    std::memcpy(&word, bytes, sizeof word);
    hash.add(word);
  }
  word = 0;
  std::memcpy(&word, bytes, count);
  hash.add(word);
}

// The program may have unmapped the buffer meanwhile, so the kernel reads it.
Digest digest_of(const Range& range) {
  Fnv1a hash;
  const auto* at = static_cast<const std::byte*>(range.at);
  for (std::uint64_t left = range.bytes; left != 0;) {
    std::byte chunk[kChunkBytes];
    const std::size_t bytes = std::min<std::uint64_t>(left, sizeof chunk);
    const iovec from{const_cast<std::byte*>(at), bytes};
    const iovec to{chunk, bytes};
    const ssize_t got = ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0);
    if (got < 0 && errno == EFAULT) return {0, false};
    add(hash, got == static_cast<ssize_t>(bytes) ? chunk : at, bytes);
    at += bytes;
    left -= bytes;
  }
  return {hash.digest(), true};
}

// Returns the digest of memory that an operation has just read or written: it is mapped.
Digest digest_now(const Range& range) {
  Fnv1a hash;
  const auto* at = static_cast<const std::byte*>(range.at);
  for (std::uint64_t left = range.bytes; left != 0;) {
    const std::size_t bytes = std::min<std::uint64_t>(left, kChunkBytes);
    add(hash, at, bytes);
    at += bytes;
    left -= bytes;
  }
  return {hash.digest(), true};
}

[[noreturn]] void was_touched(const char* routine, const Operation& operation, const Digest& now) {
  const char* const how = !now.is_readable ? "unmapped" : operation.is_dest ? "written" : "changed";
  fatal(routine, "finds that the %s of %s, %llu bytes, was %s before this call completed the operation",
        operation.side(), Places().text(operation.place).c_str(),
        static_cast<unsigned long long>(operation.buffer.bytes), how);
}

void compare(const char* routine, const Operation& operation) {
  const Digest now = digest_of(operation.buffer);
  if (!now.is_readable || now.value != operation.digest.value) was_touched(routine, operation, now);
}

[[noreturn]] void is_in_use(const char* routine, const char* argument, const Operation& operation) {
  fatal(routine, "argument '%s' overlaps the %s of %s, which is in use until shmem_quiet", argument, operation.side(),
        Places().text(operation.place).c_str());
}

void note(const char* routine, const Operation& operation) {
  const Guard guard(table().mutex);
  std::vector<Operation>& operations = table().operations;
  if (operations.size() == kMostPending) {
    compare(routine, operations[0]);
    operations.erase(operations.begin());
  }
  operations.push_back(operation);
}

bool is_off() noexcept { return !enabled.has(Checks::pending); }

}  // namespace

void note_source(const char* routine, const Range& source, const Initiator& of) noexcept {
  if (is_off() || source.bytes == 0) return;
  note(routine, {source, of, here(routine), digest_now(source), false});
}

void note_dest(const char* routine, const Range& dest, const Initiator& of) noexcept {
  if (is_off() || dest.bytes == 0) return;
  note(routine, {dest, of, here(routine), digest_now(dest), true});
}

void check_reading(const char* routine, const char* argument, const Range& buffer) noexcept {
  if (is_off()) return;
  const Guard guard(table().mutex);
  for (const Operation& operation : table().operations) {
    if (operation.is_dest && operation.overlaps(buffer)) is_in_use(routine, argument, operation);
  }
}

void check_writing(const char* routine, const char* argument, const Range& buffer) noexcept {
  if (is_off()) return;
  const Guard guard(table().mutex);
  std::erase_if(table().operations, [&](const Operation& operation) {
    if (!operation.overlaps(buffer)) return false;
    if (!operation.is_dest) is_in_use(routine, argument, operation);
    return true;
  });
}

void complete(const char* routine, int context, int pe) noexcept {
  if (is_off()) return;
  const Guard guard(table().mutex);
  std::erase_if(table().operations, [&](const Operation& operation) {
    const bool is_of_context = context == kAny || static_cast<int>(operation.of.context) == context;
    if (!is_of_context || (pe != kAny && operation.of.pe != pe)) return false;
    compare(routine, operation);
    return true;
  });
}

void forget_pending() noexcept {
  const Guard guard(table().mutex);
  table().operations.clear();
}

}  // namespace shmemx::check
