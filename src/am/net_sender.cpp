#include "am/net_sender.hpp"

#include "am/dispatch.hpp"
#include "am/network_thread.hpp"

namespace shmemx::am {

void NetSender::open(const Setup& setup) {
  const auto resumes = [](const transport::Transport* network) { return network->capabilities().resumes; };
  any_resumes_ = std::any_of(paths_.networks().begin(), paths_.networks().end(), resumes);
  bursts_.open(setup.n_pes, setup.burst_ns);
  reserve_ = setup.reserve;
  least_ = setup.least;
}

bool NetSender::find_path(int pe) noexcept {
  if (!paths_.has_path(pe)) return false;
  peers_[pe].path = NetPath::open;
  return true;
}

transport::Sent NetSender::send(int pe, const NetSend& how, Bytes header, Bytes payload) noexcept {
  if (!has_path(pe)) return transport::Sent::no;
  NetPeer& peer = peers_[pe];
  // The first message behind a fence waits for all in front of it, and those that follow wait for it.
  const std::uint32_t fenced = fences.load(std::memory_order_relaxed);
  const HandlerTraits& traits = traits_of(how.id);
  const bool early = payload.size() >= transport::kLongBytes && traits.place_early && peer.fences == fenced;
  const bool counted = traits.counted && how.options.counted;
  const bool awaited = counted && !how.more;
  const auto flags = static_cast<std::uint8_t>((early ? transport::kPlacedEarly : 0) | (awaited ? 0 : kUncounted));
  const transport::Header fixed{how.id, flags, static_cast<std::uint16_t>(header.size()), acks_.executed(pe)};
  const transport::Sent sent = hand_over(pe, how, fixed, header, payload);
  if (sent == transport::Sent::no) return sent;
  peer.fences = fenced;
  acks_.note_acknowledged(pe);
  if (traits.role != Role::reply) peers_.note_sent(pe, peer, counted);
  return sent;
}

transport::Sent NetSender::hand_over(int pe, const NetSend& how, const transport::Header& fixed, Bytes header,
                                     Bytes payload) noexcept {
  const transport::Urgency urgency = std::max(how.urgency, least_);
  const bool is_kept = reserve_ != nullptr && paths_.needs_kept(pe);
  const transport::Sent sent = is_kept ? reserve_->send(pe, fixed, header, payload, how.outgoing, urgency)
                                       : paths_.network_to(pe).send(pe, fixed, header, payload, how.outgoing, urgency);
  if (sent != transport::Sent::no) note_urgency(how, urgency);
  return sent;
}

void NetSender::note_urgency(const NetSend& how, transport::Urgency urgency) noexcept {
  if (urgency == transport::Urgency::gather) {
    is_holding_ = true;
    const bool is_delayed = how.urgency != urgency;
    if (is_delayed) [[unlikely]]  // the caller may not poll again
      network_thread.note_gathering();
    if (is_delayed || how.options.in_burst) network_thread.call();
  } else if (any_resumes_) {  // the thread sets the network's timer before it sleeps again
    network_thread.call();
  }
}

void NetSender::flush_slow() noexcept {
  is_holding_ = false;
  bursts_.end();
  for (transport::Transport* network : paths_.networks()) network->flush();
}

}  // namespace shmemx::am
