#include "am/kept_messages.hpp"

#include <utility>

namespace shmemx::am {
namespace {

// Replies are not acknowledged. Behind this many of them an empty message follows that is.
constexpr std::size_t kMostReplies = 32;
constexpr std::size_t kMostReplyBytes = std::size_t{256} << 10;

}  // namespace

transport::Sent KeptMessage::send(transport::Transport& network, int pe, transport::Urgency urgency) {
  lent.done = false;
  transport::Outgoing* const outgoing_payload = payload().size() >= transport::kLongBytes ? &lent : nullptr;
  const transport::Sent sent = network.send(pe, fixed, header(), payload(), outgoing_payload, urgency);
  is_lent = sent == transport::Sent::later;
  return sent;
}

bool KeptMessages::has_room(int pe) const noexcept {
  const Peer* const peer = peers_.find(pe);
  return peer == nullptr || (peer->messages.size() < kMostMessages && peer->bytes < kMostBytes);
}

std::unique_ptr<KeptMessage> KeptMessages::make(const transport::Header& fixed, Bytes header, Bytes payload,
                                                transport::Outgoing* outgoing) {
  auto message = std::make_unique<KeptMessage>();
  message->fixed = fixed;
  const bool is_in_place = outgoing != nullptr && payload.size() >= transport::kLongBytes;
  message->copy.reserve(header.size() + (is_in_place ? 0 : payload.size()));
  message->copy.assign(header.begin(), header.end());
  if (is_in_place) {
    message->in_place = payload;
    message->outgoing = outgoing;
  } else {
    message->copy.insert(message->copy.end(), payload.begin(), payload.end());
  }
  return message;
}

void KeptMessages::keep(int pe, std::unique_ptr<KeptMessage> message, nemesis::Number sent, bool is_reply) {
  Peer& peer = peers_.get(pe);
  message->after = is_reply ? sent + 1 : sent;
  peer.bytes += message->copy.size();
  peer.replies = is_reply ? peer.replies + 1 : 0;
  peer.reply_bytes = is_reply ? peer.reply_bytes + message->copy.size() : 0;
  // The sender of a payload in place waits.
  if (is_reply && message->outgoing != nullptr) peer.reply_bytes += kMostReplyBytes;
  peer.messages.push_back(std::move(message));
  peer.resent = peer.messages.size();
}

bool KeptMessages::needs_mark(int pe) const noexcept {
  const Peer* const peer = peers_.find(pe);
  return peer != nullptr && (peer->replies >= kMostReplies || peer->reply_bytes >= kMostReplyBytes);
}

void KeptMessages::drop_first(Peer& peer) noexcept {
  std::unique_ptr<KeptMessage> message = std::move(peer.messages.front());
  peer.messages.pop_front();
  ++peer.first;
  if (peer.resent != 0) --peer.resent;
  peer.bytes -= message->copy.size();
  if (message->is_lent && !message->lent.done) {
    lent_.push_back(std::move(message));
  } else if (message->outgoing != nullptr) {
    message->outgoing->done = true;
  }
}

void KeptMessages::drop_executed(int pe, nemesis::Number executed, nemesis::Number sent) noexcept {
  Peer* const peer = peers_.find(pe);
  if (peer == nullptr) return;
  const auto is_executed = [&](const KeptMessage& message) {
    return message.after != sent + 1 && sent - executed <= sent - message.after;
  };
  while (!peer->messages.empty() && is_executed(*peer->messages.front())) drop_first(*peer);
}

void KeptMessages::release_lent() noexcept {
  std::erase_if(lent_, [](const std::unique_ptr<KeptMessage>& message) {
    if (message->lent.done && message->outgoing != nullptr) message->outgoing->done = true;
    return message->lent.done;
  });
}

bool KeptMessages::rewind(int pe, std::uint64_t received) noexcept {
  Peer& peer = peers_.get(pe);
  if (received < peer.first || received > peer.first + peer.messages.size()) return false;
  while (peer.first < received) drop_first(peer);
  peer.resent = 0;
  return true;
}

}  // namespace shmemx::am
