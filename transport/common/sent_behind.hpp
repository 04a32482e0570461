// What a sender has sent behind long payloads that the receiver still fetches. It waits in the receiver's InboundQueue,
// and a network that hands over whatever arrives leaves the receiver no choice. So the sender stops at the bound that
// InboundQueue::is_full() has: no message to that PE is lost or refused there, and none has to say how much room is
// left.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/common/inbound_queue.hpp"

namespace shmemx::transport {

class SentBehind {
 public:
  // Counts a message: `bytes` are what arrives with it, of a payload that is fetched only its header.
  void count(std::size_t bytes) noexcept { sent_ += sizeof(InboundMessage) + bytes; }
  // The place of the next message in the stream: each long one keeps its own.
  std::uint64_t position() const noexcept { return sent_; }
  // Returns whether another message may be sent. `oldest`: the position of the first payload that is not known to have
  // been fetched.
  bool has_room(std::uint64_t oldest) const noexcept { return sent_ - oldest < InboundQueue::kMostWaiting; }

 private:
  std::uint64_t sent_ = 0;
};

}  // namespace shmemx::transport
