#include "pt2pt/keyed_queues.hpp"

#include <algorithm>
#include <new>

namespace shmemx::pt2pt {

KeyedQueues::~KeyedQueues() {
  if (buckets_ != own_) delete[] buckets_;
}

void KeyedQueues::push(QueueEntry& entry) noexcept {
  entry.next = nullptr;
  ++count_;
  QueueEntry*& bucket = buckets_[bucket_of(entry.key)];
  for (QueueEntry* first = bucket; first != nullptr; first = first->chain) {
    if (first->key != entry.key) continue;
    entry.prev = first->last;
    first->last->next = &entry;
    first->last = &entry;
    return;
  }
  entry.prev = nullptr;
  entry.last = &entry;
  entry.chain = bucket;
  bucket = &entry;
  if (++queues_ > std::size_t{1} << bits_) [[unlikely]]
    grow();
}

QueueEntry** KeyedQueues::slot_of(QueueEntry& first) noexcept {
  QueueEntry** slot = &buckets_[bucket_of(first.key)];
  while (*slot != &first) slot = &(*slot)->chain;
  return slot;
}

void KeyedQueues::erase(QueueEntry& entry) noexcept {
  --count_;
  if (entry.prev == nullptr) {
    QueueEntry** const slot = slot_of(entry);
    QueueEntry* const heir = entry.next;
    if (heir == nullptr) {
      *slot = entry.chain;
      --queues_;
      return;
    }
    heir->prev = nullptr;
    heir->chain = entry.chain;
    heir->last = entry.last;
    *slot = heir;
    return;
  }
  entry.prev->next = entry.next;
  if (entry.next != nullptr) {
    entry.next->prev = entry.prev;
    return;
  }
  first(entry.key)->last = entry.prev;  // the newest is removed; count_ is not 0, so the queue has a first entry
}

// Without memory for a wider table the chains grow instead.
void KeyedQueues::grow() noexcept {
  const unsigned bits = bits_ + 2;
  auto* const wider = new (std::nothrow) QueueEntry* [std::size_t{1} << bits] {};
  if (wider == nullptr) return;
  QueueEntry** const old = buckets_;
  const std::size_t old_size = std::size_t{1} << bits_;
  buckets_ = wider;
  bits_ = bits;
  for (std::size_t i = 0; i < old_size; ++i) {
    for (QueueEntry* first = old[i]; first != nullptr;) {
      QueueEntry* const next = first->chain;
      QueueEntry*& bucket = buckets_[bucket_of(first->key)];
      first->chain = bucket;
      bucket = first;
      first = next;
    }
  }
  if (old != own_) delete[] old;
}

void KeyedQueues::clear() noexcept {
  std::fill_n(buckets_, std::size_t{1} << bits_, nullptr);
  count_ = queues_ = 0;
}

QueueEntry* PostedQueue::older_wildcard(QueueEntry* best, std::int32_t source, std::int32_t tag) const noexcept {
  for (const Key key : {Key{source, kAny}, Key{kAny, tag}, Key{kAny, kAny}}) {
    QueueEntry* const entry = queues_.first(key.word());
    if (entry != nullptr && (best == nullptr || entry->stamp < best->stamp)) best = entry;
  }
  return best;
}

void UnexpectedQueue::push(UnexpectedEntries& message, Key key, std::uint64_t stamp, void* owner) noexcept {
  QueueEntry& entry = message.entries[0];
  entry.key = key.word();
  entry.stamp = stamp;
  entry.owner = owner;
  message.next = nullptr;
  message.prev = newest_;
  message.is_recent = true;
  (newest_ == nullptr ? oldest_ : newest_->next) = &message;
  newest_ = &message;
  ++size_;
}

void UnexpectedQueue::remove_recent(UnexpectedEntries& message) noexcept {
  (message.prev == nullptr ? oldest_ : message.prev->next) = message.next;
  (message.next == nullptr ? newest_ : message.next->prev) = message.prev;
  message.is_recent = false;
}

// Each message is passed over once at most.
QueueEntry* UnexpectedQueue::find_recent(Key wanted) noexcept {
  while (oldest_ != nullptr) {
    UnexpectedEntries& message = *oldest_;
    const QueueEntry& own = message.entries[0];
    const Key key = Key::of(own.key);
    if (wanted.fits(key.source, key.tag)) return &message.entries[0];
    remove_recent(message);
    const Key keys[4] = {key, {key.source, kAny}, {kAny, key.tag}, {kAny, kAny}};
    for (int i = 0; i < 4; ++i) {
      message.entries[i].key = keys[i].word();
      message.entries[i].stamp = own.stamp;
      message.entries[i].owner = own.owner;
      queues_.push(message.entries[i]);
    }
  }
  return nullptr;
}

void UnexpectedQueue::erase(UnexpectedEntries& message) noexcept {
  --size_;
  if (message.is_recent) return remove_recent(message);
  for (QueueEntry& entry : message.entries) queues_.erase(entry);
}

}  // namespace shmemx::pt2pt
