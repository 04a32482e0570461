#include "nemesis/shm_channel.hpp"

#include <algorithm>

#include "base/bulk_copy.hpp"
#include "base/fatal.hpp"

namespace shmemx::nemesis {

void ShmChannel::open(const ShmSetup& setup) noexcept {
  parts_ = setup.parts;
  me_ = setup.me;
  doorbells_ = setup.doorbells;
  credits_.open(parts_, me_, setup.cells_in_use);
  box_cells_ = setup.box_cells;
  box_cells_->open(credits_, parts_.layout().cell_count);
  box_sources_ = setup.box_sources;
  unflushed_ = setup.unflushed;
  peers_ = setup.peers;
}

// A PE writes to itself through the box only: as the second one in a line that it never takes from.
void ShmChannel::find_places(int pe, ShmPeer& peer) const noexcept {
  peer.in_line.side = pe > me_ ? LineSide::first : LineSide::second;
  peer.places = {&parts_.line(std::min(me_, pe), std::max(me_, pe)),
                 &parts_.box(pe, me_),
                 &parts_.box(me_, pe),
                 &parts_.consumed(me_, pe),
                 &parts_.consumed(pe, me_),
                 &doorbell_of(pe)};
}

void ShmChannel::note_unflushed(int pe, ShmPeer& peer) noexcept {
  peer.is_unflushed = true;
  unflushed_->add(pe);
}

bool ShmChannel::try_send_in_cell(int pe, std::uint8_t handler, Bytes header, Bytes payload, CellUse use) noexcept {
  Cell* const taken = credits_.try_take(pe, use);
  if (taken == nullptr) return false;
  CellHeader& cell = CellHeader::of(taken);
  ShmPeer& peer = peer_of(pe);
  meet(pe, peer);
  cell.target = static_cast<std::uint32_t>(pe);
  cell.source = static_cast<std::uint32_t>(me_);
  cell.handler = handler;
  cell.flags = peer.writes_box ? 0 : kUsesBox;
  peer.writes_box = true;
  note_sent(pe, peer);
  refresh(*peer.places.consumed_by, peer.sent, peer.executed);
  cell.number = peer.sent;
  cell.executed = peer.received;
  cell.bytes = static_cast<std::uint32_t>(header.size() + payload.size());
  if (!header.empty()) std::memcpy(cell.payload(), header.data(), header.size());
  copy_payload(cell.payload() + header.size(), payload);
  peer.open_cell = {};
  if (cell.bytes <= kSharedBytes)
    peer.open_cell = {static_cast<std::uint32_t>(parts_.index_of_cell(me_, taken)) + 1,
                      static_cast<std::uint16_t>(steps_of(sizeof cell + cell.bytes))};
  cell.filled.store(peer.open_cell.end, std::memory_order_relaxed);  // the queue hands it over
  parts_.control(pe).receive.enqueue(taken);
  wake(*peer.places.doorbell);
  return true;
}

bool ShmChannel::try_send_in_shared_cell(int pe, std::uint8_t handler, Bytes header, Bytes payload) noexcept {
  ShmPeer& peer = peer_of(pe);
  const std::size_t bytes = header.size() + payload.size();
  if (peer.open_cell.name == 0 || bytes > kSharedBytes) return false;
  CellHeader& cell = CellHeader::of(parts_.cell(me_, peer.open_cell.name - 1));
  const FurtherHeader further{peer.sent + 1, peer.received, static_cast<std::uint16_t>(bytes), handler, 0, 0};
  if (!peer.open_cell.is_open(cell, pe) ||
      !peer.open_cell.append(cell, parts_.layout().cell_bytes, further, header, payload)) {
    peer.open_cell = {};
    return false;
  }
  note_sent(pe, peer);
  refresh(*peer.places.consumed_by, peer.sent, peer.executed);
  wake(*peer.places.doorbell);
  return true;
}

// A stream goes through the queue, where the receiver finds many at once and their lines come ahead of their reader.
// Sender and receiver agree on the slot's number; the cell is the sender's alone until the slot is published, and again
// when it has been consumed.
bool ShmChannel::try_send_behind_box(int pe, std::uint8_t handler, Bytes header, Bytes payload) noexcept {
  struct Slots {
    ShmChannel& channel;
    BoxCellName& name(BoxPlace place) const noexcept { return channel.peer_of(place.pe).cells[place.slot]; }
    bool is_free(BoxPlace place) const noexcept {
      return channel.has_executed(place.pe, channel.peer_of(place.pe).writer.in_slot[place.slot]);
    }
  };
  ShmPeer& peer = peer_of(pe);
  if (!peer.writes_box ||
      (peer.sent - peer.executed >= kBoxSlots && !has_executed(pe, peer.sent - Number{kBoxSlots} + 1)))
    return false;
  BoxSlot* const slot = peer.writer.try_claim(*peer.places.box_to, *peer.places.consumed_by, peer.executed);
  if (slot == nullptr) return false;
  Cell* const cell = box_cells_->behind({pe, peer.writer.claimed()}, Slots{*this});
  if (cell == nullptr) return false;
  std::byte* const at = CellHeader::of(cell).payload();
  if (!header.empty()) std::memcpy(at, header.data(), header.size());
  copy_payload(at + header.size(), payload);
  const BoxHeader box{peer.received, handler, 0, kInCell, static_cast<std::uint32_t>(parts_.index_of_cell(me_, cell))};
  const auto bytes = static_cast<BoxCellBytes>(header.size() + payload.size());
  std::memcpy(slot->head, &box, sizeof box);
  std::memcpy(slot->payload, &bytes, sizeof bytes);
  note_sent(pe, peer);
  peer.writer.publish(*slot, peer.sent);
  wake(*peer.places.doorbell);
  return true;
}

Bytes ShmChannel::payload_behind_box(int source, const BoxSlot& slot, const BoxHeader& box) const noexcept {
  BoxCellBytes bytes = 0;
  std::memcpy(&bytes, slot.payload, sizeof bytes);
  if (box.bytes != kInCell) reject_length(source, box.bytes, kBoxPayloadBytes);
  if (bytes > max_payload_bytes()) reject_length(source, bytes, max_payload_bytes());
  if (box.cell >= parts_.layout().cell_count) reject_cell(source, box.cell);
  return {CellHeader::of(parts_.cell(source, box.cell)).payload(), bytes};
}

bool ShmChannel::has_executed(int pe, Number number) noexcept {
  ShmPeer& peer = peer_of(pe);
  if (reached(peer.executed, number)) return true;
  peer.executed = peer.places.consumed_by->count.load(std::memory_order_acquire);  // done
  return reached(peer.executed, number);
}

bool ShmChannel::drop_if_flushed(int pe) noexcept {
  ShmPeer& peer = peer_of(pe);
  peer.is_unflushed = !has_executed(pe, peer.sent);
  return !peer.is_unflushed;
}

void ShmChannel::note_cell(const CellHeader& cell, ShmPeer& peer) noexcept {
  if (reached(cell.executed, peer.executed)) peer.executed = cell.executed;
  if ((cell.flags & kUsesBox) == 0 || peer.reads_box) return;
  peer.reads_box = true;
  box_sources_->push_back(static_cast<std::int32_t>(cell.source));
}

void ShmChannel::give_back(Cell* cell) noexcept {
  const auto owner = static_cast<int>(CellHeader::of(cell).source);
  parts_.control(owner).free.enqueue(cell);
  wake(doorbell_of(owner));
}

bool ShmChannel::has_messages() noexcept {
  if (has_cells()) return true;
  for (const std::int32_t source : *box_sources_) {
    ShmPeer& peer = peer_of(source);
    LineHeader head;
    if (next_in_line(source, peer, head) != nullptr) return true;
    if (peer.reader.find(*peer.places.box_from, peer.received + 1) != nullptr) return true;
  }
  return false;
}

void ShmChannel::reject_source(std::uint32_t source) const noexcept {
  fatal(nullptr, "a message says that it comes from PE %u, allowed are the PEs of this node, below %d", source,
        n_pes());
}

void ShmChannel::reject_length(int source, std::size_t bytes, std::size_t allowed) noexcept {
  fatal(nullptr, "a message of PE %d says that it has %zu bytes, allowed are %zu", source, bytes, allowed);
}

void ShmChannel::reject_cell(int source, std::size_t cell) const noexcept {
  if (cell < parts_.layout().cell_count)
    fatal(nullptr, "cell %zu of PE %d holds what no PE of this library sends", cell, source);
  fatal(nullptr, "a message of PE %d says that it lies in cell %zu, allowed are those below %zu", source, cell,
        parts_.layout().cell_count);
}

void ShmChannel::reject_number(int source, Number number, Number expected) noexcept {
  fatal(nullptr, "a message of PE %d has number %u, expected is %u", source, number, expected);
}

}  // namespace shmemx::nemesis
