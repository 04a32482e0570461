// StaticData::share: how the ranges are moved into the arena.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "base/lazy_mapping.hpp"
#include "base/machine.hpp"
#include "base/mappings.hpp"
#include "base/own_stack.hpp"
#include "base/stopped_threads.hpp"
#include "base/unique_fd.hpp"
#include "windows/fork_guard.hpp"
#include "windows/page_copy.hpp"
#include "windows/static_data.hpp"

namespace shmemx::windows {
namespace {

// Which pages of this process were never touched, from /proc/self/pagemap. Where that cannot be read none counts as
// untouched.
class PageMap {
 public:
  PageMap() : fd_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {
    // This object has just been written. Where the file says otherwise it numbers pages in another way, as under an
    // emulator.
    if (!untouched(reinterpret_cast<const std::byte*>(this))) return;
    fd_ = UniqueFd();
    known_ = 0;
  }

  bool untouched(const std::byte* page) {
    const std::uintptr_t number = reinterpret_cast<std::uintptr_t>(page) / page_bytes_;
    if (number - first_ >= known_) read_from(number);
    if (number - first_ >= known_) return false;
    constexpr std::uint64_t kPresentOrSwapped = std::uint64_t{3} << 62;
    return (entries_[number - first_] & kPresentOrSwapped) == 0;
  }

 private:
  void read_from(std::uintptr_t number) {
    first_ = number;
    const ssize_t got = fd_.valid() ? ::pread(fd_.get(), entries_.data(), sizeof entries_,
                                              static_cast<off_t>(number * sizeof entries_[0]))
                                    : 0;
    known_ = got > 0 ? static_cast<std::size_t>(got) / sizeof entries_[0] : 0;
  }

  UniqueFd fd_;
  std::size_t page_bytes_ = page_bytes();
  std::array<std::uint64_t, 512> entries_{};
  std::uintptr_t first_ = 0;
  std::size_t known_ = 0;
};

// Copies only pages that hold something: a large zero-filled array must neither become resident nor be walked through.
bool copy_touched(int fd, std::size_t file_offset, const StaticRange& range) {
  PageMap pages;
  const std::size_t bytes = page_bytes();
  for (const std::byte* page = range.begin; page < range.end; page += bytes) {
    if ((page >= range.zero_fill && pages.untouched(page)) || page_is_zero(page, bytes)) continue;
    const std::size_t at = file_offset + static_cast<std::size_t>(page - range.begin);
    if (::syscall(SYS_pwrite64, fd, page, bytes, at) != static_cast<long>(bytes)) return false;
  }
  return true;
}

// The parts of a range whose protection the program has changed. In memory of its own, found before the range is moved.
class Protections {
 public:
  Protections() noexcept
      : list_(static_cast<Part*>(map_on_touch(nullptr, kMost * sizeof(Part), PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE))) {}
  ~Protections() {
    if (is_valid()) ::syscall(SYS_munmap, list_, kMost * sizeof(Part));
  }
  Protections(const Protections&) = delete;
  Protections& operator=(const Protections&) = delete;

  bool is_valid() const noexcept { return list_ != MAP_FAILED; }
  // Returns false if there are too many.
  bool find(const StaticRange& range) noexcept {
    count_ = 0;
    MappingReader reader;
    Mapping mapping;
    while (reader.next(mapping)) {
      const std::uintptr_t begin = std::max(mapping.begin, reinterpret_cast<std::uintptr_t>(range.begin));
      const std::uintptr_t end = std::min(mapping.end, reinterpret_cast<std::uintptr_t>(range.end));
      if (begin >= end || mapping.protection == (PROT_READ | PROT_WRITE)) continue;
      if (count_ == kMost) return false;
      list_[count_++] = {begin, end - begin, mapping.protection};
    }
    return true;
  }
  // Makes all parts readable; others are left.
  bool open() const noexcept {
    return std::all_of(list_, list_ + count_, [](const Part& part) {
      return (part.protection & PROT_READ) != 0 || ::syscall(SYS_mprotect, part.begin, part.bytes, PROT_READ) == 0;
    });
  }
  bool restore() const noexcept {
    return std::all_of(list_, list_ + count_, [](const Part& part) {
      return ::syscall(SYS_mprotect, part.begin, part.bytes, part.protection) == 0;
    });
  }

