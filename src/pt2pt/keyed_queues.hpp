// Queues of messages and receives. A look-up by source and tag never walks over entries that do not fit.
//
// A KeyedQueues holds many first-in-first-out queues, one for each key that occurs, in a hash table of the queues'
// first entries. Entries are intrusive: nothing is allocated for them, so posting cannot fail.
//
// A posted receive is queued under its key, wildcards included. A message of (source, tag) fits four keys, and the
// oldest of their four first entries is its receive. An unexpected message is queued under all four keys at once, so a
// receive or probe looks at one; but only when a receive has passed over it: the messages that arrived last stand in a
// list, and the one in front of it often fits the next receive, from any source. Stamps order entries by age.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shmemx::pt2pt {

inline constexpr std::int32_t kAny = -1;

// Tags below kAny belong to the library's own collectives: they are matched apart from those of programs.
constexpr bool is_internal(std::int32_t tag) noexcept { return tag < kAny; }

struct Key {
  std::int32_t source;  // or kAny
  std::int32_t tag;     // or kAny
  std::uint64_t word() const noexcept {
    return std::uint64_t{static_cast<std::uint32_t>(source)} << 32 | static_cast<std::uint32_t>(tag);
  }
  static Key of(std::uint64_t word) noexcept {
    return {static_cast<std::int32_t>(word >> 32), static_cast<std::int32_t>(word)};
  }
  // Returns true if a receive with this key takes such a message.
  bool fits(std::int32_t of_source, std::int32_t of_tag) const noexcept {
    return (source == kAny || source == of_source) && (tag == kAny || tag == of_tag);
  }
};

struct QueueEntry {
  QueueEntry* next;   // after this one, of the same key
  QueueEntry* prev;   // null: this is the first
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

  // The caller has set key, stamp and owner of the entry. Stamps of one key grow.
  void push(QueueEntry& entry) noexcept;
  void erase(QueueEntry& entry) noexcept;
  // Returns the oldest entry of that key; null if there is none.
  QueueEntry* first(std::uint64_t key) const noexcept {
    if (count_ == 0) return nullptr;
    QueueEntry* entry = buckets_[bucket_of(key)];
    while (entry != nullptr && entry->key != key) entry = entry->chain;
    return entry;
  }
  std::size_t size() const noexcept { return count_; }
  // Forgets all entries.
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
  std::size_t count_ = 0;   // entries
  std::size_t queues_ = 0;  // keys
};

// Receives that no message has matched yet.
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
  // Returns the receive that a message of this source and tag belongs to, without removing it; null if there is none.
  QueueEntry* find(std::int32_t source, std::int32_t tag) const noexcept {
    if (queues_.size() == 0) return nullptr;
    QueueEntry* const exact = queues_.first(Key{source, tag}.word());
    return wildcards_ == 0 ? exact : older_wildcard(exact, source, tag);
  }
  // Returns true if a posted receive could take a message that also fits `key`.
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

// The places of one message: in four queues, or before that in the list of recent messages.
struct UnexpectedEntries {
  QueueEntry entries[4];  // of a recent message the first alone has its key, stamp and owner
  UnexpectedEntries* next;
  UnexpectedEntries* prev;
  bool is_recent;
};

class UnexpectedQueue {
 public:
  void push(UnexpectedEntries& message, Key key, std::uint64_t stamp, void* owner) noexcept;
  void erase(UnexpectedEntries& message) noexcept;
  // Returns the oldest message that fits; null if there is none. Recent messages are younger than all others.
  QueueEntry* find(Key key) noexcept {
    QueueEntry* const entry = queues_.first(key.word());
    return entry != nullptr ? entry : find_recent(key);
  }
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  void clear() noexcept {
    queues_.clear();
    oldest_ = newest_ = nullptr;
    size_ = 0;
  }

 private:
  QueueEntry* find_recent(Key key) noexcept;
  void remove_recent(UnexpectedEntries& message) noexcept;

  KeyedQueues queues_;
  UnexpectedEntries* oldest_ = nullptr;  // recent ones
  UnexpectedEntries* newest_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace shmemx::pt2pt
