#include "pt2pt/matching.hpp"

#include <algorithm>
#include <new>

namespace shmemx::pt2pt {

KeyedQueues::~KeyedQueues() {
  if (buckets_ != own_) delete[] buckets_;
}

void KeyedQueues::push(QueueNode& node) noexcept {
  node.next = nullptr;
  ++count_;
  QueueNode*& bucket = buckets_[bucket_of(node.key)];
  for (QueueNode* first = bucket; first != nullptr; first = first->chain) {
    if (first->key != node.key) continue;
    node.prev = first->last;
    first->last->next = &node;
    first->last = &node;
    return;
  }
  node.prev = nullptr;
  node.last = &node;
  node.chain = bucket;
  bucket = &node;
  if (++queues_ > std::size_t{1} << bits_) [[unlikely]]
    grow();
}

QueueNode** KeyedQueues::slot_of(QueueNode& first) noexcept {
  QueueNode** slot = &buckets_[bucket_of(first.key)];
  while (*slot != &first) slot = &(*slot)->chain;
  return slot;
}

void KeyedQueues::erase(QueueNode& node) noexcept {
  --count_;
  if (node.prev == nullptr) {
    QueueNode** const slot = slot_of(node);
    QueueNode* const heir = node.next;
    if (heir == nullptr) {
      *slot = node.chain;
      --queues_;
      return;
    }
    heir->prev = nullptr;
    heir->chain = node.chain;
    heir->last = node.last;
    *slot = heir;
    return;
  }
  node.prev->next = node.next;
  if (node.next != nullptr) {
    node.next->prev = node.prev;
    return;
  }
  front(node.key)->last = node.prev;  // the newest goes; count_ is not 0: there is a first
}

// Where memory is short, chains grow instead.
void KeyedQueues::grow() noexcept {
  const unsigned bits = bits_ + 2;
  auto* const wider = new (std::nothrow) QueueNode* [std::size_t{1} << bits] {};
  if (wider == nullptr) return;
  QueueNode** const old = buckets_;
  const std::size_t old_size = std::size_t{1} << bits_;
  buckets_ = wider;
  bits_ = bits;
  for (std::size_t i = 0; i < old_size; ++i) {
    for (QueueNode* first = old[i]; first != nullptr;) {
      QueueNode* const next = first->chain;
      QueueNode*& bucket = buckets_[bucket_of(first->key)];
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

QueueNode* PostedQueue::older_wildcard(QueueNode* best, std::int32_t source, std::int32_t tag) const noexcept {
  for (const Key key : {Key{source, kAny}, Key{kAny, tag}, Key{kAny, kAny}}) {
    QueueNode* const node = queues_.front(key.word());
    if (node != nullptr && (best == nullptr || node->stamp < best->stamp)) best = node;
  }
  return best;
}

void UnexpectedQueue::push(UnexpectedNodes& message, Key key, std::uint64_t stamp, void* owner) noexcept {
  const Key keys[4] = {key, {key.source, kAny}, {kAny, key.tag}, {kAny, kAny}};
  for (int i = 0; i < 4; ++i) {
    message.nodes[i].key = keys[i].word();
    message.nodes[i].stamp = stamp;
    message.nodes[i].owner = owner;
    queues_.push(message.nodes[i]);
  }
}

void UnexpectedQueue::erase(UnexpectedNodes& message) noexcept {
  for (QueueNode& node : message.nodes) queues_.erase(node);
}

}  // namespace shmemx::pt2pt
