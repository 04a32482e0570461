// Handles to objects: coded numbers, so that any value can be looked up without a wild access. find() takes no lock and
// no time that grows with the number of objects. Objects stay where they are; memory of a chunk is never given back.
//
//   handle: generation << 21 | index << 1 | tag        tag tells the tables apart; generation from 1
//
// Edges:  alive  handle.store -> handle.load    the object that add() filled, before its handle is known
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#include "base/mutex.hpp"

namespace shmemx::public_windows {

template <class T, unsigned Tag>
class HandleTable {
 public:
  static constexpr std::uint32_t kMaxObjects = 1U << 20;

  constexpr HandleTable() = default;

  // `fill` gets the object, to be written before anybody finds it. 0: the table is full, or there is no memory.
  template <class Fill>
  std::uint64_t add(Fill fill) noexcept {
    Slot* slot = nullptr;
    std::uint32_t index = 0;
    {
      const std::lock_guard lock(mutex_);
      slot = take(index);
    }
    if (slot == nullptr) return 0;
    fill(slot->object);
    const std::uint64_t handle = ++slot->generation << 21 | std::uint64_t{index} << 1 | Tag;
    slot->handle.store(handle, std::memory_order_release);  // alive
    return handle;
  }

  T* find(std::uint64_t handle) noexcept {
    const std::uint32_t index = static_cast<std::uint32_t>(handle >> 1) % kMaxObjects;
    Slot* const chunk = chunk_of(index);
    if (chunk == nullptr) return nullptr;
    Slot& slot = chunk[index % kChunk];
    if (slot.handle.load(std::memory_order_acquire) != handle || handle == 0) return nullptr;  // alive
    return &slot.object;
  }

  // Calls visit(handle, object) for each; it may remove the object. Objects that other threads add meanwhile may be
  // left out.
  template <class Visit>
  void for_each(Visit visit) noexcept {
    for (std::uint32_t first = 0; first < kMaxObjects; first += kChunk) {
      Slot* const chunk = chunk_of(first);
      if (chunk == nullptr) return;
      for (std::uint32_t i = 0; i < kChunk; ++i) {
        const std::uint64_t handle = chunk[i].handle.load(std::memory_order_acquire);  // alive
        if (handle != 0) visit(handle, chunk[i].object);
      }
    }
  }

  // From now on nobody finds it; the caller alone may still use the object until recycle(). Null: there is none.
  T* remove(std::uint64_t handle) noexcept {
    T* const object = find(handle);
    if (object == nullptr) return nullptr;
    std::uint64_t expected = handle;
    Slot& slot = slot_of(handle);
    return slot.handle.compare_exchange_strong(expected, 0, std::memory_order_acq_rel, std::memory_order_relaxed)
               ? object
               : nullptr;  // of two threads that remove it, one wins
  }
  void recycle(std::uint64_t handle) noexcept {
    const std::lock_guard lock(mutex_);
    unused_.push_back(static_cast<std::uint32_t>(handle >> 1) % kMaxObjects);
  }

 private:
  struct alignas(std::bit_ceil(sizeof(T) + 16)) Slot {
    std::atomic<std::uint64_t> handle{0};
    std::uint64_t generation = 0;  // whoever has taken the slot writes it
    T object{};
  };
  static constexpr std::uint32_t kChunk = 1024;

  // Returns the chunk that holds an index, null before it is made. The first one needs no load.
  Slot* chunk_of(std::uint32_t index) noexcept {
    if (index < kChunk) [[likely]]
      return first_;
    return chunks_[index / kChunk].load(std::memory_order_acquire);  // the zeros of a new chunk
  }
  Slot& slot_of(std::uint64_t handle) noexcept {
    const std::uint32_t index = static_cast<std::uint32_t>(handle >> 1) % kMaxObjects;
    return chunk_of(index)[index % kChunk];
  }

  // Under the mutex.
  Slot* take(std::uint32_t& index) noexcept {
    if (unused_.empty()) {
      if (next_ == kMaxObjects) return nullptr;
      auto& chunk = chunks_[next_ / kChunk];
      if (next_ >= kChunk && chunk.load(std::memory_order_relaxed) == nullptr) {  // written under the mutex only
        auto* const made = new (std::nothrow) Slot[kChunk];
        if (made == nullptr) return nullptr;
        chunk.store(made, std::memory_order_release);
      }
      index = next_++;
    } else {
      index = unused_.back();
      unused_.pop_back();
    }
    return &slot_of(std::uint64_t{index} << 1);
  }

  Mutex mutex_;
  std::vector<std::uint32_t> unused_;
  std::uint32_t next_ = 0;
  Slot first_[kChunk] = {};
  std::atomic<Slot*> chunks_[kMaxObjects / kChunk] = {};  // the other ones
};

}  // namespace shmemx::public_windows
