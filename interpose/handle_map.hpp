// A map from handles of MPI to objects of this library.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "interpose/job.hpp"

namespace shmemx::interpose {

// Any number of threads find, without a lock, while others insert and remove. An entry is found by linear probing and
// its key stays when it is removed, since MPI uses handles again. The map owns nothing. It has no constructor that
// runs.
template <class Handle, class Object>
class HandleMap {
 public:
  constexpr HandleMap() noexcept = default;
  HandleMap(const HandleMap&) = delete;
  HandleMap& operator=(const HandleMap&) = delete;

  // Returns null if the handle is not in the map.
  Object* find(Handle handle) const noexcept {
    Object* const recent = find_recent(handle);
    return recent != nullptr ? recent : find_slow(key_of(handle));
  }

  // Is find() in a few instructions for the handle that was found last. May return null for any other.
  [[gnu::always_inline]] Object* find_recent(Handle handle) const noexcept {
    if (recent_key_.load(std::memory_order_acquire) != key_of(handle)) [[unlikely]]  // recent
      return nullptr;
    return recent_object_.load(std::memory_order_acquire);  // insert
  }

  void insert(Handle handle, Object* object) {
    const std::lock_guard guard(mutex_);
    if (2 * (used_ + 1) > current_.load(std::memory_order_relaxed)->mask) grow();
    forget(key_of(handle));
    place(*current_.load(std::memory_order_relaxed), key_of(handle), object);
  }

  void remove(Handle handle) {
    const std::lock_guard guard(mutex_);
    forget(key_of(handle));
  }
  // Removes the object, unless the MPI has given its handle to another one meanwhile, which then stays.
  void remove(Handle handle, const Object* object) {
    const std::lock_guard guard(mutex_);
    forget(key_of(handle), object);
  }

 private:
  using Key = std::uint64_t;  // 0: an empty entry; no handle is 0, nor kNoKey
  static constexpr Key kNoKey = ~Key{0};

  struct Entry {
    std::atomic<Key> key{0};
    std::atomic<Object*> object{nullptr};
  };
  struct Table {
    std::size_t mask;
    Entry* entries;
    std::unique_ptr<Entry[]> owned;
    std::unique_ptr<Table> older;  // readers may still look at it
  };

  static Key key_of(Handle handle) noexcept {
    Key key = 0;
    std::memcpy(&key, &handle, sizeof handle);
    return key;
  }
  static std::size_t first_of(Key key, const Table& table) noexcept {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ull) >> 32) & table.mask;
  }

  [[gnu::noinline]] Object* find_slow(Key key) const noexcept {
    const Table& table = *current_.load(std::memory_order_acquire);  // install
    for (std::size_t i = first_of(key, table);; i = (i + 1) & table.mask) {
      const Entry& entry = table.entries[i];
      const Key found = entry.key.load(std::memory_order_acquire);  // insert
      if (found == 0) return nullptr;
      if (found != key) continue;
      Object* const object = entry.object.load(std::memory_order_acquire);
      if (object != nullptr) note_recent(key, object);
      return object;
    }
  }

  // Whoever uses a handle keeps it from being removed, so `recent_object_` belongs to the key that was read before.
  // With several threads only a removal lets another handle take the place.
  void note_recent(Key key, Object* object) const noexcept {
    std::unique_lock guard(mutex_, std::defer_lock);
    if (many_threads && (recent_key_.load(std::memory_order_relaxed) != kNoKey || !guard.try_lock() ||
                         recent_key_.load(std::memory_order_relaxed) != kNoKey))
      return;
    recent_object_.store(object, std::memory_order_release);  // insert
    recent_key_.store(key, std::memory_order_release);        // recent
  }

  // Readers may still look at the old table, so it is kept until the map ends.
  void grow() {
    const Table& old = *current_.load(std::memory_order_relaxed);
    const std::size_t size = 2 * (old.mask + 1);
    std::unique_ptr<Entry[]> entries(new Entry[size]);
    Entry* const first = entries.get();
    std::unique_ptr<Table> table(new Table{size - 1, first, std::move(entries), std::move(newest_)});
    used_ = 0;
    for (std::size_t i = 0; i <= old.mask; ++i) {
      Object* const object = old.entries[i].object.load(std::memory_order_relaxed);
      if (object != nullptr) place(*table, old.entries[i].key.load(std::memory_order_relaxed), object);
    }
    newest_ = std::move(table);
    current_.store(newest_.get(), std::memory_order_release);  // install
  }

  // Under the mutex. If `only` is not null, no other object is forgotten.
  void forget(Key key, const Object* only = nullptr) {
    const Table& table = *current_.load(std::memory_order_relaxed);
    std::size_t i = first_of(key, table);
    for (Key found = 0; (found = table.entries[i].key.load(std::memory_order_relaxed)) != key; i = (i + 1) & table.mask)
      if (found == 0) return;
    if (only != nullptr && table.entries[i].object.load(std::memory_order_relaxed) != only) return;
    if (recent_key_.load(std::memory_order_relaxed) == key) recent_key_.store(kNoKey, std::memory_order_release);
    table.entries[i].object.store(nullptr, std::memory_order_release);
  }

  void place(const Table& table, Key key, Object* object) {
    std::size_t i = first_of(key, table);
    for (;; i = (i + 1) & table.mask) {
      const Key found = table.entries[i].key.load(std::memory_order_relaxed);
      if (found == 0) ++used_;
      if (found == 0 || found == key) break;
    }
    table.entries[i].object.store(object, std::memory_order_release);
    table.entries[i].key.store(key, std::memory_order_release);  // insert
  }

  static constexpr std::size_t kFirst = 64;
  Entry first_entries_[kFirst] = {};
  Table first_{kFirst - 1, first_entries_, nullptr, nullptr};
  std::unique_ptr<Table> newest_;  // null: the first one
  std::atomic<const Table*> current_{&first_};
  mutable std::atomic<Key> recent_key_{kNoKey};  // of the handle that was found last
  mutable std::atomic<Object*> recent_object_{nullptr};
  mutable std::mutex mutex_;
  std::size_t used_ = 0;  // entries of the current table that have a key
};

// A map that is never destroyed: the MPI may use handles while the process ends.
template <class Handle, class Object>
union LastingMap {
  HandleMap<Handle, Object> map;
  constexpr LastingMap() noexcept : map() {}
  ~LastingMap() {}
};

}  // namespace shmemx::interpose
