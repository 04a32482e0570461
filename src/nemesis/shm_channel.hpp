// Messages between the PEs of a node: short ones through fastboxes, others through cells and the receive queue. The
// messages of one source are delivered in the order of sending, whichever of the two they took; messages of different
// sources have no order. A message fits a cell (max_payload_bytes()).
//
// The first message to a PE goes through a cell and announces the box; later ones may use the box. All messages of an
// ordered pair carry numbers: the receiver takes a cell only when the messages in front of it, which lie in the box or
// in the line that the pair shares, have been executed. Short messages that find no room in the box share a cell
// (shared_cell.hpp). The receiver writes how many it has executed (`Consumed`), and
// messages in the other direction carry that number too.
//
// One object for each PE, used by one thread at a time. Nothing waits: the functions return false if there is no room
// or no message. Data from peers are not trusted; damaged ones end the job.
//
// Delivery: deliver(const ShmMessage&) returns false if it keeps the message's cell, which give_back() returns later.
// For a message in a box the result is ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "base/doorbell.hpp"
#include "nemesis/box_cells.hpp"
#include "nemesis/cell_credits.hpp"
#include "nemesis/fastbox.hpp"
#include "nemesis/layout.hpp"
#include "nemesis/message.hpp"
#include "nemesis/shared_cell.hpp"
#include "nemesis/unflushed_pes.hpp"

namespace shmemx::nemesis {

// Where the shared memory of two PEs lies, and the peer's doorbell: computed at the first message in either direction.
struct ShmPlaces {
  PairLine* line;
  Fastbox* box_to;              // that we write
  Fastbox* box_from;            // that we read
  Consumed* consumed;           // how many of its messages we have executed
  const Consumed* consumed_by;  // how many of ours it has executed
  Doorbell* doorbell;
};

// What a channel knows of a peer. Zeros until first contact.
struct alignas(kCacheLine) ShmPeer {
  Number sent;        // messages sent to it
  Number executed;    // of those, how many we know it has executed
  Number received;    // messages of it that we have executed
  bool is_unflushed;  // in the list of unflushed PEs
  bool writes_box;    // it knows that we use our box
  bool reads_box;     // it has announced that it uses its box
  LineUser in_line;
  BoxWriter writer;
  BoxReader reader;
  ShmPlaces places;              // null before the first message
  BoxCellName cells[kBoxSlots];  // behind the slots of our box
  OpenCell open_cell;            // that takes further messages to it
};
static_assert(sizeof(ShmPeer) == 2 * kCacheLine);  // a power of two: an index is a shift
static_assert(offsetof(ShmPeer, places) == kCacheLine);

// The spans are private memory of zeros, one element for each PE, of which only those of PEs in contact are touched.
// All that is named here stays.
struct ShmSetup {
  Parts parts;
  int me;
  Doorbells doorbells;
  std::span<ShmPeer> peers;
  std::vector<std::int32_t>* box_sources;  // empty
  std::span<std::uint32_t> cells_in_use;
  BoxCells* box_cells;
  UnflushedPes* unflushed;
};

// What a receiver has found that waits for one message: nothing, a message that it has not taken, or its message.
enum class Taken : std::uint8_t { nothing, not_it, yes };

class ShmChannel {
 public:
  void open(const ShmSetup& setup) noexcept;
  bool is_open() const noexcept { return peers_.data() != nullptr; }
  int me() const noexcept { return me_; }
  int n_pes() const noexcept { return static_cast<int>(peers_.size()); }
  std::size_t max_payload_bytes() const noexcept { return parts_.layout().cell_bytes - sizeof(CellHeader); }
  Doorbell& doorbell_of(int pe) const noexcept { return doorbells_.at(pe); }

