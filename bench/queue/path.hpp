// One configuration of messages between processes: a queue, a place for free cells, with or without fastboxes.
#pragma once

#include <cstring>

#include "region.hpp"

namespace shmemx::bench {

struct Note {  // the content of a cell or a box
  std::uint32_t source;
  Number number;
  std::uint64_t value;
};

// Private state of a process.
struct OwnState {
  BoxWriter writer;
  BoxReader reader;
  Number known = 0;
  Number sent = 0;
  Number received = 0;
  Cell* held = nullptr;  // received by the queue before its turn
  Cell* top = nullptr;   // of the private stack of free cells
  std::array<Cell*, kMaxProcesses * 64> list{};
  std::size_t list_size = 0;
};

// The template parameters.
enum class Head { shadow, plain };
enum class Box { none, unused, used };  // unused: the receiver polls the box, messages use the queue

// If the sender has no free cell, it moves all returned cells to a private stack: linked through the cells, or as a
// separate list.
template <bool kLinked>
class TakenInBatches {
 public:
  TakenInBatches(Place& place, OwnState& own) : at_sender_(place.free_queues.data(), sizeof(MpscQueue)), own_(&own) {}

  Cell* try_take(int sender, int receiver) const noexcept {
    if (is_empty()) {
      while (Cell* const cell = at_sender_.try_take(sender, receiver)) push(cell);
      if (is_empty()) return nullptr;
    }
    return pop();
  }
  void give_back(Cell* cell, int sender, int receiver) const noexcept { at_sender_.give_back(cell, sender, receiver); }

 private:
  bool is_empty() const noexcept { return kLinked ? own_->top == nullptr : own_->list_size == 0; }
  void push(Cell* cell) const noexcept {
    if constexpr (kLinked) {
      const Offset below = own_->top == nullptr ? kNull : distance(own_, own_->top);
      cell->next.store(below, std::memory_order_relaxed);  // private
      own_->top = cell;
    } else {
      own_->list[own_->list_size++] = cell;
    }
  }
  Cell* pop() const noexcept {
    if constexpr (!kLinked) return own_->list[--own_->list_size];
    Cell* const cell = own_->top;
    const Offset below = cell->next.load(std::memory_order_relaxed);  // private
    own_->top = below == kNull ? nullptr : cell_at(own_, below);
    return cell;
  }
  FreeAtSender at_sender_;
  OwnState* own_;
};

template <class Free>
Free free_cells_of(Place& place, OwnState& own) {
  if constexpr (std::is_same_v<Free, TakenInBatches<true>> || std::is_same_v<Free, TakenInBatches<false>>) {
    return {place, own};
  } else if constexpr (std::is_same_v<Free, FreeAtSender>) {
    return {place.free_queues.data(), sizeof(MpscQueue)};
  } else if constexpr (std::is_same_v<Free, FreeAtReceiver>) {
    return {place.free_stacks.data(), sizeof(CellStack)};
  } else {
    return FreeGlobal(place.free_stacks[0]);
  }
}

template <Head kHead, class Free, Box kBox>
class Path {
 public:
  Path(Place& place, OwnState& own, int me)
      : place_(place), own_(own), free_(free_cells_of<Free>(place, own)), me_(me) {}

  // Gives each process its cells.
  static void fill(Place& place, int processes) {
    OwnState nobody;
    const Free free = free_cells_of<Free>(place, nobody);
    for (int i = 0; i < processes; ++i)
      for (std::size_t c = 0; c < place.cell_count; ++c) free.give_back(place.cell(i, c), i, i == 0 ? 1 : 0);
  }

  void send(int to, std::uint64_t value) {
    if constexpr (kBox == Box::used) {
      Boxes& boxes = place_.boxes[index(to)];
      if (BoxSlot* const slot = own_.writer.try_claim(boxes.box, boxes.consumed, own_.known)) {
        std::memcpy(slot->payload, &value, sizeof value);
        own_.writer.publish(*slot, ++own_.sent);
        return;
      }
    }
    Cell* const cell = take(to);
    const Note note{static_cast<std::uint32_t>(me_), ++own_.sent, value};
    std::memcpy(cell->payload(), &note, sizeof note);
    put(to, cell);
  }

  bool try_receive(std::uint64_t& value) {
    if constexpr (kBox != Box::none) {
      Boxes& boxes = place_.boxes[index(me_)];
      if (BoxSlot* const slot = own_.reader.find(boxes.box, own_.received + 1)) {
        std::memcpy(&value, slot->payload, sizeof value);
        own_.reader.release(own_.received + 1);
        count();
        return true;
      }
      if (own_.held != nullptr) return deliver(own_.held, value);
    }
    Cell* const cell = try_get();
    return cell != nullptr && deliver(cell, value);
  }

  std::uint64_t receive() {
    std::uint64_t value = 0;
    poll_until([&] { return try_receive(value); });
    return value;
  }

  // Sends a long message, cut into cells, copied in and out.
  void send_bytes(int to, std::span<const std::byte> message) {
    const std::size_t room = place_.cell_bytes - sizeof(Cell) - sizeof(Note);
    while (!message.empty()) {
      Cell* const cell = take(to);
      const std::size_t bytes = std::min(room, message.size());
      const Note note{static_cast<std::uint32_t>(me_), 0, bytes};
      std::memcpy(cell->payload(), &note, sizeof note);
      std::memcpy(cell->payload() + sizeof note, message.data(), bytes);
      put(to, cell);
      message = message.subspan(bytes);
    }
  }
  void receive_bytes(std::span<std::byte> message) {
    while (!message.empty()) {
      Cell* cell = nullptr;
      poll_until([&] { return (cell = try_get()) != nullptr; });
      Note note;
      std::memcpy(&note, cell->payload(), sizeof note);
      std::memcpy(message.data(), cell->payload() + sizeof note, note.value);
      free_.give_back(cell, static_cast<int>(note.source), me_);
      message = message.subspan(note.value);
    }
  }

 private:
  static std::size_t index(int process) { return static_cast<std::size_t>(process); }

  Cell* take(int to) {
    Cell* cell = nullptr;
    poll_until([&] { return (cell = free_.try_take(me_, to)) != nullptr; });
    return cell;
  }
  void put(int to, Cell* cell) {
    if constexpr (kHead == Head::shadow) {
      place_.receive[index(to)].enqueue(cell);
    } else {
      place_.plain_receive[index(to)].enqueue(cell);
    }
  }
  Cell* try_get() {
    if constexpr (kHead == Head::shadow) {
      return place_.receive[index(me_)].try_dequeue();
    } else {
      return place_.plain_receive[index(me_)].try_dequeue();
    }
  }
  bool deliver(Cell* cell, std::uint64_t& value) {
    Note note;
    std::memcpy(&note, cell->payload(), sizeof note);
    if constexpr (kBox != Box::none) {
      if (note.number != own_.received + 1) {  // an earlier message is in the box
        own_.held = cell;
        return false;
      }
      own_.held = nullptr;
      count();
    }
    value = note.value;
    free_.give_back(cell, static_cast<int>(note.source), me_);
    return true;
  }
  void count() {
    place_.boxes[index(me_)].consumed.count.store(++own_.received, std::memory_order_release);  // done
  }

  Place& place_;
  OwnState& own_;
  Free free_;
  int me_;
};

}  // namespace shmemx::bench
