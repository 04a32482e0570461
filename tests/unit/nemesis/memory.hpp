// Memory of zeros with queues and cells in it, as processes would map it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "nemesis/cell.hpp"

namespace queue_test {

using shmemx::kCacheLine;
using shmemx::nemesis::Cell;

struct Free {
  void operator()(std::byte* memory) const noexcept { std::free(memory); }
};

// Half of the cells lie before `middle()`, half behind it: distances of both signs.
class Memory {
 public:
  static constexpr std::size_t kMiddleBytes = 64 * kCacheLine;

  explicit Memory(std::size_t cells, std::size_t cell_bytes = kCacheLine) : cells_(cells), cell_bytes_(cell_bytes) {
    const std::size_t bytes = cells * cell_bytes + kMiddleBytes;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kCacheLine, bytes)));
    std::memset(memory_.get(), 0, bytes);
  }

  Cell* cell(std::size_t index) const {
    const std::size_t gap = index < cells_ / 2 ? 0 : kMiddleBytes;
    return reinterpret_cast<Cell*>(memory_.get() + index * cell_bytes_ + gap);
  }
  template <class T>
  T& middle(std::size_t offset = 0) const {
    return *reinterpret_cast<T*>(memory_.get() + cells_ / 2 * cell_bytes_ + offset);
  }
  std::size_t cells() const { return cells_; }

 private:
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t cells_;
  std::size_t cell_bytes_;
};

// A word of a structure, as its layout promises it.
inline std::atomic<std::uint64_t>& word_at(void* structure, std::size_t bytes) {
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(static_cast<std::byte*>(structure) + bytes);
}

}  // namespace queue_test
