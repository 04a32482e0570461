// Control messages that leave: RTS, CTS, cookies, done.
#include "pt2pt/lmt/lmt.hpp"
#include "pt2pt/lmt/section.hpp"
#include "pt2pt/rendezvous/rendezvous.hpp"
#include "pt2pt/thresholds.hpp"

namespace shmemx::pt2pt {

void Rendezvous::start(const Parts& parts) noexcept {
  platform_ = &parts.platform;
  settings_ = &parts.settings;
  matching_ = &parts.matching;
  send_queue_ = &parts.send_queue;
  transfers_ = &parts.transfers;
  requests_ = &parts.requests;
  offered_to_.open(static_cast<std::size_t>(settings_->n_pes));
}

void Rendezvous::clear() noexcept { offered_to_.open(offered_to_.size()); }

template <class Header>
bool Rendezvous::send_described(Request& request, am::HandlerId id, const Header& header, bool describes,
                                LmtChoice choice) noexcept {
  Described<Header> message;
  message.header = header;
  message.section.space = Space::private_memory;
  message.section.count = 0;
  const Cursor before = request.cursor;
  if (describes) describe(*platform_, choice, request, message.section);
  const am::Bytes bytes{reinterpret_cast<const std::byte*>(&message), message.bytes()};
  if (platform_->try_send(request.peer, id, bytes, {}, {})) return true;
  request.cursor = before;
  return false;
}

std::size_t Rendezvous::most_offered(const SendRequest& send) noexcept {
  const bool is_whole = send.goal > kOfferedBytes && send.goal <= kWholeOfferBytes &&
                        send.cursor.shape().kind == Shape::Kind::contiguous &&
                        send.goal <= platform_->declinable_bytes(send.peer);
  return is_whole ? send.goal : kOfferedBytes;
}

// Addresses and process numbers mean nothing on another node, so the offer has none there. Instead the first bytes
// leave with it where they lie in one place, or all of them.
bool Rendezvous::push_internode_rts(SendRequest& send, const RtsHeader& rts) noexcept {
  send.offered = {.done = true, .is_patient = true};
  const Place first = send.goal > kInternodeEagerBytes ? send.cursor.next(most_offered(send)) : Place{nullptr, 0};
  if (first.bytes < transport::kLongBytes)
    return platform_->try_send(send.peer, am::kMessageRts, am::bytes_of(rts), {}, {});
  send.offered.done = false;
  const transport::Sent sent =
      platform_->send_long(send.peer, am::kMessageRts, am::bytes_of(rts), {first.at, first.bytes}, send.offered);
  if (sent != transport::Sent::later) send.offered.done = true;
  if (sent == transport::Sent::no) return false;
  send.cursor.advance(first.bytes);
  return true;
}

bool Rendezvous::push_rts(Request& send) noexcept {
  RtsHeader rts{send.id, send.goal, send.tag, 0, {}};
  if (platform_->is_internode(send.peer)) return push_internode_rts(static_cast<SendRequest&>(send), rts);
  rts.maps_receiver = platform_->address_of(send.peer, Space::heap, 0, 1) != nullptr;
  rts.probe = rma::own_cma_probe();
  const LmtChoice choice = settings_->lmt;
  const bool described = choice == LmtChoice::automatic || choice == LmtChoice::mapped || choice == LmtChoice::cma;
  return send_described(send, am::kMessageRts, rts, described, choice);
}

bool Rendezvous::push_cts(Request& receive) noexcept {
  const Transfer& transfer = receive.transfer;
  const CtsHeader cts{transfer.peer_id, receive.id, receive.goal, transfer.kind, transfer.cts_detail, transfer.offered};
  const bool reads = transfer.kind == LmtKind::cma;
  return send_described(receive, am::kMessageCts, cts, reads || transfer.kind == LmtKind::mapped,
                        reads ? LmtChoice::cma : settings_->lmt);
}

void Rendezvous::sent_cts(Request& receive) noexcept {
  if (receive.transfer.buffer != nullptr) return transfers_->start_moving(receive);
  receive.phase = Phase::waiting;
  if (receive.transfer.kind == LmtKind::network) end_if_complete(static_cast<ReceiveRequest&>(receive));
}

bool Rendezvous::push_cookie(Request& request) noexcept {
  const CookieHeader cookie{request.transfer.peer_id, request.id};
  return send_described(request, am::kMessageCookie, cookie, request.next == Next::section, settings_->lmt);
}

bool Rendezvous::push_done(Request& request) noexcept {
  const DoneHeader done{request.transfer.peer_id};
  return platform_->try_send(request.peer, am::kMessageDone, am::bytes_of(done), {}, {});
}

}  // namespace shmemx::pt2pt
