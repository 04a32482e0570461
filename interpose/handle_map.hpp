// A map from handles of MPI to objects of this library.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

namespace shmemx::interpose {

// Any number of threads find, without a lock, while others insert and remove. An entry is found by linear probing and
// its key stays when it is removed, since MPI uses handles again. The map owns nothing.
template <class Handle, class Object>
class HandleMap {
 public:
  HandleMap() { install(64); }
  HandleMap(const HandleMap&) = delete;
  HandleMap& operator=(const HandleMap&) = delete;

  // Returns null if the handle is not in the map.
  Object* find(Handle handle) const noexcept {
    const Key key = key_of(handle);
    const Table& table = *current_.load(std::memory_order_acquire);  // install
    for (std::size_t i = first_of(key, table);; i = (i + 1) & table.mask) {
      const Key found = table.entries[i].key.load(std::memory_order_acquire);  // insert
      if (found == key) return table.entries[i].object.load(std::memory_order_acquire);
      if (found == 0) return nullptr;
    }
  }

  void insert(Handle handle, Object* object) {
    const std::lock_guard guard(mutex_);
    if (2 * (used_ + 1) > current_.load(std::memory_order_relaxed)->mask) grow();
    place(*current_.load(std::memory_order_relaxed), key_of(handle), object);
  }

  void remove(Handle handle) {
    const std::lock_guard guard(mutex_);
    const Key key = key_of(handle);
    Table& table = *current_.load(std::memory_order_relaxed);
    for (std::size_t i = first_of(key, table);; i = (i + 1) & table.mask) {
      const Key found = table.entries[i].key.load(std::memory_order_relaxed);
      if (found == key) table.entries[i].object.store(nullptr, std::memory_order_release);
      if (found == key || found == 0) return;
    }
  }

 private:
  using Key = std::uint64_t;  // 0: an empty entry; no handle is 0

  struct Entry {
    std::atomic<Key> key{0};
    std::atomic<Object*> object{nullptr};
  };
  struct Table {
    explicit Table(std::size_t size) : mask(size - 1), entries(new Entry[size]) {}
    std::size_t mask;
    std::unique_ptr<Entry[]> entries;
  };

  static Key key_of(Handle handle) noexcept {
    Key key = 0;
    std::memcpy(&key, &handle, sizeof handle);
    return key;
  }
  static std::size_t first_of(Key key, const Table& table) noexcept {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ull) >> 32) & table.mask;
  }

  void install(std::size_t size) {
    tables_.push_back(std::make_unique<Table>(size));
    used_ = 0;
    current_.store(tables_.back().get(), std::memory_order_release);
  }

  // Readers may still look at the old table, so it is kept until the map ends.
  void grow() {
    const Table& old = *current_.load(std::memory_order_relaxed);
    auto table = std::make_unique<Table>(2 * (old.mask + 1));
    used_ = 0;
    for (std::size_t i = 0; i <= old.mask; ++i) {
      Object* const object = old.entries[i].object.load(std::memory_order_relaxed);
      if (object != nullptr) place(*table, old.entries[i].key.load(std::memory_order_relaxed), object);
    }
    tables_.push_back(std::move(table));
    current_.store(tables_.back().get(), std::memory_order_release);  // install
  }

  void place(Table& table, Key key, Object* object) {
    std::size_t i = first_of(key, table);
    for (;; i = (i + 1) & table.mask) {
      const Key found = table.entries[i].key.load(std::memory_order_relaxed);
      if (found == 0) ++used_;
      if (found == 0 || found == key) break;
    }
    table.entries[i].object.store(object, std::memory_order_release);
    table.entries[i].key.store(key, std::memory_order_release);  // insert
  }

  std::atomic<Table*> current_{nullptr};
  std::mutex mutex_;
  std::size_t used_ = 0;  // entries of the current table that have a key
  std::vector<std::unique_ptr<Table>> tables_;
};

}  // namespace shmemx::interpose