  // ---- sending ----
  // Sends through the line that both share, or through the box. Returns false if the box is full or not yet in use, as
  // for PEs of other nodes, or if the message does not fit.
  [[gnu::always_inline]] bool try_send_in_box(int pe, std::uint8_t handler, Bytes header, Bytes payload) noexcept {
    if (header.size() + payload.size() > kBoxPayloadBytes) return false;
    ShmPeer& peer = peer_of(pe);
    if (!peer.writes_box) [[unlikely]]
      return false;
    if (!peer.is_unflushed) [[unlikely]]
      note_unflushed(pe, peer);
    Doorbell* const doorbell = write(
        peer, handler, header.size() + payload.size(), [&](std::byte * to) __attribute__((always_inline)) {
          copy_short(to, header.data(), header.size());
          copy_short(to + header.size(), payload.data(), payload.size());
        });
    if (doorbell == nullptr) return false;
    wake(*doorbell);
    return true;
  }
  // Sends for a caller that keeps nothing in memory: calls nothing but fill(to), which writes the `bytes`, few and
  // known to the compiler. Returns the doorbell of the PE, which the caller wakes; null if the message has to be sent
  // in another way.
  template <class Fill>
  [[gnu::always_inline]] Doorbell* send_at_once(int pe, std::uint8_t handler, std::size_t bytes, Fill fill) noexcept {
    if (bytes > kBoxPayloadBytes) return nullptr;
    ShmPeer& peer = peer_of(pe);
    if (!peer.writes_box || !peer.is_unflushed) [[unlikely]]
      return nullptr;
    return write(peer, handler, bytes, fill);
  }
  // Sends in a cell that the box names: for messages that do not fit a slot and that no receiver keeps. Returns false
  // if the box is full or not yet in use, or has no cell.
  bool try_send_behind_box(int pe, std::uint8_t handler, Bytes header, Bytes payload) noexcept;
  // Adds a message to the cell that was sent to the PE last, if its receiver has not taken that yet. Returns false if
  // there is none, or if the message does not fit.
  bool try_send_in_shared_cell(int pe, std::uint8_t handler, Bytes header, Bytes payload) noexcept;
  // Sends in a cell. Returns false if no cell may be used. Requires that the message fits.
  bool try_send_in_cell(int pe, std::uint8_t handler, Bytes header, Bytes payload, CellUse use) noexcept;
  // Returns whether `pe` has executed what was sent to it, up to message `number`.
  bool has_executed(int pe, Number number) noexcept;
  // Returns the number of the last message to `pe`.
  Number last_sent(int pe) const noexcept { return peers_[static_cast<std::size_t>(pe)].sent; }
  // For UnflushedPes::drop().
  bool drop_if_flushed(int pe) noexcept;

