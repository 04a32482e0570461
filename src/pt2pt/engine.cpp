#include "pt2pt/engine.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/wait.hpp"
#include "pt2pt/thresholds.hpp"
#include "rma/copy.hpp"

namespace shmemx::pt2pt {

using am::Bytes;
using am::bytes_of;

void Engine::start(Node& node, const Settings& settings) noexcept {
  node_ = &node;
  settings_ = settings;
  one_message_bytes_ = std::min(kEagerBytes, settings.payload_bytes - sizeof(EagerHeader));
  peers_.assign(static_cast<std::size_t>(settings.n_pes), Peer{});
  active_.clear();
  active_.reserve(peers_.size());
  std::size_t staging_bytes = settings.payload_bytes;
  for (int pe = 0; pe < settings.n_pes; ++pe) {
    peer(pe).internode = node.is_internode(pe);
    if (peer(pe).internode) staging_bytes = std::max(staging_bytes, kInternodeEagerBytes);
  }
  staging_.reset(new (std::nothrow) std::byte[staging_bytes]);
  if (staging_ == nullptr) node.exhausted("memory for messages", staging_bytes, 0);
}

void Engine::stop() noexcept {
  while (QueueNode* const node = unexpected_.find({kAny, kAny})) forget(*static_cast<Unexpected*>(node->owner));
  for (Peer& peer : peers_) {
    const bool internode = peer.internode;
    peer = Peer{};
    peer.internode = internode;
  }
  active_.clear();
  posted_.clear();
  bypass_ = movers_ = copy_owner_ = nullptr;
  unexpected_bytes_ = 0;
  pool_.drop_all();
}

Request* Engine::take_request(const Cursor& cursor, Role role, int pe, int tag) noexcept {
  Request* const request = pool_.take();
  if (request == nullptr) [[unlikely]]
    return nullptr;
  request->done.store(false, std::memory_order_relaxed);  // nobody knows it yet
  request->role = role;
  request->peer = pe;
  request->tag = tag;
  request->cursor = cursor;
  request->synchronous = request->described_by_peer = false;
  request->result = {};
  return request;
}

void Engine::complete(Request& request) noexcept {
  request.phase = Phase::complete;
  request.done.store(true, std::memory_order_release);  // complete
  // Another thread of this PE may sleep until then.
  if (Doorbell* const doorbell = wait_policy().own_doorbell) wake(*doorbell);
}

Request* Engine::find(int source, RequestId id, Role role) noexcept {
  Request* const request = pool_.find(id);
  const bool fits = request != nullptr && request->role == role && request->phase == Phase::waiting &&
                    request->peer == source && source != settings_.me;
  return fits ? request : nullptr;
}

// ---- sending ----

std::size_t Engine::eager_limit(int pe) noexcept { return peer(pe).internode ? kInternodeEagerBytes : kEagerBytes; }

Request* Engine::send(const Cursor& source, int pe, int tag, SendMode mode) noexcept {
  Request* const request = take_request(source, Role::send, pe, tag);
  if (request == nullptr) return nullptr;
  const std::size_t bytes = source.shape().bytes;
  request->result = {settings_.me, tag, bytes, false, false};
  request->goal = bytes;
  request->synchronous = mode.synchronous;
  if (pe == settings_.me) {
    send_to_self(*request, mode);
  } else {
    enqueue(*request, mode.synchronous || bytes > eager_limit(pe) ? Next::rts : Next::eager);
  }
  return request;
}

void Engine::send_to_self(Request& request, SendMode mode) noexcept {
  const std::size_t bytes = request.goal;
  if (Request* const receive = match(settings_.me, request.tag)) return take_own(request, *receive);
  const bool copied = !mode.synchronous && (mode.blocking || bytes <= kEagerBytes);
  const Key key{settings_.me, request.tag};
  Unexpected* const message =
      keep(key, bytes, copied ? bytes : 0, copied ? Unexpected::Kind::eager : Unexpected::Kind::own);
  if (message == nullptr) return;
  if (copied) {
    request.cursor.gather(message->data(), bytes);
    message->received = bytes;
    return complete(request);
  }
  message->own_send = &request;
  request.phase = Phase::waiting;
}

void Engine::enqueue(Request& request, Next next) noexcept {
  request.next = next;
  request.phase = Phase::queued;
  request.link = nullptr;
  Peer& to = peer(request.peer);
  if (to.first != nullptr) {
    to.last->link = &request;
    to.last = &request;
    return;
  }
  if (push(request) == Step::sent) return after_push(request);
  to.first = to.last = &request;
  active_.push_back(request.peer);
}

// What follows once everything has been sent that was to be sent.
void Engine::after_push(Request& request) noexcept {
  switch (request.next) {
    case Next::eager:
    case Next::data:
    case Next::done:
      return complete(request);
    case Next::cts:
      if (request.kind == LmtKind::copy) return start_moving(request);
      break;
    case Next::rts:
    case Next::ask:
    case Next::section:
      break;
  }
  request.phase = Phase::waiting;
}

Engine::Step Engine::push(Request& request) noexcept {
  switch (request.next) {
    case Next::eager:
      return push_eager(request);
    case Next::data:
      return push_data(request);
    case Next::rts:
      return push_rts(request) ? Step::sent : Step::blocked;
    case Next::cts:
      return push_cts(request) ? Step::sent : Step::blocked;
    case Next::ask:
    case Next::section:
      return push_cookie(request) ? Step::sent : Step::blocked;
    case Next::done:
      break;
  }
  const DoneHeader done{request.peer_id};
  return node_->try_send(request.peer, am::kMessageDone, bytes_of(done), {}) ? Step::sent : Step::blocked;
}

bool Engine::send_bytes(Request& request, am::HandlerId id, Bytes header, std::size_t bytes) noexcept {
  const Place place = request.cursor.next(bytes);
  if (place.bytes == bytes) {
    if (!node_->try_send(request.peer, id, header, {place.at, bytes})) return false;
    request.cursor.advance(bytes);
    return true;
  }
  Cursor ahead = request.cursor;
  ahead.gather(staging_.get(), bytes);
  if (!node_->try_send(request.peer, id, header, {staging_.get(), bytes})) return false;
  request.cursor = ahead;
  return true;
}

// Stays the first for its peer until all of it is sent, so its pieces need no name.
Engine::Step Engine::push_eager(Request& request) noexcept {
  const std::size_t most =
      peer(request.peer).internode ? sizeof(EagerHeader) + kInternodeEagerBytes : settings_.payload_bytes;
  if (request.cursor.passed() == 0) {
    const EagerHeader header{request.tag, static_cast<std::uint32_t>(request.goal)};
    const std::size_t bytes = std::min(request.goal, most - sizeof header);
    if (!send_bytes(request, am::kMessageEager, bytes_of(header), bytes)) return Step::blocked;
  }
  while (request.cursor.left() != 0) {
    const DataHeader header{kEagerMessage, request.cursor.passed()};
    const std::size_t bytes = std::min(request.cursor.left(), most - sizeof header);
    if (!send_bytes(request, am::kMessageData, bytes_of(header), bytes)) return Step::blocked;
  }
  return Step::sent;
}

Engine::Step Engine::push_data(Request& request) noexcept {
  for (int i = 0; i < kFragmentsPerPoll; ++i) {
    const std::size_t left = request.goal - request.cursor.passed();
    if (left == 0) return Step::sent;
    const DataHeader header{request.peer_id, request.cursor.passed()};
    const std::size_t bytes = std::min(left, settings_.payload_bytes - sizeof header);
    if (!send_bytes(request, am::kMessageData, bytes_of(header), bytes)) return Step::blocked;
  }
  return request.goal == request.cursor.passed() ? Step::sent : Step::rotate;
}

bool Engine::push_rts(Request& request) noexcept {
  Described<RtsHeader> message;
  Offer offer;
  lmt_pre_send(*this, request, offer);
  message.header = offer.rts;
  message.section = offer.section;
  const Bytes bytes{reinterpret_cast<const std::byte*>(&message), message.bytes()};
  if (node_->try_send(request.peer, am::kMessageRts, bytes, {})) return true;
  request.cursor = Cursor(request.cursor.shape());
  return false;
}

bool Engine::push_cts(Request& request) noexcept {
  Described<CtsHeader> message;
  const bool has_detail = request.kind == LmtKind::copy || request.kind == LmtKind::network;
  message.header = {request.peer_id, request.id, request.goal, request.kind, has_detail ? request.chunk : 0};
  message.section.count = 0;
  const Cursor before = request.cursor;
  if (request.kind == LmtKind::mapped) lmt_describe(*this, request, message.section);
  const Bytes bytes{reinterpret_cast<const std::byte*>(&message), message.bytes()};
  if (node_->try_send(request.peer, am::kMessageCts, bytes, {})) return true;
  request.cursor = before;
  return false;
}

bool Engine::push_cookie(Request& request) noexcept {
  Described<CookieHeader> message;
  message.header = {request.peer_id, request.id};
  message.section.count = 0;
  const Cursor before = request.cursor;
  if (request.next == Next::section) lmt_describe(*this, request, message.section);
  const Bytes bytes{reinterpret_cast<const std::byte*>(&message), message.bytes()};
  if (node_->try_send(request.peer, am::kMessageCookie, bytes, {})) return true;
  request.cursor = before;
  return false;
}

// True when something was sent. Empties the queue as far as there are cells.
bool Engine::drain(int pe) noexcept {
  Peer& to = peer(pe);
  bool any = false;
  while (to.first != nullptr) {
    Request& request = *to.first;
    const std::size_t passed = request.cursor.passed();
    const Step step = push(request);
    any |= step != Step::blocked || request.cursor.passed() != passed;
    if (step == Step::blocked) break;
    if (step == Step::rotate) {
      if (&request != to.last) {
        to.first = request.link;
        request.link = nullptr;
        to.last->link = &request;
        to.last = &request;
      }
      break;
    }
    to.first = request.link;
    request.link = nullptr;
    after_push(request);
  }
  return any;
}

bool Engine::progress_some() noexcept {
  bool any = false;
  for (Request* mover = movers_; mover != nullptr;) {
    Request* const next = mover->link;
    any |= lmt_of(mover->kind).move(*this, *mover);
    mover = next;
  }
  for (std::size_t i = 0; i < active_.size();) {
    any |= drain(active_[i]);
    if (peer(active_[i]).first == nullptr) {
      active_[i] = active_.back();
      active_.pop_back();
    } else {
      ++i;
    }
  }
  return any;
}

void Engine::start_moving(Request& request) noexcept {
  request.phase = Phase::moving;
  request.link = movers_;
  movers_ = &request;
  lmt_of(request.kind).move(*this, request);
}

void Engine::stop_moving(Request& request) noexcept {
  Request** slot = &movers_;
  while (*slot != &request) slot = &(*slot)->link;
  *slot = request.link;
  request.phase = Phase::idle;
}

// ---- receiving ----

Request* Engine::match(int source, int tag) noexcept {
  if (Request* const request = bypass_) {
    if (Key{request->peer, request->tag}.fits(source, tag)) {
      bypass_ = nullptr;
      return request;
    }
  }
  QueueNode* const node = posted_.find(source, tag);
  if (node == nullptr) return nullptr;
  posted_.erase(*node);
  return static_cast<Request*>(node->owner);
}

Request* Engine::receive(const Cursor& dest, Key key, bool blocking) noexcept {
  Request* const request = take_request(dest, Role::receive, key.source, key.tag);
  if (request == nullptr) [[unlikely]]
    return nullptr;
  if (!unexpected_.empty()) {
    if (QueueNode* const node = unexpected_.find(key)) {
      take_unexpected(*request, *static_cast<Unexpected*>(node->owner));
      return request;
    }
  }
  if (blocking && bypass_ == nullptr && !posted_.competes(key)) {
    request->phase = Phase::bypass;
    bypass_ = request;
    return request;
  }
  request->phase = Phase::posted;
  posted_.push(request->node, key, ++stamp_, request);
  return request;
}

bool Engine::cancel(Request& receive) noexcept {
  if (receive.phase != Phase::posted) return false;
  posted_.erase(receive.node);
  receive.result = {kAny, kAny, 0, false, true};
  complete(receive);
  return true;
}

void Engine::take_whole(Request& request, int source, int tag, Payload data) noexcept {
  const std::size_t room = request.cursor.shape().bytes;
  const std::size_t bytes = std::min(data.size(), room);
  if (request.cursor.shape().kind == Shape::Kind::contiguous) {
    if (bytes != 0) rma::copy(request.cursor.shape().base, data.data(), bytes);
  } else {
    request.cursor.scatter(data.data(), bytes);
  }
  request.result = {source, tag, bytes, bytes != data.size(), false};
  complete(request);
}

void Engine::take_begin(Request& request, int source, const EagerHeader& header, Payload data) noexcept {
  request.goal = std::min<std::size_t>(header.bytes, request.cursor.shape().bytes);
  request.result = {source, header.tag, request.goal, request.goal != header.bytes, false};
  request.peer = source;
  request.phase = Phase::waiting;
  request.kind = LmtKind::queue;
  request.next = Next::eager;
  request.cursor.scatter(data.data(), std::min(data.size(), request.goal));
}

// Messages that no receive has asked for are copied at once: their cell is needed.
Unexpected* Engine::keep(Key key, std::size_t bytes, std::size_t extra, Unexpected::Kind kind) noexcept {
  const std::size_t footprint = sizeof(Unexpected) + extra;
  if (unexpected_bytes_ + footprint > settings_.unexpected_max) {
    node_->exhausted("memory for messages that no receive has asked for", unexpected_bytes_ + footprint,
                     settings_.unexpected_max);
    return nullptr;
  }
  void* const memory = std::malloc(footprint);
  if (memory == nullptr) {
    node_->exhausted("memory for messages that no receive has asked for", footprint, settings_.unexpected_max);
    return nullptr;
  }
  auto* const message = new (memory) Unexpected;
  message->source = key.source;
  message->tag = key.tag;
  message->bytes = bytes;
  message->received = 0;
  message->footprint = footprint;
  message->own_send = nullptr;
  message->kind = kind;
  unexpected_.push(message->nodes, key, ++stamp_, message);
  unexpected_bytes_ += footprint;
  return message;
}

void Engine::forget(Unexpected& message) noexcept {
  unexpected_.erase(message.nodes);
  unexpected_bytes_ -= message.footprint;
  if (peer(message.source).message == &message) peer(message.source).message = nullptr;
  std::free(&message);
}

void Engine::take_unexpected(Request& request, Unexpected& message) noexcept {
  if (message.kind == Unexpected::Kind::own) {
    Request& send = *message.own_send;
    forget(message);
    return take_own(send, request);
  }
  if (message.kind == Unexpected::Kind::offer) {
    Offer offer;
    std::memcpy(&offer, message.data(), sizeof offer);
    const int source = message.source;
    forget(message);
    return lmt_begin(*this, request, source, offer);
  }
  const Payload data{message.data(), message.received};
  if (message.received == message.bytes) {
    take_whole(request, message.source, message.tag, data);
  } else {
    const EagerHeader header{message.tag, static_cast<std::uint32_t>(message.bytes)};
    take_begin(request, message.source, header, data);
    peer(message.source).receive = &request;
  }
  forget(message);
}

void Engine::take_own(Request& send, Request& receive) noexcept {
  const std::size_t bytes = std::min(send.goal, receive.cursor.shape().bytes);
  while (receive.cursor.passed() != bytes) {
    const Place from = send.cursor.next(bytes - receive.cursor.passed());
    receive.cursor.scatter(from.at, from.bytes);
    send.cursor.advance(from.bytes);
  }
  receive.result = {settings_.me, send.tag, bytes, bytes != send.goal, false};
  complete(receive);
  complete(send);
}

void Engine::on_eager(int source, Payload payload) noexcept {
  EagerHeader header;
  if (!take_header(payload, header) || header.tag < 0 || payload.size() > header.bytes ||
      (header.bytes > kEagerBytes && header.bytes > eager_limit(source))) [[unlikely]]
    return node_->reject(source, "an eager message whose length or tag is wrong");
  const bool whole = payload.size() == header.bytes;
  Peer* const from = whole ? nullptr : &peer(source);
  if (!whole && (from->total != 0 || payload.empty())) [[unlikely]]
    return node_->reject(source, "an eager message inside another one");
  Request* const request = match(source, header.tag);
  if (request != nullptr) [[likely]] {
    if (whole) [[likely]]
      return take_whole(*request, source, header.tag, payload);
    take_begin(*request, source, header, payload);
    from->receive = request;
  } else {
    Unexpected* const message = keep({source, header.tag}, header.bytes, header.bytes, Unexpected::Kind::eager);
    if (message == nullptr) return;
    if (!payload.empty()) std::memcpy(message->data(), payload.data(), payload.size());
    message->received = payload.size();
    if (whole) return;
    from->message = message;
  }
  from->total = header.bytes;
  from->received = payload.size();
}

void Engine::take_more(int source, std::uint64_t offset, Payload data) noexcept {
  Peer& from = peer(source);
  if (from.total == 0 || offset != from.received || data.empty() || data.size() > from.total - from.received)
    return node_->reject(source, "a part of an eager message that does not follow");
  if (Request* const request = from.receive) {
    request->cursor.scatter(data.data(), std::min(data.size(), request->goal - request->cursor.passed()));
  } else if (from.message != nullptr) {
    std::memcpy(from.message->data() + from.received, data.data(), data.size());
    from.message->received += data.size();
  }
  from.received += data.size();
  if (from.received != from.total) return;
  Request* const request = from.receive;
  from.receive = nullptr;
  from.message = nullptr;
  from.total = 0;
  if (request != nullptr) complete(*request);
}

void Engine::on_rts(int source, Payload payload) noexcept {
  Offer offer;
  if (!take_header(payload, offer.rts) || !take_section(payload, offer.section) || offer.rts.tag < 0 ||
      source == settings_.me)
    return node_->reject(source, "an offer whose length, tag or places are wrong");
  if (Request* const request = match(source, offer.rts.tag)) return lmt_begin(*this, *request, source, offer);
  Unexpected* const message = keep({source, offer.rts.tag}, offer.rts.bytes, sizeof offer, Unexpected::Kind::offer);
  if (message != nullptr) std::memcpy(message->data(), &offer, sizeof offer);
}

void Engine::on_cts(int source, Payload payload) noexcept {
  CtsHeader header;
  Section section;
  Request* request = nullptr;
  if (take_header(payload, header) && take_section(payload, section)) request = find(source, header.send, Role::send);
  if (request == nullptr || request->next != Next::rts || header.goal > request->cursor.shape().bytes ||
      static_cast<std::uint32_t>(header.kind) >= kLmtKinds ||
      (header.kind == LmtKind::network) != peer(source).internode)
    return node_->reject(source, "an answer to an offer that was not made");
  request->cursor = Cursor(request->cursor.shape());
  request->peer_id = header.recv;
  request->goal = header.goal;
  request->kind = header.kind;
  const Lmt& lmt = lmt_of(header.kind);
  if (lmt.start_send == nullptr || !lmt.start_send(*this, *request, header, section))
    node_->reject(source, "an answer to an offer that does not fit it");
}

void Engine::on_cookie(int source, Payload payload) noexcept {
  CookieHeader header;
  Section section;
  Request* request = nullptr;
  if (take_header(payload, header) && take_section(payload, section)) {
    request = find(source, header.to, Role::send);
    if (request == nullptr) request = find(source, header.to, Role::receive);
  }
  const bool asked = request != nullptr && request->described_by_peer && request->next == Next::ask;
  const bool asks = request != nullptr && !request->described_by_peer && section.count == 0 &&
                    request->next != Next::data && request->cursor.left() != 0;
  if (asked && lmt_take_section(*request, section)) return start_moving(*request);
  if (!asks || asked) return node_->reject(source, "a section of a transfer that was not asked for");
  request->peer_id = header.from;
  enqueue(*request, Next::section);
}

void Engine::on_done(int source, Payload payload) noexcept {
  DoneHeader header;
  Request* request = nullptr;
  if (take_header(payload, header) && payload.empty()) {
    request = find(source, header.to, Role::send);
    if (request == nullptr) request = find(source, header.to, Role::receive);
  }
  // The side that describes its memory waits for it.
  if (request == nullptr || request->described_by_peer ||
      (request->role == Role::receive && request->kind != LmtKind::mapped))
    return node_->reject(source, "the end of a transfer that is not under way");
  complete(*request);
}

// The receive whose next bytes these are; null: rubbish.
Request* Engine::find_data_taker(int source, const DataHeader& header, std::size_t bytes) noexcept {
  Request* const request = find(source, header.to, Role::receive);
  if (request == nullptr || request->next != Next::cts ||
      (request->kind != LmtKind::queue && request->kind != LmtKind::network) ||
      header.offset != request->cursor.passed() || bytes == 0 || bytes > request->goal - request->cursor.passed())
    return nullptr;
  return request;
}

void Engine::end_data(Request& request) noexcept {
  if (request.cursor.passed() == request.goal) complete(request);
}

void Engine::on_data(int source, Payload payload) noexcept {
  DataHeader header;
  if (!take_header(payload, header)) return node_->reject(source, "data without a header");
  if (header.to == kEagerMessage) return take_more(source, header.offset, payload);
  Request* const request = find_data_taker(source, header, payload.size());
  if (request == nullptr) return node_->reject(source, "data that no receive waits for");
  request->cursor.scatter(payload.data(), payload.size());
  end_data(*request);
}

// What does not land is delivered, and refused there if it is rubbish. A receive that has been matched stays open until
// its bytes are here, so the place stays, too. The next bytes may be asked for before these have placed.
std::byte* Engine::placement(int source, Payload header, std::size_t body_bytes) noexcept {
  DataHeader data;
  if (!take_header(header, data) || !header.empty() || !peer(source).internode) return nullptr;
  Request* const request = find_data_taker(source, data, body_bytes);
  if (request == nullptr) return nullptr;
  const Place place = request->cursor.next(body_bytes);
  if (place.bytes != body_bytes) return nullptr;
  request->cursor.advance(body_bytes);
  request->placement += body_bytes;
  return place.at;
}

void Engine::placed(int source, Payload header, std::size_t body_bytes) noexcept {
  DataHeader data;
  Request* const request = take_header(header, data) ? find(source, data.to, Role::receive) : nullptr;
  if (request == nullptr || request->placement < body_bytes)
    return node_->reject(source, "data that no receive waits for");
  request->placement -= body_bytes;
  if (request->placement == 0) end_data(*request);
}

}  // namespace shmemx::pt2pt
