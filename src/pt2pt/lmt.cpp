// The ways of a large message transfer.
//
//   mapped  one side copies straight from or into the other's symmetric memory, which it maps: one copy
//   cma     the receiver lets the kernel copy from the sender's memory (process_vm_readv): one copy, a call
//   copy    both copy at the same time, through the receiver's copy buffer
//   queue   in pieces through the cells: always possible
//   network to a PE of another node: few long messages, from place to place without a copy where both lie in one
//
// Where one side moves the bytes alone, the other describes its memory in sections of a few places; a section that is
// used up is answered by a cookie that asks for the next one.
#include <algorithm>
#include <new>

#include "pt2pt/engine.hpp"
#include "pt2pt/thresholds.hpp"

namespace shmemx::pt2pt {

namespace {

// The space that all of a shape lies in, as `pe` sees it; private where its places lie in several.
Space space_of(Node& node, int pe, const Shape& shape) noexcept {
  Cursor cursor(shape);
  std::uint64_t offset;
  bool first = true;
  Space space = Space::private_memory;
  while (cursor.left() != 0) {
    const Place place = cursor.next(cursor.left());
    const Space here = node.describe(pe, place.at, place.bytes, offset);
    if (here == Space::private_memory || (!first && here != space)) return Space::private_memory;
    space = here;
    first = false;
    cursor.advance(place.bytes);
  }
  return space;
}

bool fetches(const Request& receive) noexcept { return receive.described_by_peer; }

void finish_moving(Engine& engine, Request& request) noexcept {
  engine.stop_moving(request);
  const Lmt& lmt = lmt_of(request.kind);
  if (request.role == Role::receive && lmt.post_receive != nullptr) lmt.post_receive(engine, request);
  if (request.described_by_peer) return engine.enqueue(request, Next::done);
  engine.complete(request);
}

// ---- one side moves, the other describes ----

// After a step: finished, in need of the next section, or neither.
void after_step(Engine& engine, Request& mover) noexcept {
  if (mover.cursor.passed() == mover.goal) return finish_moving(engine, mover);
  if (mover.there.left() != 0) return;
  engine.stop_moving(mover);
  engine.enqueue(mover, Next::ask);
}

bool reject_mover(Engine& engine, Request& mover, const char* what) noexcept {
  engine.stop_moving(mover);
  mover.phase = Phase::waiting;
  engine.node().reject(mover.peer, what);
  return false;
}

bool move_mapped(Engine& engine, Request& mover) noexcept {
  std::size_t budget = std::min(kMoveBytes, mover.goal - mover.cursor.passed());
  while (budget != 0 && mover.there.left() != 0) {
    const Place place = mover.there.next(budget);
    const auto offset = reinterpret_cast<std::uintptr_t>(place.at);
    std::byte* const there = engine.node().address_of(mover.peer, mover.section.space, offset, place.bytes);
    if (there == nullptr) return reject_mover(engine, mover, "a place outside its symmetric memory");
    if (mover.role == Role::receive) {
      mover.cursor.scatter(there, place.bytes);
    } else {
      mover.cursor.gather(there, place.bytes);
    }
    mover.there.advance(place.bytes);
    budget -= place.bytes;
  }
  after_step(engine, mover);
  return true;
}

bool move_cma(Engine& engine, Request& mover) noexcept {
  const std::size_t most = std::min(kMoveBytes, mover.goal - mover.cursor.passed());
  if (engine.node().read_memory(mover.pid, mover.cursor, mover.there, most) <= 0)
    return reject_mover(engine, mover, "a place that is not in its memory");
  after_step(engine, mover);
  return true;
}

void start_fetching(Engine& engine, Request& receive) noexcept { engine.start_moving(receive); }

void pre_receive_cma(Engine& engine, Request& receive, const Offer& offer) noexcept {
  receive.described_by_peer = true;
  receive.pid = engine.cma_pid(receive.peer, offer.rts);
}

// ---- mapped ----

bool can_fetch_mapped(Engine& engine, int source, const Offer& offer) noexcept {
  const Section& section = offer.section;
  return section.space != Space::private_memory && section.count != 0 &&
         engine.node().address_of(source, section.space, reinterpret_cast<std::uintptr_t>(section.places[0].at),
                                  section.places[0].bytes) != nullptr;
}

bool suits_mapped(Engine& engine, const Request& receive, const Offer& offer) noexcept {
  if (can_fetch_mapped(engine, receive.peer, offer)) return true;
  return offer.rts.maps_receiver != 0 &&
         space_of(engine.node(), receive.peer, receive.cursor.shape()) != Space::private_memory;
}

void pre_receive_mapped(Engine& engine, Request& receive, const Offer& offer) noexcept {
  if (can_fetch_mapped(engine, receive.peer, offer)) receive.described_by_peer = true;
}

void start_receive_mapped(Engine& engine, Request& receive) noexcept {
  if (fetches(receive)) return start_fetching(engine, receive);
  engine.enqueue(receive, Next::cts);
}

bool start_send_mapped(Engine& engine, Request& send, const CtsHeader&, const Section& section) noexcept {
  send.described_by_peer = true;
  if (section.space == Space::private_memory || !lmt_take_section(send, section)) return false;
  engine.start_moving(send);
  return true;
}

// ---- cma ----

bool suits_cma(Engine& engine, const Request& receive, const Offer& offer) noexcept {
  return offer.section.count != 0 && offer.section.space == Space::private_memory &&
         engine.cma_pid(receive.peer, offer.rts) != 0;
}

// ---- copy ----

bool suits_copy(Engine& engine, const Request&, const Offer&) noexcept {
  return engine.copy_owner() == nullptr && engine.node().copy_buffer(engine.settings().me) != nullptr;
}

void pre_receive_copy(Engine& engine, Request& receive, const Offer&) noexcept {
  engine.set_copy_owner(&receive);
  receive.buffer = engine.node().copy_buffer(engine.settings().me);
  receive.chunk = receive.buffer->filled.load(std::memory_order_acquire);   // filled: of the transfer before
  receive.buffer->drained.store(receive.chunk, std::memory_order_release);  // drained
}

void start_receive_by_sender(Engine& engine, Request& receive) noexcept { engine.enqueue(receive, Next::cts); }

void post_receive_copy(Engine& engine, Request&) noexcept { engine.set_copy_owner(nullptr); }

bool start_send_copy(Engine& engine, Request& send, const CtsHeader& cts, const Section&) noexcept {
  send.buffer = engine.node().copy_buffer(send.peer);
  if (send.buffer == nullptr) return false;
  send.chunk = cts.detail;
  engine.start_moving(send);
  return true;
}

bool fill(Engine& engine, Request& send) noexcept {
  CopyBuffer& buffer = *send.buffer;
  bool any = false;
  while (send.cursor.passed() != send.goal) {
    const std::uint32_t ahead = send.chunk - buffer.drained.load(std::memory_order_acquire);  // drained
    if (ahead >= CopyBuffer::kChunks) break;
    const std::size_t bytes = std::min(CopyBuffer::kChunkBytes, send.goal - send.cursor.passed());
    send.cursor.gather(buffer.chunks[send.chunk % CopyBuffer::kChunks], bytes);
    buffer.filled.store(++send.chunk, std::memory_order_release);  // filled
    engine.node().wake(send.peer);
    any = true;
  }
  if (send.cursor.passed() == send.goal) finish_moving(engine, send);
  return any;
}

bool empty(Engine& engine, Request& receive) noexcept {
  CopyBuffer& buffer = *receive.buffer;
  bool any = false;
  while (receive.cursor.passed() != receive.goal &&
         buffer.filled.load(std::memory_order_acquire) != receive.chunk) {  // filled
    const std::size_t bytes = std::min(CopyBuffer::kChunkBytes, receive.goal - receive.cursor.passed());
    receive.cursor.scatter(buffer.chunks[receive.chunk % CopyBuffer::kChunks], bytes);
    buffer.drained.store(++receive.chunk, std::memory_order_release);  // drained
    engine.node().wake(receive.peer);
    any = true;
  }
  if (receive.cursor.passed() == receive.goal) finish_moving(engine, receive);
  return any;
}

bool move_copy(Engine& engine, Request& request) noexcept {
  return request.role == Role::send ? fill(engine, request) : empty(engine, request);
}

// ---- queue ----

bool suits_queue(Engine&, const Request&, const Offer&) noexcept { return true; }

bool start_send_queue(Engine& engine, Request& send, const CtsHeader&, const Section&) noexcept {
  engine.enqueue(send, Next::data);
  return true;
}

// ---- network ----

bool is_in_one_place(const Request& request) noexcept { return request.cursor.shape().kind == Shape::Kind::contiguous; }

// What cannot land where it belongs is wanted in small messages, as it has to lie somewhere meanwhile.
void pre_receive_network(Engine&, Request& receive, const Offer&) noexcept {
  receive.chunk = is_in_one_place(receive) ? 0 : static_cast<std::uint32_t>(kPackedBytes);
  receive.placement = 0;
}

bool start_send_network(Engine& engine, Request& send, const CtsHeader& cts, const Section&) noexcept {
  send.chunk = cts.detail;
  send.outgoing.done = true;
  engine.start_moving(send);
  return true;
}

// The next bytes in one place: where they lie, or packed. Moves `after` behind them. Empty: no memory.
Place next_piece(Request& send, Cursor& after) noexcept {
  const std::size_t limit = send.chunk == 0 ? kNetworkBytes : std::min<std::size_t>(send.chunk, kNetworkBytes);
  const std::size_t wanted = std::min(limit, send.goal - send.cursor.passed());
  const Place place = after.next(wanted);
  if (place.bytes == wanted || place.bytes >= kUnpackedBytes) {
    after.advance(place.bytes);
    return place;
  }
  if (send.packed == nullptr) send.packed.reset(new (std::nothrow) std::byte[kPackedBytes]);
  if (send.packed == nullptr) return {nullptr, 0};
  const std::size_t bytes = std::min(wanted, kPackedBytes);
  after.gather(send.packed.get(), bytes);
  return {send.packed.get(), bytes};
}

// One message after the other: what the network has not taken yet is bytes enough to keep it busy.
bool move_network(Engine& engine, Request& send) noexcept {
  bool any = false;
  for (int i = 0; i < kFragmentsPerPoll && send.outgoing.done; ++i) {
    if (send.cursor.passed() == send.goal) {
      send.packed.reset();
      finish_moving(engine, send);
      return true;
    }
    Cursor after = send.cursor;
    const Place piece = next_piece(send, after);
    if (piece.bytes == 0) {
      engine.node().exhausted("memory to pack messages", kPackedBytes, 0);
      return any;
    }
    const DataHeader header{send.peer_id, send.cursor.passed()};
    send.outgoing.done = false;
    const transport::Sent sent = engine.node().send_long(send.peer, am::kMessageData, am::bytes_of(header),
                                                         {piece.at, piece.bytes}, send.outgoing);
    if (sent != transport::Sent::later) send.outgoing.done = true;
    if (sent == transport::Sent::no) return any;
    send.cursor = after;
    any = true;
  }
  return any;
}

constexpr Lmt kWays[kLmtKinds] = {
    {"copy", suits_copy, pre_receive_copy, start_receive_by_sender, post_receive_copy, start_send_copy, move_copy},
    {"mapped", suits_mapped, pre_receive_mapped, start_receive_mapped, nullptr, start_send_mapped, move_mapped},
    {"cma", suits_cma, pre_receive_cma, start_fetching, nullptr, nullptr, move_cma},
    {"queue", suits_queue, nullptr, start_receive_by_sender, nullptr, start_send_queue, nullptr},
    {"network", nullptr, pre_receive_network, start_receive_by_sender, nullptr, start_send_network, move_network},
};

LmtKind choose(Engine& engine, const Request& receive, const Offer& offer) noexcept {
  if (engine.is_internode(receive.peer)) return LmtKind::network;
  const auto suits = [&](LmtKind kind) { return lmt_of(kind).suits(engine, receive, offer); };
  const LmtChoice choice = engine.settings().lmt;
  if (choice != LmtChoice::automatic) {
    const auto kind = static_cast<LmtKind>(static_cast<std::uint32_t>(choice) - 1);
    return suits(kind) ? kind : LmtKind::queue;
  }
  // Two sides that take turns on one core gain nothing from copying at the same time.
  const bool together = !engine.settings().crowded && suits(LmtKind::copy);
  if (together && receive.goal < kMappedBytes) return LmtKind::copy;
  if (suits(LmtKind::mapped)) return LmtKind::mapped;
  if (together && receive.goal < kCmaBytes) return LmtKind::copy;
  if (suits(LmtKind::cma)) return LmtKind::cma;
  return suits(LmtKind::copy) ? LmtKind::copy : LmtKind::queue;
}

}  // namespace

const Lmt& lmt_of(LmtKind kind) noexcept { return kWays[static_cast<std::uint32_t>(kind)]; }

void lmt_pre_send(Engine& engine, Request& send, Offer& offer) noexcept {
  offer.section.space = Space::private_memory;
  offer.section.count = 0;
  // Addresses and process numbers mean nothing on another node.
  if (engine.is_internode(send.peer)) {
    offer.rts = {send.id, send.goal, send.tag, 0, {}};
    return;
  }
  const LmtChoice choice = engine.settings().lmt;
  const bool maps = engine.node().address_of(send.peer, Space::heap, 0, 1) != nullptr;
  offer.rts = {send.id, send.goal, send.tag, maps, rma::own_cma_probe()};
  const bool described = choice == LmtChoice::automatic || choice == LmtChoice::mapped || choice == LmtChoice::cma;
  if (described && send.goal != 0) lmt_describe(engine, send, offer.section);
}

void lmt_begin(Engine& engine, Request& receive, int source, const Offer& offer) noexcept {
  const std::size_t room = receive.cursor.shape().bytes;
  receive.goal = std::min<std::size_t>(offer.rts.bytes, room);
  receive.result = {source, offer.rts.tag, receive.goal, receive.goal != offer.rts.bytes, false};
  receive.peer = source;
  receive.peer_id = offer.rts.send;
  receive.kind = LmtKind::queue;
  if (receive.goal == 0) {
    receive.described_by_peer = true;  // the sender waits for the end only
    return engine.enqueue(receive, Next::done);
  }
  receive.kind = choose(engine, receive, offer);
  (void)lmt_take_section(receive, offer.section);  // may be empty: the sender cannot describe its memory
  const Lmt& lmt = lmt_of(receive.kind);
  if (lmt.pre_receive != nullptr) lmt.pre_receive(engine, receive, offer);
  lmt.start_receive(engine, receive);
}

void lmt_describe(Engine& engine, Request& request, Section& out) noexcept {
  if (request.cursor.passed() == 0) {
    const LmtChoice choice = engine.settings().lmt;
    const bool symmetric = choice == LmtChoice::automatic || choice == LmtChoice::mapped;
    request.space = symmetric ? space_of(engine.node(), request.peer, request.cursor.shape()) : Space::private_memory;
  }
  out.space = request.space;
  out.count = 0;
  const std::size_t most = request.goal;
  while (request.cursor.passed() != most && out.count != kSectionPlaces) {
    const Place place = request.cursor.next(most - request.cursor.passed());
    std::uint64_t at = reinterpret_cast<std::uintptr_t>(place.at);
    if (out.space != Space::private_memory) engine.node().describe(request.peer, place.at, place.bytes, at);
    out.places[out.count++] = {reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(at)), place.bytes};
    request.cursor.advance(place.bytes);
  }
}

bool lmt_take_section(Request& mover, const Section& section) noexcept {
  if (section.count == 0) return false;
  mover.section = section;
  mover.there = Cursor(Shape::of_list(mover.section.places, section.count));
  return true;
}

}  // namespace shmemx::pt2pt
