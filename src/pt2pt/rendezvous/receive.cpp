// Control messages and data that arrive. Every number and length of a peer is checked before it is used.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bulk_copy.hpp"
#include "pt2pt/lmt/lmt.hpp"
#include "pt2pt/lmt/section.hpp"
#include "pt2pt/lmt/shared_copy.hpp"
#include "pt2pt/rendezvous/rendezvous.hpp"
#include "pt2pt/thresholds.hpp"

namespace shmemx::pt2pt {

template <class T>
T* Rendezvous::find(RequestPool<T>& pool, int source, RequestId id) noexcept {
  T* const request = pool.find(id);
  const bool fits =
      request != nullptr && request->phase == Phase::waiting && request->peer == source && source != settings_->me;
  return fits ? request : nullptr;
}

Request* Rendezvous::find_either(int source, RequestId id) noexcept {
  if (SendRequest* const send = find(requests_->sends, source, id)) return send;
  return find(requests_->receives, source, id);
}

// ---- offers ----

void Rendezvous::on_rts(int source, Payload payload) noexcept {
  Offer offer;
  Payload data;
  if (source == settings_->me || !take_offer(source, payload, offer, data))
    return platform_->reject(source, "an offer whose length, tag or places are wrong");
  if (ReceiveRequest* const receive = matching_->of(offer.rts.tag).match(source, offer.rts.tag)) {
    begin(*receive, source, offer, data.size());
    return take_offered(*receive, data);
  }
  if (!matching_->of(offer.rts.tag).has_room_for_offered(data.size())) data = {};
  Unexpected* const message =
      matching_->of(offer.rts.tag)
          .keep({source, offer.rts.tag}, offer.rts.bytes, sizeof offer + data.size(), Unexpected::Kind::offer);
  if (message == nullptr) return;
  std::memcpy(message->data(), &offer, sizeof offer);
  if (!data.empty()) copy_block(message->data() + sizeof offer, data.data(), data.size());
  message->received = data.size();
}

// Between nodes the first data follow the header, within a node the sender's places.
bool Rendezvous::take_offer(int source, Payload payload, Offer& offer, Payload& data) noexcept {
  if (!take_header(payload, offer.rts) || offer.rts.tag == kAny) return false;
  const bool has_data = platform_->is_internode(source);
  data = has_data ? payload : Payload{};
  return take_section(has_data ? Payload{} : payload, offer.section) && data.size() <= offer.rts.bytes;
}

void Rendezvous::take(ReceiveRequest& receive, Unexpected& message) noexcept {
  Offer offer;
  std::memcpy(&offer, message.data(), sizeof offer);
  begin(receive, message.source, offer, message.received);
  take_offered(receive, {message.data() + sizeof offer, message.received});
  matching_->of(message.tag).forget(message);
}

void Rendezvous::begin(ReceiveRequest& receive, int source, const Offer& offer, std::size_t offered) noexcept {
  receive.goal = std::min<std::size_t>(offer.rts.bytes, receive.cursor.shape().bytes);
  receive.result = {source, offer.rts.tag, receive.goal, receive.goal != offer.rts.bytes, false};
  receive.peer = source;
  Transfer& transfer = receive.transfer;
  transfer.peer_id = offer.rts.send;
  transfer.offered = offered;
  transfer.buffer = nullptr;
  if (receive.goal == 0 && !platform_->is_internode(source)) {
    transfer.described_by_peer = true;  // the sender waits for the end only
    return send_queue_->enqueue(receive, Next::done);
  }
  receive.chosen_ns = 0;
  receive.placing_bytes = 0;
  transfer.kind = choose_lmt(*transfers_, receive, offer);
  (void)use_section(receive, offer.section);  // empty if the sender's memory cannot be described
  if (lmt_of(transfer.kind).start_receive(*transfers_, receive, offer)) send_queue_->enqueue(receive, Next::cts);
}

// A message whose CTS has not left yet is complete when it has.
void Rendezvous::end_if_complete(ReceiveRequest& receive) noexcept {
  if (receive.phase == Phase::waiting && receive.placing_bytes == 0 && receive.cursor.passed() == receive.goal)
    complete(receive);
}

void Rendezvous::take_offered(ReceiveRequest& receive, Payload data) noexcept {
  if (data.empty()) return;
  receive.cursor.scatter(data.data(), std::min(data.size(), receive.goal));
  end_if_complete(receive);
}

// The CTS leaves before the data have been read.
std::byte* Rendezvous::offer_placement(int source, Payload header, std::size_t bytes) noexcept {
  Offer offer;
  Payload data;
  if (header.size() != sizeof offer.rts || !platform_->is_internode(source) ||
      !take_offer(source, header, offer, data) || bytes > offer.rts.bytes)
    return nullptr;
  const ReceiveRequest* const found = matching_->of(offer.rts.tag).receive_of(source, offer.rts.tag);
  if (found == nullptr || found->cursor.shape().kind != Shape::Kind::contiguous || found->cursor.shape().bytes < bytes)
    return bytes > kOfferedBytes ? transport::declined() : nullptr;
  ReceiveRequest& receive = *matching_->of(offer.rts.tag).match(source, offer.rts.tag);
  begin(receive, source, offer, bytes);
  receive.cursor.advance(bytes);
  receive.placing_bytes += bytes;
  OfferedTo& list = offered_to_[source];
  receive.next_offered = nullptr;
  (list.first == nullptr ? list.first : list.last->next_offered) = &receive;
  list.last = &receive;
  return receive.cursor.shape().base;
}

void Rendezvous::offer_placed(int source, std::size_t bytes) noexcept {
  OfferedTo& list = offered_to_[source];
  ReceiveRequest* const receive = list.first;
  if (receive == nullptr || receive->placing_bytes < bytes)
    return platform_->reject(source, "the first data of an offer that no receive has taken");
  list.first = receive->next_offered;
  receive->placing_bytes -= bytes;
  end_if_complete(*receive);
}

// ---- answers ----

void Rendezvous::on_cts(int source, Payload payload) noexcept {
  CtsHeader header;
  Section section;
  SendRequest* send = nullptr;
  if (take_header(payload, header) && take_section(payload, section))
    send = find(requests_->sends, source, header.send);
  if (send == nullptr || send->next != Next::rts || header.goal > send->cursor.shape().bytes ||
      static_cast<std::uint32_t>(header.kind) >= kLmtKinds ||
      (header.kind == LmtKind::network) != platform_->is_internode(source) ||
      (header.offered != 0 && header.offered != send->cursor.passed()))
    return platform_->reject(source, "an answer to an offer that was not made");
  if (header.offered == 0) send->cursor = Cursor(send->cursor.shape());
  send->goal = header.goal;
  send->transfer.peer_id = header.recv;
  send->transfer.kind = header.kind;
  send->transfer.buffer = nullptr;
  const Lmt& lmt = lmt_of(header.kind);
  if (lmt.start_send == nullptr || !lmt.start_send(*transfers_, *send, header, section))
    platform_->reject(source, "an answer to an offer that does not fit it");
}

void Rendezvous::on_cookie(int source, Payload payload) noexcept {
  CookieHeader header;
  Section section;
  Request* request = nullptr;
  if (take_header(payload, header) && take_section(payload, section)) request = find_either(source, header.to);
  const bool waits_for_section =
      request != nullptr && request->transfer.described_by_peer && request->next == Next::request_section;
  if (waits_for_section && use_section(*request, section)) return transfers_->start_moving(*request);
  // Else the peer asks for the next section of what this side describes.
  const bool describes = request != nullptr && !request->transfer.described_by_peer && section.count == 0 &&
                         (request->next == Next::rts || request->next == Next::cts || request->next == Next::section) &&
                         request->cursor.left() != 0;
  if (!describes) return platform_->reject(source, "a section of a transfer that was not asked for");
  request->transfer.peer_id = header.from;
  send_queue_->enqueue(*request, Next::section);
}

// The end of a shared copy may come before the sender has looked for another chunk.
void Rendezvous::leave_shared(int source, RequestId id) noexcept {
  SendRequest* const send = requests_->sends.find(id);
  if (send != nullptr && send->phase == Phase::moving && send->peer == source && send->transfer.kind != LmtKind::copy &&
      is_shared(*send))
    transfers_->leave_to_peer(*send);
}

// The side that does not end the transfer waits for it.
void Rendezvous::on_done(int source, Payload payload) noexcept {
  DoneHeader header;
  Request* request = nullptr;
  if (take_header(payload, header) && payload.empty()) {
    leave_shared(source, header.to);
    request = find_either(source, header.to);
  }
  if (request == nullptr || request->transfer.described_by_peer ||
      (request->role == Role::receive && request->transfer.kind != LmtKind::mapped))
    return platform_->reject(source, "the end of a transfer that is not under way");
  transfers_->end_timing(*request);
  complete(*request);
}

// ---- data ----

// Returns the receive whose next bytes these are; null if there is none.
ReceiveRequest* Rendezvous::find_data_taker(int source, const DataHeader& header, std::size_t bytes) noexcept {
  ReceiveRequest* const receive = find(requests_->receives, source, header.to);
  if (receive == nullptr || receive->next != Next::cts ||
      (receive->transfer.kind != LmtKind::queue && receive->transfer.kind != LmtKind::network) ||
      header.offset != receive->cursor.passed() || bytes == 0 || bytes > receive->goal - receive->cursor.passed())
    return nullptr;
  return receive;
}

void Rendezvous::on_data(int source, const DataHeader& header, Payload data) noexcept {
  ReceiveRequest* const receive = find_data_taker(source, header, data.size());
  if (receive == nullptr) return platform_->reject(source, "data that no receive waits for");
  receive->cursor.scatter(data.data(), data.size());
  end_if_complete(*receive);
}

// A matched receive stays open until its bytes have arrived, so the place stays valid. The network may ask for the
// place of the next bytes before it has written these. What has no place is delivered, and rejected there if it is
// rubbish.
std::byte* Rendezvous::placement(int source, Payload header, std::size_t bytes) noexcept {
  DataHeader data;
  if (!take_header(header, data) || !header.empty() || !platform_->is_internode(source)) return nullptr;
  ReceiveRequest* const receive = find_data_taker(source, data, bytes);
  if (receive == nullptr) return nullptr;
  const Place place = receive->cursor.next(bytes);
  if (place.bytes != bytes) return nullptr;
  receive->cursor.advance(bytes);
  receive->placing_bytes += bytes;
  return place.at;
}

void Rendezvous::placed(int source, Payload header, std::size_t bytes) noexcept {
  DataHeader data;
  ReceiveRequest* const receive = take_header(header, data) ? find(requests_->receives, source, data.to) : nullptr;
  if (receive == nullptr || receive->placing_bytes < bytes)
    return platform_->reject(source, "data that no receive waits for");
  receive->placing_bytes -= bytes;
  end_if_complete(*receive);
}

}  // namespace shmemx::pt2pt
