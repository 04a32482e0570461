#include "am/channel.hpp"

#include <sched.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "am/network.hpp"
#include "base/fatal.hpp"

namespace shmemx::am {

// Begin of every cell.
struct CellHead {
  nemesis::Cell link;
  std::uint16_t target;
  std::uint16_t source;
  std::uint8_t handler;
  std::uint8_t flags;  // kUsesBox or 0
  std::uint16_t reserved;
  nemesis::Number number;
  nemesis::Number ack;  // how many of the target's messages the source has finished
  std::uint32_t bytes;
  std::uint32_t padding;

  std::byte* payload() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(CellHead) == 32 && std::is_standard_layout_v<CellHead>);

namespace {

// CellHead::flags: the source also sends through its box from now on.
constexpr std::uint8_t kUsesBox = 0x01;
constexpr int kCellsPerPoll = 32;  // then whoever polls looks at what it waits for

constinit Handler handlers[kHandlerIds] = {};
constexpr std::size_t kMaxProgress = 8;
bool (*progress_functions[kMaxProgress])(Endpoint&) = {};
constinit std::size_t progress_count = 0;
constinit std::size_t payload_limit = 0;

// A message whose handler has said "later": in its cell, or as a copy when it came through a box.
struct Later {
  CellHead* cell;
  std::uint16_t source;
  std::uint16_t handler;
  std::vector<std::byte> copy;
};

// Made by set_up and never destroyed: threads may still poll while the process exits.
struct Lists {
  explicit Lists(std::size_t pending_max) : replies(pending_max) {}

  std::vector<Later> later;
  std::vector<std::uint16_t> box_sources;
  std::vector<std::uint16_t> dirty_peers;
  ReplyQueue replies;
};
constinit Lists* lists = nullptr;

void copy_in(std::byte* to, Bytes header, Bytes body) {
  if (!header.empty()) std::memcpy(to, header.data(), header.size());
  copy_short(to + header.size(), body.data(), body.size());
}

}  // namespace

void EndpointLock::lock_slow() noexcept {
  constexpr int kSpins = 200;
  contention_.fetch_add(1, std::memory_order_relaxed);  // a hint
  for (int spin = 1;; ++spin) {
    if (!held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire)) return;  // endpoint
    if (spin % kSpins == 0) {
      ::sched_yield();
    } else {
      cpu_pause();
    }
  }
}

void set_handler(HandlerId id, Handler handler, HandlerTraits traits) noexcept {
  handlers[id] = handler;
  declare_traits(id, traits);
}

void add_progress(bool (*progress)(Endpoint&)) noexcept {
  for (std::size_t i = 0; i < progress_count; ++i) {
    if (progress_functions[i] == progress) return;
  }
  if (progress_count == kMaxProgress) fatal(nullptr, "more than %zu progress functions in the channel", kMaxProgress);
  progress_functions[progress_count++] = progress;
}

// ---- sending ----

void Endpoint::note_dirty(int pe) noexcept {
  peers_[pe].dirty = true;
  lists->dirty_peers.push_back(static_cast<std::uint16_t>(pe));
}

void Endpoint::note_returned(nemesis::Cell* cell) noexcept {
  --peers_[reinterpret_cast<CellHead*>(cell)->target].cells_under_way;
  --cells_under_way_;
}

// All that receivers have given back, onto a private stack: so that the counts are right.
void Endpoint::collect_cells() noexcept {
  while (nemesis::Cell* const cell = parts_.control(me_).free.try_dequeue()) {
    note_returned(cell);
    cell->next.store(free_cells_, std::memory_order_relaxed);  // private until it is sent again
    free_cells_ = parts_.region().offset_of(cell);
  }
}

// One at a time where it can be had so: each look at the queue costs a line's transfer or two.
nemesis::Cell* Endpoint::find_cell() noexcept {
  if (free_cells_ != nemesis::kNull) {
    nemesis::Cell* const cell = parts_.region().at(free_cells_);
    free_cells_ = cell->next.load(std::memory_order_relaxed);  // private
    return cell;
  }
  if (nemesis::Cell* const cell = parts_.control(me_).free.try_dequeue()) {
    note_returned(cell);
    return cell;
  }
  return fresh_cells_ < parts_.layout().cell_count ? parts_.cell(me_, fresh_cells_++) : nullptr;
}

