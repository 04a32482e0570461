// Matches messages and receives in the order of MPI: the posted queue, the unexpected queue, and one receive that is
// matched before the posted queue is searched. Owns the memory of unexpected messages, within a limit.
#pragma once

#include "pt2pt/keyed_queues.hpp"
#include "pt2pt/platform.hpp"
#include "pt2pt/request.hpp"

namespace shmemx::pt2pt {

// A message that arrived before its receive. Its data follow it in memory, or the offer of a rendezvous.
struct Unexpected {
  enum class Kind : std::uint8_t { eager, offer, own };
  UnexpectedEntries entries;
  std::int32_t source;
  std::int32_t tag;
  std::size_t bytes;     // of the message
  std::size_t received;  // bytes that have arrived so far, of an offer behind it
  std::size_t footprint;
  SendRequest* own_send;  // own: a send of this PE to itself, whose data are still in place
  Kind kind;
  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

class Matching {
 public:
  void start(Platform& platform, std::size_t unexpected_max) noexcept;
  // Forgets all receives and messages.
  void clear() noexcept;
  // Queues every receive, until clear(); is_bare() is false then.
  void close_bypass() noexcept;

  // Returns true if no message and no receive could be matched before another one.
  bool is_bare() const noexcept { return unexpected_.empty() && posted_.size() == 0 && bypass_ == nullptr; }

  // Returns the receive that a message of this source and tag belongs to; null if there is none.
  ReceiveRequest* receive_of(int source, int tag) const noexcept {
    if (bypass_ != nullptr && Key{bypass_->peer, bypass_->tag}.fits(source, tag)) return bypass_;
    QueueEntry* const entry = posted_.find(source, tag);
    return entry == nullptr ? nullptr : static_cast<ReceiveRequest*>(entry->owner);
  }
  // Removes and returns the receive that a message of this source and tag belongs to; null if there is none.
  ReceiveRequest* match(int source, int tag) noexcept {
    ReceiveRequest* const receive = receive_of(source, tag);
    if (receive == nullptr) return nullptr;
    if (receive == bypass_) {
      bypass_ = nullptr;
    } else {
      posted_.erase(receive->entry);
    }
    return receive;
  }
  // Makes the receive wait for a message.
  [[gnu::always_inline]] void post(ReceiveRequest& receive, Key key, bool blocking) noexcept {
    if (blocking && bypass_ == nullptr && !posted_.competes(key)) {
      receive.phase = Phase::bypass;
      bypass_ = &receive;
      return;
    }
    receive.phase = Phase::posted;
    posted_.push(receive.entry, key, ++stamp_, &receive);
  }
  // Completes a posted receive as cancelled. Returns false if it has been matched already.
  bool cancel(ReceiveRequest& receive) noexcept;

  // Returns the oldest unexpected message that fits; null if there is none.
  Unexpected* find(Key key) noexcept {
    if (unexpected_.empty()) return nullptr;
    QueueEntry* const entry = unexpected_.find(key);
    return entry == nullptr ? nullptr : static_cast<Unexpected*>(entry->owner);
  }
  // Adds an unexpected message with room for `extra` bytes. Returns null after Platform::exhausted.
  Unexpected* keep(Key key, std::size_t bytes, std::size_t extra, Unexpected::Kind kind) noexcept;
  void forget(Unexpected& message) noexcept;
  // Returns whether to keep data that their sender could send again: a part of the memory for unexpected messages.
  bool has_room_for_offered(std::size_t bytes) const noexcept {
    return unexpected_bytes_ + bytes <= unexpected_max_ / kOfferedShare;
  }

 private:
  static constexpr std::size_t kOfferedShare = 16;
  // Short messages take memory of one size, which is kept for later ones.
  static constexpr std::size_t kPooledBytes = 384;
  static constexpr std::size_t kPooledMessages = 1024;

  void* take_memory(std::size_t footprint) noexcept;

  Platform* platform_ = nullptr;
  ReceiveRequest* bypass_ = nullptr;
  PostedQueue posted_;
  UnexpectedQueue unexpected_;
  std::uint64_t stamp_ = 0;
  std::size_t unexpected_bytes_ = 0;
  std::size_t unexpected_max_ = 0;
  void* pool_ = nullptr;  // its first word is the next one
  std::size_t pooled_ = 0;
};

// The two contexts of matching: messages of the program, and those of the library's own collectives. Wildcards, probes
// and the shortest paths see the program's messages alone. Each context has the same limit of unexpected messages.
class MatchingContexts {
 public:
  void start(Platform& platform, std::size_t unexpected_max) noexcept {
    program_.start(platform, unexpected_max);
    internal_.start(platform, unexpected_max);
  }
  void clear() noexcept {
    program_.clear();
    internal_.clear();
  }
  Matching& of(std::int32_t tag) noexcept { return is_internal(tag) ? internal_ : program_; }
  Matching& program() noexcept { return program_; }
  const Matching& program() const noexcept { return program_; }

 private:
  Matching program_;
  Matching internal_;
};

}  // namespace shmemx::pt2pt
