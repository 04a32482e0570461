// Queues of messages and receives, found by source and tag without a walk over what does not fit.
//
// A KeyedQueues holds many first-in-first-out queues, one for each key that occurs, in a hash table of the queues'
// first elements. Elements are linked through themselves: nothing is allocated for an element, so posting cannot fail.
//
// Posted receives stand under the key they ask for, wildcards included. A message of (source, tag) fits four keys; the
// oldest of the four firsts is its receive. Unexpected messages stand under all four keys at once, so a receive or
// probe looks at one. Stamps tell what is older.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shmemx::pt2pt {

inline constexpr std::int32_t kAny = -1;

struct Key {
  std::int32_t source;  // or kAny
  std::int32_t tag;     // or kAny
  std::uint64_t word() const noexcept {
    return std::uint64_t{static_cast<std::uint32_t>(source)} << 32 | static_cast<std::uint32_t>(tag);
  }
  // `this` is what a receive asks for.
  bool fits(std::int32_t of_source, std::int32_t of_tag) const noexcept {
    return (source == kAny || source == of_source) && (tag == kAny || tag == of_tag);
  }
};

struct QueueEntry {
  QueueEntry* next;   // behind this one, of the same key
  QueueEntry* prev;   // before it; null: this is the first
  QueueEntry* chain;  // of a first: another key's first in the same bucket
  QueueEntry* last;   // of a first: the newest of this key
  std::uint64_t key;
  std::uint64_t stamp;
  void* owner;
};

class KeyedQueues {
 public:
  KeyedQueues() noexcept = default;
  ~KeyedQueues();
  KeyedQueues(const KeyedQueues&) = delete;
  KeyedQueues& operator=(const KeyedQueues&) = delete;

  // `entry.key`, `entry.stamp` and `entry.owner` are set. Stamps of one key grow.
  void push(QueueEntry& entry) noexcept;
  void erase(QueueEntry& entry) noexcept;
  // The oldest of that key, null when there is none.
  QueueEntry* front(std::uint64_t key) const noexcept {
    if (count_ == 0) return nullptr;
    QueueEntry* entry = buckets_[bucket_of(key)];
    while (entry != nullptr && entry->key != key) entry = entry->chain;
    return entry;
  }
  std::size_t size() const noexcept { return count_; }
  // Forgets all elements.
  void clear() noexcept;

 private:
  static constexpr unsigned kFirstBits = 6;
  std::size_t bucket_of(std::uint64_t key) const noexcept {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> (64 - bits_));
  }
  QueueEntry** slot_of(QueueEntry& first) noexcept;
  void grow() noexcept;

  QueueEntry* own_[std::size_t{1} << kFirstBits] = {};
  QueueEntry** buckets_ = own_;
  unsigned bits_ = kFirstBits;
  std::size_t count_ = 0;   // elements
  std::size_t queues_ = 0;  // keys
};

// Receives that wait for their message.
class PostedQueue {
 public:
  void push(QueueEntry& entry, Key key, std::uint64_t stamp, void* owner) noexcept {
    entry.key = key.word();
    entry.stamp = stamp;
    entry.owner = owner;
    wildcards_ += key.source == kAny || key.tag == kAny;
    queues_.push(entry);
  }
  void erase(QueueEntry& entry) noexcept {
    wildcards_ -= is_wild(entry.key);
    queues_.erase(entry);
  }
  // The receive that a message of this source and tag belongs to; null: none. It stays.
  QueueEntry* find(std::int32_t source, std::int32_t tag) const noexcept {
    if (queues_.size() == 0) return nullptr;
    QueueEntry* const exact = queues_.front(Key{source, tag}.word());
    return wildcards_ == 0 ? exact : older_wildcard(exact, source, tag);
  }
  // Is there a receive that could take a message which `key` asks for, too?
  bool competes(Key key) const noexcept {
    if (queues_.size() == 0) return false;
    return key.source == kAny || key.tag == kAny || find(key.source, key.tag) != nullptr;
  }
  std::size_t size() const noexcept { return queues_.size(); }
  void clear() noexcept {
    queues_.clear();
    wildcards_ = 0;
  }

 private:
  static bool is_wild(std::uint64_t key) noexcept {
    return static_cast<std::uint32_t>(key) == 0xffffffffU || key >> 32 == 0xffffffffU;
  }
  QueueEntry* older_wildcard(QueueEntry* best, std::int32_t source, std::int32_t tag) const noexcept;

  KeyedQueues queues_;
  std::size_t wildcards_ = 0;
};

// A message is in four queues.
struct UnexpectedEntries {
  QueueEntry entries[4];
};

class UnexpectedQueue {
 public:
  void push(UnexpectedEntries& message, Key key, std::uint64_t stamp, void* owner) noexcept;
  void erase(UnexpectedEntries& message) noexcept;
  // The oldest message that fits; null: none.
  QueueEntry* find(Key key) const noexcept { return queues_.front(key.word()); }
  bool empty() const noexcept { return queues_.size() == 0; }
  std::size_t size() const noexcept { return queues_.size() / 4; }
  void clear() noexcept { queues_.clear(); }

 private:
  KeyedQueues queues_;
};

}  // namespace shmemx::pt2pt
