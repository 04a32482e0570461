// Memory of tasks. Tasks that wait on this PE lie in buffers, each with the tasks of one message or of many.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace shmemx::tasks {

// What all tasks of this PE take, and how much they may.
class Budget {
 public:
  void open(int me, std::size_t limit) noexcept {
    me_ = me;
    limit_ = limit;
  }
  // Ends the job if the tasks take more than the limit. `peer` is the other PE of the task that needs the memory.
  void take(std::size_t bytes, int peer, bool is_received) noexcept {
    if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes > limit_) [[unlikely]]  // a count only
      exceed(peer, is_received);
  }
  void give_back(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }  // a count only
  std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

 private:
  [[noreturn, gnu::cold, gnu::noinline]] void exceed(int peer, bool is_received) const noexcept;

  std::atomic<std::size_t> used_{0};
  std::size_t limit_ = 0;
  int me_ = 0;
};

// Records lie behind it: Record, tasks in the format of batches.
// Edge:  shared  release of a share -> acquire of the last one  what others did with the memory
struct alignas(16) Buffer {
  std::atomic<std::uint32_t> shares;  // 1 for the queue, 1 for each payload that the program keeps
  std::uint32_t queued;               // stretches and other tasks in it that have not been run; of the scheduler
  std::uint32_t capacity;
  std::uint32_t used;
  Buffer* next;

  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  std::size_t room() const noexcept { return capacity - used; }
};
static_assert(sizeof(Buffer) == 32);

// The tasks of one message.
struct Record {
  std::int32_t source;
  std::uint32_t bytes : 31;
  std::uint32_t is_mixed : 1;  // there may be other items than tasks of priority 0
};
static_assert(sizeof(Record) == 8);

inline constexpr std::size_t kBufferBytes = (std::size_t{32} << 10) - sizeof(Buffer);

// Return an empty buffer of at least `bytes`, or of just as many, with one share.
Buffer* make_buffer(Budget& budget, std::size_t bytes, int source) noexcept;
Buffer* make_small_buffer(Budget& budget, std::size_t bytes, int source) noexcept;
// Ends one share.
void release_share(Budget& budget, Buffer* buffer) noexcept;

// Buffers of the usual size that can be used again. One thread at a time.
class BufferList {
 public:
  void add(Buffer* buffer) noexcept {
    buffer->next = first_;
    first_ = buffer;
    ++count_;
  }
  Buffer* take() noexcept {
    Buffer* const buffer = first_;
    if (buffer == nullptr) return nullptr;
    first_ = buffer->next;
    --count_;
    return buffer;
  }
  std::size_t count() const noexcept { return count_; }

 private:
  Buffer* first_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace shmemx::tasks
