// The sender's side of eager messages, and messages of a PE to itself.
#include <algorithm>

#include "pt2pt/eager/eager.hpp"

namespace shmemx::pt2pt {

using am::bytes_of;

void Eager::start(Platform& platform, const Settings& settings, MatchingContexts& matching, Pieces& pieces) noexcept {
  platform_ = &platform;
  settings_ = &settings;
  matching_ = &matching;
  pieces_ = &pieces;
  arrivals_.open(static_cast<std::size_t>(settings.n_pes));
}

void Eager::clear() noexcept { arrivals_.open(arrivals_.size()); }

// The request stays the first for its peer until all of it has been sent, so its parts need no name.
Step Eager::push(Request& send) noexcept {
  const std::size_t most =
      send.goal > settings_->payload_bytes - sizeof(EagerHeader) && platform_->is_internode(send.peer)
          ? sizeof(EagerHeader) + kInternodeEagerBytes
          : settings_->payload_bytes;
  if (send.cursor.passed() == 0) {
    const EagerHeader header{send.tag, static_cast<std::uint32_t>(send.goal)};
    const std::size_t bytes = std::min(send.goal, most - sizeof header);
    const am::SendOptions options{.leave = send.in_burst ? am::Leave::burst : am::Leave::now};
    if (!pieces_->send(send, am::kMessageEager, bytes_of(header), bytes, options)) return Step::blocked;
  }
  while (send.cursor.left() != 0) {
    const DataHeader header{kEagerMessage, send.cursor.passed()};
    const std::size_t bytes = std::min(send.cursor.left(), most - sizeof header);
    if (!pieces_->send(send, am::kMessageData, bytes_of(header), bytes)) return Step::blocked;
  }
  return Step::sent;
}

void Eager::send_to_self(SendRequest& send, bool copied) noexcept {
  if (ReceiveRequest* const receive = matching_->of(send.tag).match(settings_->me, send.tag))
    return take_own(send, *receive);
  const Key key{settings_->me, send.tag};
  Unexpected* const message = matching_->of(send.tag).keep(key, send.goal, copied ? send.goal : 0,
                                                           copied ? Unexpected::Kind::eager : Unexpected::Kind::own);
  if (message == nullptr) return;
  if (copied) {
    send.cursor.gather(message->data(), send.goal);
    message->received = send.goal;
    return complete(send);
  }
  message->own_send = &send;
  send.phase = Phase::waiting;
}

void Eager::take_own(SendRequest& send, ReceiveRequest& receive) noexcept {
  const std::size_t bytes = std::min(send.goal, receive.cursor.shape().bytes);
  while (receive.cursor.passed() != bytes) {
    const Place from = send.cursor.next(bytes - receive.cursor.passed());
    receive.cursor.scatter(from.at, from.bytes);
    send.cursor.advance(from.bytes);
  }
  receive.result = {settings_->me, send.tag, bytes, bytes != send.goal, false};
  complete(receive);
  complete(send);
}

}  // namespace shmemx::pt2pt
