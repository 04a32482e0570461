// Tasks that have arrived and that the scheduler has not seen yet. Handlers of the endpoint copy them, on whichever
// thread polls; the scheduler takes all at once.
#pragma once

#include <atomic>

#include "base/bytes.hpp"
#include "tasks/memory.hpp"
#include "tasks/pieces.hpp"
#include "tasks/wire.hpp"

namespace shmemx::tasks {

// Under the endpoint's lock, except has_any().
class Incoming {
 public:
  explicit Incoming(Budget& budget) noexcept : budget_(budget) {}
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;

  // Adds the tasks of a message. `is_mixed`: there may be other items than tasks of priority 0.
  void add(int source, Bytes message, bool is_mixed) noexcept;
  // Adds a piece of a message. Returns false if it does not fit to the pieces before it. With the last one, `whole` is
  // the buffer with the message, for add_complete() or drop().
  bool add_piece(int source, const PieceHead& head, Bytes piece, Buffer*& whole) noexcept;
  // Makes a buffer with the item of a task whose payload is still to come, to `payload`. The task is there when
  // add_complete() is called.
  Buffer* make_pulled(int source, Bytes item, std::size_t payload_bytes, std::byte*& payload) noexcept;
  // Returns the message in a buffer of add_piece() or make_pulled().
  static Bytes message_of(Buffer& buffer) noexcept;
  void add_complete(Buffer* buffer) noexcept {
    append(buffer);
    has_any_.store(true, std::memory_order_relaxed);  // the lock orders the tasks
  }
  // Gives up such a buffer.
  void drop(Buffer* buffer) noexcept { release_share(budget_, buffer); }
  // Returns a place for a task of this PE to itself; the task is there when the lock is released.
  std::byte* place_of(int source, std::size_t bytes, bool is_mixed) noexcept;

  // A hint for other threads; exact under the lock.
  bool has_any() const noexcept { return has_any_.load(std::memory_order_relaxed); }
  // Returns all buffers, in the order in which they arrived, and takes back those that may be used again.
  Buffer* take_all(BufferList& unused) noexcept;
  // Messages of which not all pieces have arrived.
  std::size_t partial_count() const noexcept { return partials_.count(); }
  // Forgets everything.
  void clear() noexcept;

 private:
  static constexpr std::size_t kMostUnused = 64;

  Buffer* buffer_for(int source, std::size_t bytes) noexcept;
  static std::byte* add_record(Buffer& buffer, int source, std::size_t bytes, bool is_mixed) noexcept;
  void append(Buffer* buffer) noexcept;

  Budget& budget_;
  Buffer* first_ = nullptr;
  Buffer* last_ = nullptr;
  BufferList unused_;
  PartialMessages<Buffer*> partials_;
  std::atomic<bool> has_any_{false};
};

}  // namespace shmemx::tasks
