// Sending. UCX copies or writes at once while the network takes data. What it keeps beyond the call has its own memory
// here.
#include <cstring>
#include <new>
#include <utility>

#include "base/bulk_copy.hpp"
#include "transport/ucx/limits.hpp"
#include "transport/ucx/ucx_transport.hpp"

namespace shmemx::ucx {

Sent UcxTransport::send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
                        Urgency urgency) noexcept {
  Peer* peer = connected_peer(pe);
  if (peer == nullptr) {  // dropped: the sink learns, or has learned, that the PE is lost
    if (outgoing != nullptr) outgoing->done = true;
    return Sent::yes;
  }
  if (payload.size() < kLongBytes) return send_short(*peer, fixed, header, payload, urgency);
  return send_long(*peer, fixed, header, payload, outgoing);
}

namespace {

// Returns false if the peer may have to keep too much until it has fetched what it was sent before.
bool may_send_behind(const Peer& peer) {
  return peer.sending.long_sends.empty() || peer.sending.sent.has_room(peer.sending.long_sends.front()->position);
}

}  // namespace

Sent UcxTransport::send_short(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Urgency urgency) {
  if (!may_send_behind(peer)) return Sent::no;
  const std::size_t bytes = transport::record_bytes(header.size() + payload.size());
  if (peer.sending.open != nullptr && !peer.sending.open->has_room_for(bytes) && !push(peer)) return Sent::no;
  if (peer.sending.open == nullptr) {
    if (peer.sending.in_flight >= kMostInFlight) return Sent::no;
    peer.sending.open = pool_.take();
    if (!std::exchange(peer.sending.is_listed, true)) lists_.open.push_back(&peer);
  }
  peer.sending.open->add(fixed, header, payload);
  peer.sending.sent.count(header.size() + payload.size());
  if (urgency == Urgency::now || peer.sending.open->used >= kGatherBytes) push(peer);
  return Sent::yes;
}

// Hands the open staging to UCX. Returns false if UCX has to finish other messages first, or if the answer to the hello
// is missing.
bool UcxTransport::push(Peer& peer) {
  if (peer.sending.in_flight >= kMostInFlight || !peer.session.out.is_open()) {
    peer.sending.is_overdue = true;
    return false;
  }
  peer.sending.is_overdue = false;
  post(peer, kRecords, std::move(peer.sending.open));
  return true;
}

void UcxTransport::flush() noexcept {
  for (Peer* peer : std::exchange(lists_.open, {})) {
    peer->sending.is_listed = peer->sending.open != nullptr && !peer->is_gone() && !push(*peer);
    if (peer->sending.is_listed) lists_.open.push_back(peer);
  }
}

void UcxTransport::push_overdue() {
  std::erase_if(lists_.open, [this](Peer* peer) {
    if (peer->is_gone()) peer->sending.open.reset();
    if (peer->sending.open != nullptr && peer->sending.is_overdue && push(*peer)) events_.active = true;
    peer->sending.is_listed = peer->sending.open != nullptr;
    return !peer->sending.is_listed;
  });
}

// Before the session is open its handshake is the sign of life.
void UcxTransport::signal(Peer& peer, Kind kind) {
  if (peer.session.out.is_open()) post(peer, kind, pool_.take());
}

void UcxTransport::post(Peer& peer, Kind kind, StagingPtr staging) {
  const std::uint64_t number = is_control(kind) ? ++peer.session.control_out : peer.sending.number++;
  const Envelope envelope = envelope_of(peer, kind, number, staging->used);
  std::memcpy(staging->bytes, &envelope, sizeof envelope);
  hand_over(peer, kind, std::move(staging));
}

void UcxTransport::post_handshake(Peer& peer, Kind kind, Bytes content) {
  StagingPtr staging = pool_.take();
  copy_block(staging->bytes, content.data(), content.size());
  staging->used = content.size();
  hand_over(peer, kind, std::move(staging));
}