// Messages that start something leave some cells for the answers of handlers, or PEs that ask each other would hold all
// cells with questions and have none to answer. And a slow peer may hold a part of the cells only, so that it does not
// stall what goes to others.
bool Endpoint::may_take(const PeerState& peer) const noexcept {
  const std::size_t available = parts_.layout().cell_count - cells_under_way_;
  if (in_handler_) return available > 0;
  return available > cells_for_answers_ && peer.cells_under_way < cells_for_one_;
}

CellHead* Endpoint::take_cell(int pe) noexcept {
  PeerState& peer = peers_[pe];
  if (!may_take(peer)) {
    collect_cells();
    if (!may_take(peer)) return nullptr;
  }
  nemesis::Cell* const cell = find_cell();
  if (cell == nullptr) return nullptr;
  ++peer.cells_under_way;
  ++cells_under_way_;
  return reinterpret_cast<CellHead*>(cell);
}

bool Endpoint::send_in_cell(int pe, HandlerId id, Bytes header, Bytes body, SendOptions options) noexcept {
  if (is_internode(pe))
    return send_internode(pe, {id, options, transport::Urgency::now, nullptr}, header, body) != transport::Sent::no;
  if (header.size() + body.size() > payload_limit)
    fatal(nullptr, "a message of %zu bytes does not fit a cell, which holds %zu", header.size() + body.size(),
          payload_limit);
  CellHead* const cell = take_cell(pe);
  if (cell == nullptr) return false;
  PeerState& peer = peers_[pe];
  cell->target = static_cast<std::uint16_t>(pe);
  cell->source = static_cast<std::uint16_t>(me_);
  cell->handler = id;
  cell->flags = peer.writes_box ? 0 : kUsesBox;
  peer.writes_box = true;
  note_sent(pe, peer);
  nemesis::refresh(consumed_by(pe), peer.sent, peer.known);
  cell->number = peer.sent;
  cell->ack = peer.received;
  cell->bytes = static_cast<std::uint32_t>(header.size() + body.size());
  copy_in(cell->payload(), header, body);
  parts_.control(pe).receive.enqueue(&cell->link);
  wake(doorbell_of(pe));
  return true;
}

bool Endpoint::send_reply(const Reply& reply) noexcept {
  if (reply.coalesced) return try_send_coalesced(reply.pe, reply.id, reply.header, reply.body);
  if (reply.lasting) return try_send_lasting(reply.pe, reply.id, reply.header, reply.body);
  return try_send(reply.pe, reply.id, reply.header, reply.body);
}

bool Endpoint::try_reply(const Reply& reply) noexcept {
  return lists->replies.send(reply, [this](const Reply& next) { return send_reply(next); });
}

void Endpoint::reply(const Reply& reply) noexcept {
  if (try_reply(reply)) return;
  fatal(nullptr, "handlers have left more than %zu bytes unsent, allowed are %zu (SHMEMX_PENDING_MAX)",
        lists->replies.bytes(), lists->replies.limit_bytes());
}

const ReplyQueue& Endpoint::replies() const noexcept { return lists->replies; }

// Kept replies may use the cells that are reserved for handlers.
bool Endpoint::send_kept_replies() noexcept {
  in_handler_ = true;
  const bool any = lists->replies.send_kept([this](const Reply& next) { return send_reply(next); });
  in_handler_ = false;
  return any;
}

// ---- receiving ----

Verdict Endpoint::run(int source, unsigned handler, Bytes payload) noexcept {
  if (resting_ && handler != kStage) [[unlikely]]
    return Verdict::later;
  if (handler >= kHandlerIds || handlers[handler] == nullptr)
    fatal(nullptr, "a message of PE %d names handler %u, which does not exist", source, handler);
  in_handler_ = true;
  const Verdict verdict = handlers[handler](*this, Message{source, payload});
  in_handler_ = false;
  return verdict;
}

void Endpoint::give_back(CellHead* cell) noexcept {
  const int owner = cell->source;
  parts_.control(owner).free.enqueue(&cell->link);
  wake(doorbell_of(owner));
}

