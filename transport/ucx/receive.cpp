// Receiving: from UCX to the inbox of the source.
#include <cstring>
#include <span>
#include <utility>

#include "transport/ucx/ucx_transport.hpp"

namespace shmemx::ucx {
namespace {

// Reads the envelope: it lies in the header of a long message, and in the data of all others.
bool read_envelope(const UcpMessage& message, Envelope& envelope) noexcept {
  if (message.kind == kLong) {
    if (message.header.size() < sizeof envelope) return false;
    std::memcpy(&envelope, message.header.data(), sizeof envelope);
    return true;
  }
  if (message.is_rendezvous || message.bytes < sizeof envelope) return false;
  std::memcpy(&envelope, message.data, sizeof envelope);
  return true;
}

}  // namespace

template <Kind kind>
ucs_status_t UcxTransport::received(void* self, const void* header, std::size_t header_bytes, void* data,
                                    std::size_t bytes, const ucp_am_recv_param_t* param) {
  const UcpMessage message{kind,
                           {static_cast<const std::byte*>(header), header_bytes},
                           data,
                           bytes,
                           (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0};
  return static_cast<UcxTransport*>(self)->take(message);
}

Status UcxTransport::listen() {
  constexpr ucp_am_recv_callback_t kCallbacks[] = {&received<kRecords>,  &received<kLong>, &received<kShutdown>,
                                                   &received<kPing>,     &received<kPong>, &received<kHello>,
                                                   &received<kChallenge>};
  unsigned id = kRecords;
  for (const ucp_am_recv_callback_t callback : kCallbacks) {
    ucp_am_handler_param_t param{};
    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    param.id = id++;
    param.cb = callback;
    param.arg = this;
    if (const ucs_status_t status = ::ucp_worker_set_am_recv_handler(library_.worker(), &param); status != UCS_OK) {
      return Error{Errc::unsupported, 0, "UCX takes no handler for messages: " + status_text(status)};
    }
  }
  return {};
}

ucs_status_t UcxTransport::take(const UcpMessage& message) {
  if (message.kind == kHello || message.kind == kChallenge) {
    if (!message.is_rendezvous && take_handshake(message)) events_.active = true;
    return UCS_OK;
  }
  Envelope envelope;
  std::uint64_t number = 0;
  Peer* peer = read_envelope(message, envelope) ? authenticate(envelope, message, number) : nullptr;
  if (peer == nullptr || peer->end.is_lost || (is_closing_ && message.kind != kShutdown)) return UCS_OK;
  if (is_control(message.kind)) {
    if (number <= peer->session.control_in) return UCS_OK;  // somebody has recorded it
    peer->session.control_in = number;
  }
  peer->keepalive.heard();
  if (peer->endpoint == nullptr && !std::exchange(peer->is_new, true)) lists_.fresh.push_back(peer);
  if (message.kind == kPong) return UCS_OK;
  if (message.kind == kPing) {
    lists_.pinged_by.push_back(peer);
    return UCS_OK;
  }
  if (message.kind == kShutdown) peer->note_left();  // at once: the connection may end before the last payload is here
  return peer->inbox.take(number, message);
}

// Takes a hello or a challenge. Returns false, and keeps nothing, if it is not genuine or not the first one.
bool UcxTransport::take_handshake(const UcpMessage& message) {
  if (message.kind == kHello) {
    transport::Hello hello;
    transport::Challenge challenge;
    if (message.bytes != sizeof hello) return false;
    std::memcpy(&hello, message.data, sizeof hello);
    if (hello.from >= peers_.n_pes() || !transport::is_genuine(setup_, hello)) return false;
    Peer& peer = known(static_cast<int>(hello.from));
    if (peer.end.is_lost || !peer.session.in.answer(setup_, transport::Network::ucx, hello, challenge)) return false;
    peer.keepalive.heard();
    peer.session.challenge = challenge;
    lists_.challenged.push_back(&peer);
    return true;
  }
  ChallengeMessage answer;
  if (message.bytes != sizeof answer) return false;
  std::memcpy(&answer, message.data, sizeof answer);
  Peer* const peer = answer.source < peers_.n_pes() ? peers_.find(static_cast<int>(answer.source)) : nullptr;
  if (peer == nullptr || !peer->session.out.accept(setup_, answer.challenge)) return false;
  peer->keepalive.heard();
  return true;
}

void UcxTransport::send_challenges() {
  for (const Peer* peer : std::exchange(lists_.challenged, {})) {
    const ChallengeMessage answer{static_cast<std::uint64_t>(setup_.me), peer->session.challenge};
    if (Peer* connected = connected_peer(peer->pe()))
      post_handshake(*connected, kChallenge, std::as_bytes(std::span(&answer, 1)));
  }
}

// Makes endpoints to PEs that have written first: then UCX reports their end, and this PE can send its shutdown
// message.
void UcxTransport::connect_new() {
  for (Peer* peer : std::exchange(lists_.fresh, {})) {
    if (peer->endpoint == nullptr && !peer->is_gone()) connect(*peer);
  }
}

void UcxTransport::reply_to_pings() {
  for (const Peer* peer : std::exchange(lists_.pinged_by, {})) {
    if (Peer* connected = connected_peer(peer->pe())) signal(*connected, kPong);
  }
}

}  // namespace shmemx::ucx