  // ---- receiving ----
  // Calls take(payload) if the next message of `source` lies in the line or its box and is for `handler`, without
  // delivering it. If that returns true, the message is executed. Otherwise it stays.
  template <class Take>
  [[gnu::always_inline]] Taken take_next(int source, std::uint8_t handler, Take take) noexcept {
    ShmPeer& peer = peer_of(source);
    if (!peer.reads_box) return Taken::nothing;
    LineHeader head;
    if (const PairLine* const line = look_at_line(source, peer, head)) {
      if (head.handler != handler || !take(Bytes{line->payload, head.bytes})) return Taken::not_it;
      ++peer.in_line.turn;
      finish(peer);
      return Taken::yes;
    }
    BoxHeader box;
    BoxSlot* const slot = next_in_box(peer, box);
    if (slot == nullptr) return Taken::nothing;
    if (box.handler != handler || !take(payload_of(source, *slot, box))) return Taken::not_it;
    leave_box(peer);
    return Taken::yes;
  }
  // Takes for a caller that keeps nothing in memory: calls nothing but take(payload), and takes a message of that
  // length alone, which a line has room for. Looks into the box first while the line is in a pause. Returns the
  // doorbell of `source`, which the caller wakes; null if no message was taken.
  template <class Take>
  [[gnu::always_inline]] Doorbell* take_at_once(int source, const MessageKind& kind, Take take) noexcept {
    ShmPeer& peer = peer_of(source);
    if (!peer.reads_box) return nullptr;
    const Number number = peer.received + 1;
    const bool is_pause = peer.in_line.written != 0;
    const PairLine& line = *peer.places.line;
    if (is_pause || !is_next(line, peer.in_line, number)) {
      const BoxSlot& slot = peer.reader.next(*peer.places.box_from);
      if (peer.reader.holds(slot, number)) {
        if (kind_of<BoxHeader>(slot.head) != kind || !take(slot.payload)) return nullptr;
        learn(peer, executed_of<BoxHeader>(slot.head));
        peer.reader.release(number);
        return &note_taken(peer, number);
      }
      if (!is_pause || !look_after_pause(line, peer.in_line, number)) return nullptr;
    }
    if (kind_of<LineHeader>(line.head) != kind || !take(line.payload)) return nullptr;
    learn(peer, executed_of<LineHeader>(line.head));
    ++peer.in_line.turn;
    return &note_taken(peer, number);
  }
  // Delivers the next message of `source` if it lies in the line or its box.
  template <class Deliver>
  bool poll_box(int source, const Deliver& deliver) noexcept {
    ShmPeer& peer = peer_of(source);
    if (!peer.reads_box) return false;
    LineHeader head;
    if (const PairLine* const line = look_at_line(source, peer, head)) {
      // The handler's own message may go to the same line.
      alignas(16) std::byte payload[kLinePayloadBytes];
      std::memcpy(payload, line->payload, sizeof payload);
      ++peer.in_line.turn;
      deliver(ShmMessage{source, head.handler, {payload, head.bytes}, nullptr});
      finish(peer);
      return true;
    }
    BoxHeader box;
    BoxSlot* const slot = next_in_box(peer, box);
    if (slot == nullptr) return false;
    deliver(ShmMessage{source, box.handler, payload_of(source, *slot, box), nullptr});
    leave_box(peer);
    return true;
  }
  // Delivers what lies in all lines and boxes, at most a boxful of each source.
  template <class Deliver>
  bool poll_boxes(const Deliver& deliver) noexcept {
    bool any = false;
    for (std::size_t next = 0; next < box_sources_->size(); ++next) {
      const int source = (*box_sources_)[next];
      for (std::size_t i = 0; i < kBoxSlots && poll_box(source, deliver); ++i) any = true;
    }
    return any;
  }
  // Delivers what lies in the receive queue, until that have been kMessagesPerPoll or more.
  template <class Deliver>
  bool poll_queue(const Deliver& deliver) noexcept {
    for (unsigned messages = 0; messages < kMessagesPerPoll;) {
      Cell* const cell = parts_.control(me_).receive.try_dequeue();
      if (cell == nullptr) return messages != 0;
      messages += receive_cell(CellHeader::of(cell), deliver);
    }
    return true;
  }
  // Returns a cell that deliver() has kept to its owner.
  void give_back(Cell* cell) noexcept;
  // Returns whether the receive queue holds anything; the second one, whether it or a box does.
  bool has_cells() noexcept { return !parts_.control(me_).receive.maybe_empty(); }
  bool has_messages() noexcept;

 private:
  static constexpr unsigned kMessagesPerPoll = 32;  // then the caller looks at what it waits for