void UcxTransport::hand_over(Peer& peer, Kind kind, StagingPtr staging) {
  staging->peer = &peer;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  param.cb.send = &UcxTransport::staging_ended;
  param.user_data = staging.get();
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  const ucs_status_ptr_t request =
      ::ucp_am_send_nbx(peer.endpoint, kind, nullptr, 0, staging->bytes, staging->used, &param);
  if (UCS_PTR_IS_PTR(request)) {
    ++peer.sending.in_flight;
    staging.release();  // staging_ended() owns it now
    return;
  }
  if (UCS_PTR_IS_ERR(request)) lose(peer, "UCX sends nothing: " + status_text(UCS_PTR_STATUS(request)));
  pool_.give_back(std::move(staging));
}

void UcxTransport::staging_ended(void* request, ucs_status_t status, void* argument) {
  StagingPtr staging(static_cast<Staging*>(argument));
  ::ucp_request_free(request);
  Peer& peer = *staging->peer;
  --peer.sending.in_flight;
  peer.transport.events_.active = true;
  if (status != UCS_OK) peer.transport.lose(peer, "UCX could not send: " + status_text(status));
  peer.transport.pool_.give_back(std::move(staging));
}

Sent UcxTransport::send_long(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing) {
  const bool copies = outgoing == nullptr;
  if (!peer.session.out.is_open() || peer.sending.in_flight >= kMostInFlight ||
      (copies && peer.sending.copied_bytes > kMostCopied))
    return Sent::no;
  if (!may_send_behind(peer) || (peer.sending.open != nullptr && !push(peer))) return Sent::no;
  const Envelope envelope = envelope_of(peer, kLong, peer.sending.number, payload.size());
  std::unique_ptr<LongSend> send(new LongSend(envelope, fixed, header, payload.size()));
  send->peer = &peer;
  send->outgoing = outgoing;
  if (copies) {
    send->copy.reset(new (std::nothrow) std::byte[payload.size()]);
    if (send->copy == nullptr) return Sent::no;
    copy_block(send->copy.get(), payload.data(), payload.size());
    send->copied_bytes = payload.size();
    payload = {send->copy.get(), payload.size()};
  }
  return post_payload(peer, std::move(send), payload) && !copies ? Sent::later : Sent::yes;
}

// Hands a long message to UCX. Returns true if UCX has not finished with it yet.
bool UcxTransport::post_payload(Peer& peer, std::unique_ptr<LongSend> send, Bytes payload) {
  ++peer.sending.number;
  send->position = peer.sending.sent.position();
  peer.sending.sent.count(send->prefix.used + (payload.size() <= kEagerBytes ? payload.size() : 0));
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  param.cb.send = &UcxTransport::payload_ended;
  param.user_data = send.get();
  if (!library_.is_native())
    param.flags = payload.size() <= kEagerBytes ? UCP_AM_SEND_FLAG_EAGER : UCP_AM_SEND_FLAG_RNDV;
  const ucs_status_ptr_t request = ::ucp_am_send_nbx(peer.endpoint, kLong, send->prefix.bytes.data(), send->prefix.used,
                                                     payload.data(), payload.size(), &param);
  if (UCS_PTR_IS_PTR(request)) {
    ++peer.sending.in_flight;
    peer.sending.copied_bytes += send->copied_bytes;
    peer.sending.long_sends.push_back(send.release());  // payload_ended() owns it now
    return true;
  }
  if (send->outgoing != nullptr) send->outgoing->done = true;
  if (UCS_PTR_IS_ERR(request)) lose(peer, "UCX sends nothing: " + status_text(UCS_PTR_STATUS(request)));
  return false;
}

void UcxTransport::payload_ended(void* request, ucs_status_t status, void* argument) {
  const std::unique_ptr<LongSend> send(static_cast<LongSend*>(argument));
  ::ucp_request_free(request);
  Peer& peer = *send->peer;
  --peer.sending.in_flight;
  peer.sending.copied_bytes -= send->copied_bytes;
  std::erase(peer.sending.long_sends, send.get());
  if (send->outgoing != nullptr) send->outgoing->done = true;
  peer.transport.events_.active = true;
  if (status != UCS_OK) peer.transport.lose(peer, "UCX could not send: " + status_text(status));
}

}  // namespace shmemx::ucx
