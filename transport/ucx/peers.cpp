// Peers: endpoints, proofs, ends.
#include <span>
#include <utility>

#include "transport/common/descriptors.hpp"
#include "transport/ucx/ucx_transport.hpp"

namespace shmemx::ucx {

using transport::Keepalive;

// Returns what is kept of `pe`; makes it at the first contact.
Peer& UcxTransport::known(int pe) {
  if (Peer* const found = peers_.find(pe)) return *found;
  return peers_.add(pe, *this, pe, library_.worker(), setup_, events_);
}

// Returns the source of a message and fills in its number, or returns null if the message does not prove its source.
// Nothing is kept of such a sender.
Peer* UcxTransport::authenticate(const Envelope& envelope, const UcpMessage& message, std::uint64_t& number) {
  if (envelope.source >= peers_.n_pes()) return nullptr;
  Peer* const peer = peers_.find(static_cast<int>(envelope.source));
  if (peer == nullptr) return nullptr;
  number = transport::whole_number(envelope.number,
                                   is_control(message.kind) ? peer->session.control_in + 1 : peer->inbox.expected());
  return peer->session.in.is_genuine({message.kind, number, message.bytes}, envelope.proof) ? peer : nullptr;
}

Envelope UcxTransport::envelope_of(Peer& peer, unsigned kind, std::uint64_t number, std::size_t bytes) const {
  return {peer.session.out.proof_of({kind, number, bytes}), static_cast<std::uint32_t>(setup_.me),
          static_cast<std::uint32_t>(number)};
}

// Returns `pe` with an endpoint, or null if nothing can be sent there any more.
Peer* UcxTransport::connected_peer(int pe) {
  if (pe < 0 || static_cast<std::size_t>(pe) >= peers_.n_pes()) return nullptr;
  Peer& peer = known(pe);
  if (peer.is_gone() || (peer.endpoint == nullptr && !connect(peer))) return nullptr;
  return &peer;
}

// Makes the endpoint. UCX's own handling of failures would exclude the fastest protocol for long payloads on tcp. UCX
// reports broken connections without it, too. But only with it an endpoint can be closed at once, as abandon() does.
bool UcxTransport::connect(Peer& peer) {
  const Bytes address = addresses_->address_of(peer.pe());
  if (address.size() < 2) {
    lose(peer, "it has no UCX");
    return false;
  }
  if (!library_.is_native()) {
    if (std::string why = transport::why_no_more_connections(name(), setup_.has_reserve); !why.empty()) {
      lose(peer, std::move(why));
      return false;
    }
  }
  const ucs_status_t status =
      make_endpoint(library_.worker(), address, {&UcxTransport::endpoint_failed, &peer}, peer.endpoint);
  if (status == UCS_OK) {
    peer.target.endpoint = peer.endpoint;
    const transport::Hello& hello = peer.session.out.hello(setup_, transport::Network::ucx, peer.pe());
    post_handshake(peer, kHello, std::as_bytes(std::span(&hello, 1)));
    return true;
  }
  peer.endpoint = nullptr;
  lose(peer, "UCX makes no endpoint: " + status_text(status));
  return false;
}

// `address`: as the other side has published it.
ucs_status_t UcxTransport::make_endpoint(ucp_worker_h worker, Bytes address, const ucp_err_handler_t& on_failure,
                                         ucp_ep_h& endpoint) const {
  const bool both_native = library_.is_native() && address[0] == std::byte{'r'};
  ucp_ep_params_t params{};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data() + 1);
  const bool may_break = both_native || setup_.has_reserve;
  params.err_mode = may_break ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
  params.err_handler = on_failure;
  return ::ucp_ep_create(worker, &params, &endpoint);
}

void UcxTransport::endpoint_failed(void* argument, ucp_ep_h, ucs_status_t status) {
  Peer& peer = *static_cast<Peer*>(argument);
  peer.transport.lose(peer, "UCX says: " + status_text(status));
}

// Marks the peer as lost. poll() reports it, since only poll() may call the sink.
void UcxTransport::lose(Peer& peer, std::string cause) {
  if (peer.is_gone() || is_closing_) return;
  peer.note_lost();
  peer.end.cause = std::move(cause);
  peer.inbox.shut();
  lists_.lost.push_back(&peer);
  if (setup_.has_reserve) return;  // payloads are in use until abandon() has ended
  for (LongSend* send : peer.sending.long_sends) {
    if (send->outgoing != nullptr) std::exchange(send->outgoing, nullptr)->done = true;
  }
}

// Closes the endpoint at once: UCX ends all that is under way there.
bool UcxTransport::abandon(int pe) noexcept {
  Peer& peer = known(pe);
  if (!std::exchange(peer.end.is_abandoned, true)) {
    peer.note_lost();
    peer.inbox.release();
    rma_.drop_keys(peer.target);
    if (peer.endpoint != nullptr) {
      ucp_request_param_t param{};
      param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
      param.flags = UCP_EP_CLOSE_FLAG_FORCE;
      void* const request = ::ucp_ep_close_nbx(std::exchange(peer.endpoint, nullptr), &param);
      if (UCS_PTR_IS_PTR(request)) peer.end.request = request;
    }
  }
  if (peer.end.request != nullptr && ::ucp_request_check_status(peer.end.request) != UCS_INPROGRESS)
    ::ucp_request_free(std::exchange(peer.end.request, nullptr));
  return peer.end.request == nullptr && peer.sending.in_flight == 0 && peer.target.transfers == 0 &&
         !peer.inbox.is_fetching();
}

void UcxTransport::report_lost() {
  for (Peer* peer : std::exchange(lists_.lost, {})) {
    setup_.sink->lost(peer->pe(), peer->end.cause);
    events_.active = true;
  }
}

// Ends a round of the keepalive for all peers that are watched.
void UcxTransport::end_keepalive_round() {
  pace_.busy_polls = 0;
  timer_.clear();
  for (Peer* peer : peers_.list()) {
    if (!is_watched(*peer)) continue;
    const Keepalive::Action action = Keepalive::end_round(peer->keepalive);
    if (action == Keepalive::Action::lose)
      lose(*peer, transport::silence_text(transport::silence_before_reserve(setup_)));
    if (action == Keepalive::Action::ping) signal(*peer, kPing);
  }
}

}  // namespace shmemx::ucx
