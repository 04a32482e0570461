// Networks that fail: what is kept is sent once more over the next one, and the end of a job waits for it.
#include <time.h>

#include <algorithm>
#include <utility>

#include "am/net_channel.hpp"
#include "base/clock.hpp"

namespace shmemx::am {

// Another network may have to send the message once more.
transport::Sent NetChannel::send_kept(int pe, const NetSend& how, transport::Header fixed, Bytes header,
                                      Bytes payload) noexcept {
  const bool is_reply = traits_of(how.id).role == Role::reply;
  if (how.id != kMark && !kept_.has_room(pe)) return transport::Sent::no;
  std::unique_ptr<KeptMessage> message = KeptMessages::make(fixed, header, payload, how.outgoing);
  const bool is_in_place = message->outgoing != nullptr;
  // The sender of a payload in place waits for the acknowledgement.
  if (is_in_place || how.id == kMark) message->fixed.flags &= static_cast<std::uint8_t>(~kUncounted);
  const transport::Sent sent = message->send(network_of(pe), pe, std::max(how.urgency, least_));
  if (sent == transport::Sent::no) return sent;
  kept_.keep(pe, std::move(message), peer_of(pe).sent + (is_reply ? 0 : 1), is_reply);
  if (is_reply && kept_.needs_mark(pe)) unmarked_.push_back(pe);
  return is_in_place ? transport::Sent::later : transport::Sent::yes;
}

bool NetChannel::try_send_mark(int pe) noexcept {
  return !kept_.needs_mark(pe) || send(pe, {.id = kMark, .options = kNotCounted}, {}, {}) != transport::Sent::no;
}

// Sends once more what `pe` has not had.
bool NetChannel::resend(int pe, std::uint64_t received, bool is_first) noexcept {
  if (is_first) {
    if (!kept_.rewind(pe, received)) {
      lose(pe, "it lacks messages that are not kept any more, or were never sent");
      return false;
    }
    acks_.note_lost(pe);
  }
  return kept_.resend(pe, [&](KeptMessage& message) {
    message.fixed.ack = acks_.executed(pe);
    return message.send(network_of(pe), pe, transport::Urgency::now) != transport::Sent::no;
  });
}

void NetChannel::keep_going() noexcept {
  probe_.progress();
  if (!probe_.keeps_any()) return;
  probe_.resume([this](int pe, std::uint64_t received, bool is_first) { return resend(pe, received, is_first); });
  const std::vector<std::int32_t> unmarked = std::exchange(unmarked_, {});
  for (const std::int32_t pe : unmarked) {
    if (!try_send_mark(pe)) unmarked_.push_back(pe);
  }
  kept_.release_lent();
}

// A PE that has passed the last barrier needs nothing of the others. They may need what it has sent before. One that is
// gone, and whose last message was lost, is noticed by a message to it.
void NetChannel::finish(std::uint32_t patience_ms) noexcept {
  constexpr timespec kPause{0, 50'000};
  constexpr std::uint32_t kBusyPolls = 1000;
  constexpr std::uint64_t kMarkNs = 500'000'000;
  is_finishing_ = true;
  const auto is_unfinished = [this](int pe) {
    const NetPeer& peer = peers_[pe];
    return !peer.has_left && (peer.executed != peer.sent || kept_.holds(pe));
  };
  const std::uint64_t deadline = now_ns() + std::uint64_t{patience_ms} * 1'000'000U;
  std::uint64_t next_mark = now_ns() + kMarkNs;
  std::uint32_t polls = 0;
  while (std::any_of(contacts_.begin(), contacts_.end(), is_unfinished) && now_ns() < deadline) {
    if (!poll(-1, ++polls) && polls > kBusyPolls) ::nanosleep(&kPause, nullptr);
    if (now_ns() < next_mark) continue;
    next_mark = now_ns() + kMarkNs;
    for (const int pe : contacts_) {
      if (is_unfinished(pe)) static_cast<void>(send(pe, {.id = kMark}, {}, {}));
    }
  }
}

}  // namespace shmemx::am
