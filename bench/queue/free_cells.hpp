// Where free cells are kept: the three variations of the paper behind one interface. A sender takes a cell, the
// receiver gives it back when it has read it.
//
//   FreeAtSender    each process has its own cells; receivers enqueue them again on the owner's queue, the owner is the
//                   only one to take. No compare-and-swap loop, nobody can use up another one's cells.
//   FreeAtReceiver  each process has cells for what is sent to it; all senders take from there.
//   FreeGlobal      one store for all.
//
// The last two have many takers and so a stack with compare-and-swap. docs/decisions/0015-free-cells.md has the choice.
#pragma once

#include <concepts>

#include "bench/queue/cell_stack.hpp"
#include "nemesis/mpsc_queue.hpp"

namespace shmemx::nemesis {

template <class T>
concept FreeCells = requires(const T& free, Cell* cell, int sender, int receiver) {
  { free.try_take(sender, receiver) }
  noexcept->std::same_as<Cell*>;
  { free.give_back(cell, sender, receiver) }
  noexcept->std::same_as<void>;
};

// One store for each process, `step` bytes apart.
template <class Store>
class StoreOfEach {
 public:
  StoreOfEach(Store* stores, std::size_t step) noexcept : stores_(reinterpret_cast<std::byte*>(stores)), step_(step) {}
  Store& of(int process) const noexcept {
    return *reinterpret_cast<Store*>(stores_ + static_cast<std::size_t>(process) * step_);
  }

 private:
  std::byte* stores_;
  std::size_t step_;
};

class FreeAtSender {
 public:
  FreeAtSender(MpscQueue* stores, std::size_t step) noexcept : stores_(stores, step) {}

  Cell* try_take(int sender, int /*receiver*/) const noexcept { return stores_.of(sender).try_dequeue(); }
  void give_back(Cell* cell, int sender, int /*receiver*/) const noexcept { stores_.of(sender).enqueue(cell); }

 private:
  StoreOfEach<MpscQueue> stores_;
};

class FreeAtReceiver {
 public:
  FreeAtReceiver(CellStack* stores, std::size_t step) noexcept : stores_(stores, step) {}

  Cell* try_take(int /*sender*/, int receiver) const noexcept { return stores_.of(receiver).try_pop(); }
  void give_back(Cell* cell, int /*sender*/, int receiver) const noexcept { stores_.of(receiver).push(cell); }

 private:
  StoreOfEach<CellStack> stores_;
};

class FreeGlobal {
 public:
  explicit FreeGlobal(CellStack& store) noexcept : store_(&store) {}

  Cell* try_take(int /*sender*/, int /*receiver*/) const noexcept { return store_->try_pop(); }
  void give_back(Cell* cell, int /*sender*/, int /*receiver*/) const noexcept { store_->push(cell); }

 private:
  CellStack* store_;
};

static_assert(FreeCells<FreeAtSender> && FreeCells<FreeAtReceiver> && FreeCells<FreeGlobal>);

}  // namespace shmemx::nemesis
