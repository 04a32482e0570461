// Finds out whether the program has unmapped, moved, replaced or emptied a range of its memory (munmap, mremap,
// MAP_FIXED, madvise). The kernel reports it (userfaultfd(2)): no function of the C library is interposed. A call of
// the program that changes a watched range returns when the thread of the watch has read the report.
//
// That thread runs while ranges are watched. It allocates nothing and takes no lock, so a thread inside the allocator
// or under a lock may change a watched range. One thread at a time calls watch(), end_watch() and close().
//
// Edges:  watched  end.store -> end.load                  the begin of the range and its cleared mark
//         changed  is_reading.store -> is_reading.load    the marks made by all reports that have been read
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/unique_fd.hpp"

namespace shmemx::windows {

class MemoryWatch {
 public:
  static constexpr std::size_t kRanges = 256;  // at once

  MemoryWatch() noexcept = default;
  ~MemoryWatch() { close(); }
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  // Watches the pages of a range of private anonymous memory, as of malloc. Returns a number for it, 0 if it cannot be
  // watched: the kernel or a seccomp filter refuses it, it is shared or the mapping of a file, or kRanges are watched.
  std::uint32_t watch(const std::byte* base, std::size_t bytes) noexcept;
  // Ends a watch. Returns true if the range has stayed as it was, false if it has changed or a report is just being
  // read.
  bool end_watch(std::uint32_t number) noexcept;
  // Ends all.
  void close() noexcept;

  // The thread of the watch of this process, 0 if there is none.
  static pid_t thread() noexcept { return thread_id_.load(std::memory_order_relaxed); }

 private:
  struct Range {
    std::atomic<std::uint64_t> begin{0};
    std::atomic<std::uint64_t> end{0};  // 0: free
    std::atomic<bool> is_changed{false};
  };

  bool open() noexcept;
  bool start_thread() noexcept;
  static void* run(void* watch);
  void read_reports() noexcept;
  void note_change(std::uint64_t begin, std::uint64_t end) noexcept;
  bool register_anonymous(std::uint64_t begin, std::uint64_t end) noexcept;
  void unregister_unshared(std::uint64_t begin, std::uint64_t end) noexcept;
  void unregister(std::uint64_t begin, std::uint64_t end) noexcept;

  static inline std::atomic<pid_t> thread_id_{0};

  UniqueFd reports_;
  UniqueFd stop_;
  pthread_t thread_{};
  bool has_failed_ = false;              // to open: not tried again
  std::atomic<bool> is_reading_{false};  // a report that has been read may not be noted yet
  Range ranges_[kRanges];
};

}  // namespace shmemx::windows
