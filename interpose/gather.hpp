// Small puts to a process that is reached by messages. The first one after a completion leaves at once; those behind it
// gather into one list, which leaves when it is full or when the program completes its operations: a list has one
// reply.
#pragma once

#include <shmemx.h>

#include <cstddef>
#include <cstdint>

namespace shmemx::interpose {

// One thread at a time uses it.
class GatheredPuts {
 public:
  static constexpr std::size_t kLargest = 64;  // bytes of a put that gathers
  static constexpr std::size_t kMost = 100;
  static constexpr std::size_t kListBytes = 8 + kMost * (16 + kLargest);

  bool is_empty() const noexcept { return count_ == 0; }
  bool is_full() const noexcept { return count_ == kMost; }
  // Forgets all.
  void clear() noexcept {
    count_ = 0;
    filled_ = 0;
  }
  // Copies the data. Requires room.
  void add(std::uint64_t there, const void* data, std::size_t bytes) noexcept;
  // Starts the puts. Returns a result of shmemx.
  int send(shmemx_window_t window) noexcept;
  // Starts them under the lock of a window of the same process, shared or exclusive: when the counter is 0 they are
  // complete and the lock is released.
  int send_locked(shmemx_window_t lock, int kind, shmemx_window_t window, long* counter) noexcept;
  // Writes the puts as one list: their number, address and length of each, the data of all. Empties.
  std::size_t take(std::byte* list) noexcept;
  // Executes such a list on the memory of this process from `base` on. Returns false, and does nothing, if it is
  // damaged or leads outside.
  static bool execute(const std::byte* list, std::size_t list_bytes, std::byte* base, std::size_t bytes) noexcept;

 private:
  std::size_t count_ = 0;
  shmemx_iov_t there_[kMost];
  std::byte data_[kMost * kLargest];
  std::size_t filled_ = 0;
};

}  // namespace shmemx::interpose