 private:
  struct Part {
    std::uintptr_t begin;
    std::size_t bytes;
    int protection;
  };
  static constexpr std::size_t kMost = std::size_t{1} << 16;  // more than the mappings that a process may have

  Part* list_;
  std::size_t count_ = 0;
};

// What a step of the move needs, on a stack that does not belong to the ranges.
struct Move {
  std::span<const StaticRange> ranges;
  int fd;
  std::size_t file_offset;       // of the first range's begin
  const char* failed = nullptr;  // what could not be done
  int cause = 0;
};

// No global may be written between copy and mapping, and no memory allocated. In a static executable the globals are
// the library's own and libc's, too.
const char* move_range(const StaticRange& range, int fd, std::size_t file_offset, Protections& protections) {
  const auto bytes = static_cast<std::size_t>(range.end - range.begin);
  if (!protections.find(range) || !protections.open()) return "look at the protections of the executable's static data";
  if (!copy_touched(fd, file_offset, range)) {
    const int cause = errno;
    protections.restore();
    errno = cause;
    return "copy the executable's static data";
  }
  if (map_on_touch(range.begin, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd,
                   file_offset) == MAP_FAILED)
    return "map the executable's static data over itself";
  if (!protections.restore()) return "protect pages of static data as they were";
  lock_on_touch(range.begin, bytes);
  return nullptr;
}

void move_all(Move& move) {
  Protections protections;
  const char* failed = protections.is_valid() ? nullptr : "map memory for the protections of static data";
  const std::byte* const base = move.ranges.front().begin;
  for (std::size_t i = 0; i < move.ranges.size() && failed == nullptr; ++i) {
    const StaticRange& range = move.ranges[i];
    failed = move_range(range, move.fd, move.file_offset + static_cast<std::size_t>(range.begin - base), protections);
  }
  const int cause = errno;
  if (failed == nullptr) guard_forks(move.ranges, move.fd, move.file_offset);
  move.failed = failed;
  move.cause = cause;
}

bool is_own_stack_in(std::span<const StaticRange> ranges) {
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  return here >= ranges.front().begin && here < ranges.back().end;
}

// Unless this stack lies elsewhere anyway.
void move_on_other_stack(Move& move) {
  constexpr std::size_t kStackBytes = std::size_t{64} << 10;
  const auto run = [](void* argument) { move_all(*static_cast<Move*>(argument)); };
  if (!is_own_stack_in(move.ranges)) return run(&move);
  const OwnStack own(kStackBytes);
  move.failed = "map a stack outside the static data";
  if (own.is_valid()) own.run(run, &move);
}

}  // namespace

Status StaticData::share(int fd, std::size_t file_offset) const {
  SHMEMX_TRY(open_fork_guard());
  Move move{ranges_, fd, file_offset};
  pid_t unstopped = 0;
  {
    const StoppedThreads others(Stop::last);
    unstopped = others.unstopped();
    if (unstopped == 0) move_on_other_stack(move);
  }
  if (unstopped != 0)
    return Error{Errc::unsupported, 0,
                 "thread " + std::to_string(unstopped) +
                     " cannot be stopped any more while static data are moved into shared memory; start threads after "
                     "shmem_init, or set SHMEMX_STATIC_DATA=0"};
  if (move.failed != nullptr) return Error{Errc::system, move.cause, move.failed};
  return {};
}

pid_t find_unstoppable_thread() noexcept {
  const StoppedThreads others(Stop::once);
  return others.unstopped();
}

void stop_no_more() noexcept { const StoppedThreads others(Stop::last); }

}  // namespace shmemx::windows