  ShmPeer& peer_of(int pe) noexcept { return peers_[static_cast<std::size_t>(pe)]; }
  void meet(int pe, ShmPeer& peer) noexcept {
    if (peer.places.doorbell == nullptr) [[unlikely]]
      find_places(pe, peer);
  }
  [[gnu::noinline, gnu::cold]] void find_places(int pe, ShmPeer& peer) const noexcept;
  // Sends a message of that length, which has room in a slot, by fill(to). Returns the doorbell to wake; null if the
  // box is full.
  template <class Fill>
  [[gnu::always_inline]] static Doorbell* write(ShmPeer& peer, std::uint8_t handler, std::size_t bytes,
                                                Fill fill) noexcept {
    const auto short_bytes = static_cast<std::uint16_t>(bytes);
    if (bytes <= kLinePayloadBytes && peer.in_line.may_write()) {
      PairLine& line = *peer.places.line;
      ++peer.sent;
      new (line.head) LineHeader{peer.sent, peer.received, handler, 0, short_bytes};
      fill(line.payload);
      line.turn.store(++peer.in_line.turn, std::memory_order_release);  // turn
      peer.in_line.written = now_cycles() | 1;
      return peer.places.doorbell;
    }
    if (!peer.writer.has_room(*peer.places.consumed_by, peer.executed)) return nullptr;
    BoxSlot& slot = peer.writer.next(*peer.places.box_to);
    new (slot.head) BoxHeader{peer.received, handler, 0, short_bytes, 0};
    fill(slot.payload);
    peer.writer.publish(slot, ++peer.sent);
    return peer.places.doorbell;
  }
  void note_sent(int pe, ShmPeer& peer) noexcept {
    ++peer.sent;
    if (!peer.is_unflushed) [[unlikely]]
      note_unflushed(pe, peer);
  }
  void note_unflushed(int pe, ShmPeer& peer) noexcept;
  // Returns whether message `number` lies in the line. In a pause false: a look would only delay the message that it
  // waits for. Requires that this side has written.
  [[gnu::always_inline]] static bool look_after_pause(const PairLine& line, LineUser& user, Number number) noexcept {
    const Cycles since = now_cycles() - user.written;
    const Cycles pause = pause_of(user.pause_steps);
    if (since < pause) return false;
    user.written = 0;
    const bool found = is_next(line, user, number);
    if (since - pause < kPromptLook) user.pause_steps = next_steps(user.pause_steps, found);
    return found;
  }
  // Returns whether message `number` lies in the line. Requires reads_box.
  [[gnu::always_inline]] static bool is_next(const PairLine& line, const LineUser& user, Number number) noexcept {
    const LineTurn turn = user.turn;
    if (user.may_write()) return false;
    const auto there = static_cast<LineTurn>(line.turn.load(std::memory_order_acquire));  // turn
    if (there != static_cast<LineTurn>(turn + 1)) return false;
    Number its_number = 0;
    std::memcpy(&its_number, line.head, sizeof its_number);
    return its_number == number;
  }
  // next_in_line(), but in a pause nothing.
  [[gnu::always_inline]] const PairLine* look_at_line(int source, ShmPeer& peer, LineHeader& head) const noexcept {
    LineUser& user = peer.in_line;
    if (user.written == 0) return next_in_line(source, peer, head);
    const PairLine& line = *peer.places.line;
    return look_after_pause(line, user, peer.received + 1) ? &read_line(source, peer, head) : nullptr;
  }
  // A message says how many of ours its sender has executed.
  [[gnu::always_inline]] static void learn(ShmPeer& peer, Number executed) noexcept {
    if (reached(executed, peer.executed)) peer.executed = executed;
  }
  // Returns the line with the next message of `source`, and its header; null if it does not lie there. Requires
  // reads_box, like next_in_box().
  [[gnu::always_inline]] const PairLine* next_in_line(int source, ShmPeer& peer, LineHeader& head) const noexcept {
    if (!is_next(*peer.places.line, peer.in_line, peer.received + 1)) return nullptr;
    return &read_line(source, peer, head);
  }
  // Returns the line and its header where the message is known to lie there.
  [[gnu::always_inline]] const PairLine& read_line(int source, ShmPeer& peer, LineHeader& head) const noexcept {
    const PairLine& line = *peer.places.line;
    std::memcpy(&head, line.head, sizeof head);
    if (head.bytes > kLinePayloadBytes) [[unlikely]]
      reject_length(source, head.bytes, kLinePayloadBytes);
    learn(peer, head.executed);
    return line;
  }
  // Returns the slot with the next message of `source`, and its header; null if it does not lie in the box.
  [[gnu::always_inline]] BoxSlot* next_in_box(ShmPeer& peer, BoxHeader& box) noexcept {
    BoxSlot* const slot = peer.reader.find(*peer.places.box_from, peer.received + 1);
    if (slot == nullptr) return nullptr;
    std::memcpy(&box, slot->head, sizeof box);
    learn(peer, box.executed);
    return slot;
  }
  [[gnu::always_inline]] Bytes payload_of(int source, const BoxSlot& slot, const BoxHeader& box) const noexcept {
    if (box.bytes > kBoxPayloadBytes) [[unlikely]]
      return payload_behind_box(source, slot, box);
    return {slot.payload, box.bytes};
  }
  [[gnu::noinline]] Bytes payload_behind_box(int source, const BoxSlot& slot, const BoxHeader& box) const noexcept;
  [[gnu::always_inline]] void leave_box(ShmPeer& peer) noexcept {
    peer.reader.release(peer.received + 1);
    finish(peer);
  }
  void finish(ShmPeer& peer) noexcept { wake(note_taken(peer, peer.received + 1)); }
  // Notes that message `number` has been executed. Returns the doorbell to wake.
  [[gnu::always_inline]] static Doorbell& note_taken(ShmPeer& peer, Number number) noexcept {
    peer.received = number;
    peer.places.consumed->count.store(number, std::memory_order_release);  // done
    return *peer.places.doorbell;
  }
  // Returns the number of messages in it.
  template <class Deliver>
  unsigned receive_cell(CellHeader& cell, const Deliver& deliver) noexcept {
    const auto source = static_cast<int>(cell.source);
    if (cell.source >= peers_.size() || parts_.index_of(source) >= parts_.layout().n_pes) reject_source(cell.source);
    const std::uint32_t bytes = cell.bytes;
    if (bytes > max_payload_bytes()) reject_length(source, bytes, max_payload_bytes());
    ShmPeer& peer = peer_of(source);
    meet(source, peer);
    receive_in_front(source, peer, cell.number, deliver);
    note_cell(cell, peer);
    const bool is_shared = cell.filled.load(std::memory_order_relaxed) != 0;
    const ShmMessage message{source, cell.handler, {cell.payload(), bytes}, is_shared ? nullptr : &cell.link};
    const bool is_done = deliver(message);
    finish(peer);
    const unsigned further = is_shared ? receive_further(cell, source, deliver) : 0;
    if (is_done || is_shared) give_back(&cell.link);
    return 1 + further;
  }
  // What was sent before a message in a cell and is not here yet lies in the line or the box: those were filled before
  // it was sent.
  template <class Deliver>
  void receive_in_front(int source, ShmPeer& peer, Number number, const Deliver& deliver) noexcept {
    while (peer.received + 1 != number) {
      peer.in_line.written = 0;
      if (!poll_box(source, deliver)) reject_number(source, number, peer.received + 1);
    }
  }
  template <class Deliver>
  [[gnu::noinline]] unsigned receive_further(CellHeader& cell, int source, const Deliver& deliver) noexcept {
    ShmPeer& peer = peer_of(source);
    FurtherMessages messages(cell, parts_.layout().cell_bytes);
    FurtherHeader further;
    for (unsigned count = 0;; ++count) {
      const Further found = messages.next(further);
      if (found == Further::nothing) return count;
      if (found == Further::damage) reject_cell(source, parts_.index_of_cell(source, &cell.link));
      receive_in_front(source, peer, further.number, deliver);
      if (reached(further.executed, peer.executed)) peer.executed = further.executed;
      deliver(ShmMessage{source, further.handler, messages.payload(further), nullptr});
      finish(peer);
      messages.pass(further);
    }
  }
  void note_cell(const CellHeader& cell, ShmPeer& peer) noexcept;
  [[noreturn, gnu::cold, gnu::noinline]] void reject_source(std::uint32_t source) const noexcept;
  [[noreturn, gnu::cold, gnu::noinline]] static void reject_length(int source, std::size_t bytes,
                                                                   std::size_t allowed) noexcept;
  [[noreturn, gnu::cold, gnu::noinline]] void reject_cell(int source, std::size_t cell) const noexcept;
  [[noreturn, gnu::cold, gnu::noinline]] static void reject_number(int source, Number number, Number expected) noexcept;

  // What every message needs stands first.
  std::span<ShmPeer> peers_;
  Doorbells doorbells_;
  int me_ = 0;
  Parts parts_;
  CellCredits credits_;
  BoxCells* box_cells_ = nullptr;
  std::vector<std::int32_t>* box_sources_ = nullptr;  // sources that use their box
  UnflushedPes* unflushed_ = nullptr;
};

}  // namespace shmemx::nemesis
