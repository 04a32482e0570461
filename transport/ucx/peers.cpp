// Who is there: endpoints, proofs, ends.
#include <utility>

#include "transport/ucx/proof.hpp"
#include "transport/ucx/ucx_transport.hpp"

namespace shmemx::ucx {

Peer& UcxTransport::known(int pe) {
  std::unique_ptr<Peer>& slot = peers_[static_cast<std::size_t>(pe)];
  if (slot == nullptr) {
    slot = std::make_unique<Peer>(*this, pe, library_.worker(), *setup_.sink, events_);
    slot->envelope = {proof_of(setup_.secret, setup_.me, pe), static_cast<std::uint32_t>(setup_.me), 0};
    slot->proof = proof_of(setup_.secret, pe, setup_.me);
    contacts_.push_back(slot.get());
  }
  return *slot;
}

// Null for a stranger, for whom nothing is kept.
Peer* UcxTransport::prove(const Envelope& envelope) {
  if (envelope.source >= peers_.size()) return nullptr;
  const auto source = static_cast<int>(envelope.source);
  const Peer* peer = peers_[envelope.source].get();
  const std::uint64_t expected = peer != nullptr ? peer->proof : proof_of(setup_.secret, source, setup_.me);
  return envelope.proof == expected ? &known(source) : nullptr;
}

// Null when nothing can be sent there any more.
Peer* UcxTransport::reach(int pe) {
  if (pe < 0 || static_cast<std::size_t>(pe) >= peers_.size()) return nullptr;
  Peer& peer = known(pe);
  if (peer.is_gone() || (peer.endpoint == nullptr && !connect(peer))) return nullptr;
  return &peer;
}

// UCX's handling of failures leaves out the best way of long payloads on tcp; without it, it tells of ends all the
// same.
bool UcxTransport::connect(Peer& peer) {
  const Bytes address = addresses_->address_of(peer.pe);
  if (address.size() < 2) {
    lose(peer, "it has no UCX");
    return false;
  }
  const bool both_native = is_native_ && address[0] == std::byte{'r'};
  ucp_ep_params_t params{};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data() + 1);
  params.err_mode = both_native ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
  params.err_handler.cb = &UcxTransport::endpoint_failed;
  params.err_handler.arg = &peer;
  const ucs_status_t status = ::ucp_ep_create(library_.worker(), &params, &peer.endpoint);
  if (status == UCS_OK) return true;
  peer.endpoint = nullptr;
  lose(peer, "UCX makes no endpoint: " + status_text(status));
  return false;
}

void UcxTransport::endpoint_failed(void* argument, ucp_ep_h, ucs_status_t status) {
  Peer& peer = *static_cast<Peer*>(argument);
  peer.transport.lose(peer, "UCX says: " + status_text(status));
}

// Reported by poll(), since it is noticed anywhere.
void UcxTransport::lose(Peer& peer, std::string cause) {
  if (peer.is_gone() || is_closing_) return;
  peer.is_lost = true;
  peer.cause = std::move(cause);
  peer.inbox.shut();
  lost_.push_back(&peer);
  for (LongFlight* flight : peer.payloads) {
    if (flight->outgoing != nullptr) std::exchange(flight->outgoing, nullptr)->done = true;
  }
}

void UcxTransport::report_lost() {
  for (Peer* peer : std::exchange(lost_, {})) {
    setup_.sink->lost(peer->pe, peer->cause);
    events_.active = true;
  }
}

// A round is over. Those from which nothing came in it are one further.
void UcxTransport::beat() {
  busy_polls_ = 0;
  for (Peer* peer : contacts_) {
    if (!is_watched(*peer)) continue;
    ++peer->rounds;
    if (peer->rounds >= kRoundsUntilLost) {
      lose(*peer, transport::silence_text(setup_.silence_ms));
    } else if (peer->rounds == kRoundsUntilPing) {
      signal(*peer, kPing);
    }
  }
}

}  // namespace shmemx::ucx
