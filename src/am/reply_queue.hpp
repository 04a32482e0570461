// Messages that handlers could not send because there was no room. Each waits here and leaves on a later poll, behind
// the earlier ones to the same PE. A PE without room holds up no other one.
//
// In a handler, where nothing may wait:
//
//   endpoint.reply({.pe = message.source, .handler = kReply, .header = bytes_of(header), .payload = data});
//
// The message leaves at once if there is room and nothing else waits for that PE; else a copy of it waits. Past the
// bound (SHMEMX_PENDING_MAX) reply() ends the job. A handler that may run again uses try_reply() instead, which returns
// false there, and then returns Verdict::later: so the request keeps its cell, and its sender stops.
//
// Replies to one PE keep their order. A message that is sent directly meanwhile may overtake those that wait.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <vector>

#include "am/outgoing_message.hpp"

namespace shmemx::am {

// Under the endpoint's lock.
class ReplyQueue {
 public:
  explicit ReplyQueue(std::size_t limit_bytes) noexcept : limit_bytes_(limit_bytes) {}

  bool is_empty() const noexcept { return peers_.empty(); }
  // Bytes that wait, with what the queue needs to hold them.
  std::size_t bytes() const noexcept { return bytes_; }
  std::size_t limit_bytes() const noexcept { return limit_bytes_; }
  // Returns whether a message with this id waits.
  bool holds(HandlerId id) const noexcept;

  // Sends the message by try_send(reply), or keeps it if that returns false or others wait for the same PE. Returns
  // false, and does nothing, if keeping it would exceed the bound.
  template <class TrySend>
  [[nodiscard]] bool send(const OutgoingMessage& reply, TrySend&& try_send) {
    if ((is_empty() || !peers_.contains(reply.pe)) && try_send(reply)) return true;
    return keep(reply);
  }

  // Sends what there is room for now. Returns whether anything has left.
  template <class TrySend>
  bool send_kept(TrySend&& try_send) {
    bool any = false;
    for (auto peer = peers_.begin(); peer != peers_.end();) {
      std::deque<Kept>& list = peer->second;
      while (!list.empty() && try_send(reply_of(list.front()))) {
        bytes_ -= bytes_of_kept(list.front());
        list.pop_front();
        any = true;
      }
      peer = list.empty() ? peers_.erase(peer) : std::next(peer);
    }
    return any;
  }

 private:
  struct Kept {
    OutgoingMessage reply;        // of header and payload, only the lengths and a payload that stays are valid
    std::vector<std::byte> copy;  // the header, and the payload unless it stays
  };

  bool keep(const OutgoingMessage& reply);
  static OutgoingMessage reply_of(const Kept& kept) noexcept;
  static std::size_t bytes_of_kept(const Kept& kept) noexcept { return sizeof(Kept) + kept.copy.size(); }

  std::map<int, std::deque<Kept>> peers_;  // only those for which something waits
  std::size_t bytes_ = 0;
  std::size_t limit_bytes_;
};

}  // namespace shmemx::am
