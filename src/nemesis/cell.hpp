// A cell: the element of all queues and stores. It lies in memory that several processes map at different addresses,
// so links are distances from the queue that the cell is in. Both lie in one mapping, which makes the distance the same
// for everybody. Distance 0 is the queue itself and means "no cell": memory of zeros is an empty queue.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/cache_line.hpp"

namespace shmemx::nemesis {

using Offset = std::uint64_t;
inline constexpr Offset kNull = 0;

struct Cell {
  std::atomic<Offset> next;  // the cell behind this one in the queue it is in
  std::byte* payload() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  const std::byte* payload() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }
};
static_assert(sizeof(Cell) == 8 && std::is_standard_layout_v<Cell>);
static_assert(std::atomic<Offset>::is_always_lock_free);

// Distances wrap: a cell may lie before the queue.
inline Offset distance(const void* queue, const Cell* cell) noexcept {
  return reinterpret_cast<std::uintptr_t>(cell) - reinterpret_cast<std::uintptr_t>(queue);
}
inline Cell* cell_at(void* queue, Offset offset) noexcept {
  return reinterpret_cast<Cell*>(reinterpret_cast<std::uintptr_t>(queue) + offset);
}

}  // namespace shmemx::nemesis
