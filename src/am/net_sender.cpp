#include "am/net_sender.hpp"

#include "am/dispatch.hpp"
#include "am/network_thread.hpp"

namespace shmemx::am {

void NetSender::open(Reserve* reserve, transport::Urgency least) {
  const auto resumes = [](const transport::Transport* network) { return network->capabilities().resumes; };
  any_resumes_ = std::any_of(paths_.networks().begin(), paths_.networks().end(), resumes);
  reserve_ = reserve;
  least_ = least;
}

bool NetSender::find_path(int pe) noexcept {
  if (!paths_.has_path(pe)) return false;
  peers_[pe].path = NetPath::open;
  return true;
}

bool NetSender::try_send(const OutgoingMessage& message, transport::Urgency urgency) noexcept {
  const bool is_long = message.payload.size() >= transport::kLongBytes;
  if (is_long && message.lifetime.until_flush) return try_send_lasting(message, urgency);
  if (!has_path(message.pe)) return false;
  NetPeer& peer = peers_[message.pe];
  // The first message behind a fence waits for all in front of it, and those that follow wait for it.
  const std::uint32_t fenced = fences.load(std::memory_order_relaxed);
  const HandlerTraits& traits = traits_of(message.handler);
  const bool early = is_long && traits.place_early && peer.fences == fenced;
  const bool counted = traits.counted && message.counting != Counting::uncounted;
  const bool awaited = counted && message.counting != Counting::covered;
  const auto flags = static_cast<std::uint8_t>((early ? transport::kPlacedEarly : 0) | (awaited ? 0 : kUncounted));
  const transport::Header fixed{message.handler, flags, static_cast<std::uint16_t>(message.header.size()),
                                acks_.executed(message.pe)};
  transport::Outgoing* const outgoing = message.lifetime.outgoing;
  const transport::Urgency given = std::max(urgency, least_);
  const bool is_kept = reserve_ != nullptr && paths_.needs_kept(message.pe);
  const transport::Sent sent =
      is_kept ? reserve_->send(message.pe, fixed, message.header, message.payload, outgoing, given)
              : paths_.network_to(message.pe).send(message.pe, fixed, message.header, message.payload, outgoing, given);
  if (sent == transport::Sent::no) return false;
  if (sent == transport::Sent::yes && outgoing != nullptr) outgoing->done = true;
  note_urgency(message.leave, urgency, given);
  peer.fences = fenced;
  acks_.note_acknowledged(message.pe);
  if (traits.role != Role::reply) peers_.note_sent(message.pe, peer, counted);
  return true;
}

// The network need not copy the payload to be done earlier: nobody waits for that alone.
bool NetSender::try_send_lasting(const OutgoingMessage& message, transport::Urgency urgency) noexcept {
  auto outgoing = std::make_unique<transport::Outgoing>();
  outgoing->is_patient = true;
  OutgoingMessage tracked = message;
  tracked.lifetime = until_done(*outgoing);
  if (!try_send(tracked, urgency)) return false;
  if (!outgoing->done) lasting_.push_back(std::move(outgoing));
  return true;
}

void NetSender::note_urgency(Leave leave, transport::Urgency wanted, transport::Urgency given) noexcept {
  if (given == transport::Urgency::gather) {
    is_holding_ = true;
    const bool is_delayed = wanted != given;
    if (is_delayed) [[unlikely]]  // the caller may not poll again
      network_thread.note_gathering();
    if (is_delayed || leave == Leave::burst) network_thread.call();
  } else if (any_resumes_) {  // the thread sets the network's timer before it sleeps again
    network_thread.call();
  }
}

void NetSender::flush_slow() noexcept {
  is_holding_ = false;
  for (transport::Transport* network : paths_.networks()) network->flush();
}

}  // namespace shmemx::am