void Endpoint::keep_copy(int source, unsigned handler, Bytes payload) noexcept {
  lists->later.push_back({nullptr, static_cast<std::uint16_t>(source), static_cast<std::uint16_t>(handler),
                          std::vector<std::byte>(payload.begin(), payload.end())});
}

bool Endpoint::poll_box(int source) noexcept {
  PeerState& peer = peers_[source];
  BoxHead head;
  nemesis::BoxSlot* const slot = next_in_box(source, peer, head);
  if (slot == nullptr) return false;
  if (head.bytes > nemesis::kBoxPayloadBytes) [[unlikely]]
    fatal(nullptr, "a message of PE %d says that it has %u bytes, allowed are %zu", source, head.bytes,
          nemesis::kBoxPayloadBytes);
  const Bytes payload{slot->payload, head.bytes};
  // Copied, as the slots have to be freed in order and nothing behind it may wait for it.
  if (run(source, head.handler, payload) == Verdict::later) [[unlikely]]
    keep_copy(source, head.handler, payload);
  leave_box(source, peer);
  return true;
}

bool Endpoint::poll_boxes() noexcept {
  bool any = false;
  for (const int source : lists->box_sources) {
    for (std::size_t i = 0; i < nemesis::kBoxSlots && poll_box(source); ++i) any = true;
  }
  return any;
}

void Endpoint::take_in(CellHead* cell) noexcept {
  const int source = cell->source;
  if (source >= n_pes_ || cell->bytes > max_payload_bytes())
    fatal(nullptr, "a message says that it comes from PE %d with %u bytes, allowed are 0..%d and %zu", source,
          cell->bytes, n_pes_ - 1, max_payload_bytes());
  PeerState& peer = peers_[source];
  // What was sent before it and is not here yet lies in the box: its slot was filled before the cell was sent.
  while (peer.received + 1 != cell->number) {
    if (!poll_box(source))
      fatal(nullptr, "message %u of PE %d has come, but message %u is expected", cell->number, source,
            peer.received + 1);
  }
  if (nemesis::reached(cell->ack, peer.known)) peer.known = cell->ack;
  if ((cell->flags & kUsesBox) != 0 && !peer.reads_box) {
    peer.reads_box = true;
    lists->box_sources.push_back(static_cast<std::uint16_t>(source));
  }
  const unsigned handler = cell->handler;
  const Verdict verdict = run(source, handler, {cell->payload(), cell->bytes});
  finish(source, peer);
  if (verdict == Verdict::done) return give_back(cell);
  lists->later.push_back({cell, cell->source, static_cast<std::uint16_t>(handler), {}});
}

bool Endpoint::poll_queue() noexcept {
  bool any = false;
  for (int i = 0; i < kCellsPerPoll; ++i) {
    nemesis::Cell* const cell = parts_.control(me_).receive.try_dequeue();
    if (cell == nullptr) break;
    take_in(reinterpret_cast<CellHead*>(cell));
    any = true;
  }
  return any;
}

// In the order in which they came; what still cannot be done stays. Handlers may add to the list.
bool Endpoint::run_later() noexcept {
  std::vector<Later>& list = lists->later;
  std::vector<Later> waiting;
  waiting.swap(list);
  bool any = false;
  std::size_t kept = 0;
  for (Later& later : waiting) {
    const Bytes payload = later.cell != nullptr ? Bytes{later.cell->payload(), later.cell->bytes} : Bytes{later.copy};
    if (run(later.source, later.handler, payload) == Verdict::later) {
      if (&waiting[kept] != &later) waiting[kept] = std::move(later);
      ++kept;
      continue;
    }
    any = true;
    if (later.cell != nullptr) give_back(later.cell);
  }
  waiting.resize(kept);
  for (Later& added : list) waiting.push_back(std::move(added));
  list.swap(waiting);
  return any;
}

bool Endpoint::poll_all(int expected, std::uint32_t polls) noexcept {
  if (peers_ == nullptr) return false;
  bool any = expected >= 0 && poll_box(expected);
  any |= poll_queue();
  if (expected < 0 || polls % kPollsForOne == 0) any |= poll_boxes();
  if (!lists->later.empty()) any |= run_later();
  if (network_count_ != 0) any |= poll_networks(expected, polls);
  if (!lists->replies.is_empty()) any |= send_kept_replies();
  for (std::size_t i = 0; i < progress_count && !resting_; ++i) any |= progress_functions[i](*this);
  return any;
}

