#include "pt2pt/matching.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/recycled_memory.hpp"

namespace shmemx::pt2pt {

namespace {
alignas(ReceiveRequest) std::byte memory_of_nobody[sizeof(ReceiveRequest)];
}  // namespace

void Matching::start(Platform& platform, std::size_t unexpected_max) noexcept {
  platform_ = &platform;
  unexpected_max_ = unexpected_max;
}

void Matching::clear() noexcept {
  while (Unexpected* const message = find({kAny, kAny})) forget(*message);
  posted_.clear();
  bypass_ = nullptr;
  for (; pool_ != nullptr; --pooled_) {
    void* const memory = pool_;
    std::memcpy(&pool_, memory, sizeof pool_);
    std::free(memory);
  }
}

// A receive that no message fits takes the place of the one that is matched first.
void Matching::close_bypass() noexcept {
  constexpr std::int32_t kNobody = -1000;
  bypass_ = new (memory_of_nobody) ReceiveRequest;
  bypass_->peer = bypass_->tag = kNobody;
}

void* Matching::take_memory(std::size_t footprint) noexcept {
  if (footprint >= kLeastRecycledBytes) return try_take_memory(footprint).release();
  if (footprint > kPooledBytes) return std::malloc(footprint);
  if (pool_ == nullptr) return std::malloc(kPooledBytes);
  void* const memory = pool_;
  std::memcpy(&pool_, memory, sizeof pool_);
  --pooled_;
  return memory;
}

bool Matching::cancel(ReceiveRequest& receive) noexcept {
  if (receive.phase != Phase::posted) return false;
  posted_.erase(receive.entry);
  receive.result = {kAny, kAny, 0, false, true};
  complete(receive);
  return true;
}

Unexpected* Matching::keep(Key key, std::size_t bytes, std::size_t extra, Unexpected::Kind kind) noexcept {
  const std::size_t footprint = sizeof(Unexpected) + extra;
  const bool allowed = unexpected_bytes_ + footprint <= unexpected_max_;
  void* const memory = allowed ? take_memory(footprint) : nullptr;
  if (memory == nullptr) {
    platform_->exhausted("memory for messages that no receive has asked for",
                         allowed ? footprint : unexpected_bytes_ + footprint, unexpected_max_);
    return nullptr;
  }
  auto* const message = new (memory) Unexpected;
  message->source = key.source;
  message->tag = key.tag;
  message->bytes = bytes;
  message->received = 0;
  message->footprint = footprint;
  message->own_send = nullptr;
  message->kind = kind;
  unexpected_.push(message->entries, key, ++stamp_, message);
  unexpected_bytes_ += footprint;
  return message;
}

void Matching::forget(Unexpected& message) noexcept {
  unexpected_.erase(message.entries);
  unexpected_bytes_ -= message.footprint;
  if (message.footprint >= kLeastRecycledBytes) return ReturnMemory()(reinterpret_cast<std::byte*>(&message));
  if (message.footprint > kPooledBytes || pooled_ == kPooledMessages) return std::free(&message);
  void* const memory = &message;
  std::memcpy(memory, &pool_, sizeof pool_);
  pool_ = memory;
  ++pooled_;
}

}  // namespace shmemx::pt2pt