bool Endpoint::has_work() noexcept {
  if (!parts_.control(me_).receive.maybe_empty() || !lists->later.empty()) return true;
  for (const int source : lists->box_sources) {
    PeerState& peer = peers_[source];
    if (peer.reader.find(boxes_[source], peer.received + 1) != nullptr) return true;
  }
  return false;
}

bool Endpoint::is_flushed(int pe, nemesis::Number number) noexcept {
  PeerState& peer = peers_[pe];
  // By the distance from the last message: billions of others may have followed the one that is asked for.
  if (is_internode(pe)) return peer.sent - peer.known <= peer.sent - number;  // it comes with a message
  if (nemesis::reached(peer.known, number)) return true;
  peer.known = consumed_by(pe).count.load(std::memory_order_acquire);  // done
  return nemesis::reached(peer.known, number);
}

// ---- for all threads ----

std::size_t max_payload_bytes() noexcept { return payload_limit; }

std::size_t Endpoint::unflushed_count() noexcept {
  if (has_networks()) send_batches();  // so that those PEs are in the list
  return lists->dirty_peers.size();
}

int Endpoint::unflushed_pe(std::size_t i) const noexcept {
  const std::vector<std::uint16_t>& list = lists->dirty_peers;
  return i < list.size() ? list[i] : -1;
}

void Endpoint::drop_flushed() noexcept {
  std::erase_if(lists->dirty_peers, [this](std::uint16_t pe) {
    PeerState& peer = peers_[pe];
    peer.dirty = !is_flushed(pe, number_to_flush(pe)) || has_batch(pe);
    return !peer.dirty;
  });
}

void set_up(const Setup& setup) noexcept {
  Endpoint& endpoint = own_endpoint;
  if (setup.many_threads) endpoint_lock.share();
  // A later initialisation of the process goes on where the former one ended: all stays as it is, and the networks'
  // agent may be looking at it.
  if (endpoint.peers_ != nullptr) return;
  endpoint.parts_ = setup.parts;
  endpoint.me_ = setup.me;
  endpoint.n_pes_ = setup.n_pes;
  endpoint.pending_max_ = setup.pending_max;
  endpoint.boxes_ = &setup.parts.box(setup.me, 0);
  endpoint.consumed_ = &setup.parts.consumed(setup.me, 0);
  endpoint.boxes_to_ = reinterpret_cast<std::byte*>(&setup.parts.box(0, setup.me));
  endpoint.consumed_by_ = reinterpret_cast<std::byte*>(&setup.parts.consumed(0, setup.me));
  endpoint.part_bytes_ = setup.parts.layout().part_bytes;
  endpoint.doorbell0_ = setup.doorbell0;
  endpoint.doorbell_step_ = setup.doorbell_step;
  endpoint.via_ = setup.route;
  endpoint.network_count_ = static_cast<std::uint32_t>(setup.networks.size());
  std::copy(setup.networks.begin(), setup.networks.end(), endpoint.networks_);
  const std::size_t count = setup.parts.layout().cell_count;
  endpoint.cells_for_answers_ = std::max<std::size_t>(count / 8, 1);
  endpoint.cells_for_one_ = static_cast<std::uint32_t>(std::max<std::size_t>(count * 5 / 8, 1));
  payload_limit = setup.parts.layout().cell_bytes - sizeof(CellHead);
  lists = new Lists(setup.pending_max);
  endpoint.peers_ = static_cast<PeerState*>(std::calloc(static_cast<std::size_t>(setup.n_pes), sizeof(PeerState)));
  if (setup.route != nullptr)
    endpoint.batches_ = static_cast<Batch**>(std::calloc(static_cast<std::size_t>(setup.n_pes), sizeof(Batch*)));
  if (endpoint.peers_ == nullptr || (setup.route != nullptr && endpoint.batches_ == nullptr))
    fatal("shmem_init", "no memory for the channel's state of %d PEs", setup.n_pes);
  connect_networks(setup);
}

}  // namespace shmemx::am
