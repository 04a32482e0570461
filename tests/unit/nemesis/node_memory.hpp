// The channel region of a node whose PEs live in one process.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>

#include "memory.hpp"
#include "nemesis/layout.hpp"
#include "nemesis/message.hpp"

namespace queue_test {

struct NodeMemory {
  NodeMemory(std::size_t n_pes, std::size_t cell_bytes, std::size_t cell_count, shmemx::NodePes pes = {})
      : layout(shmemx::nemesis::make_layout(n_pes, cell_bytes, cell_count)) {
    memory.reset(static_cast<std::byte*>(std::aligned_alloc(kCacheLine, layout.total_bytes)));
    std::memset(memory.get(), 0, layout.total_bytes);
    parts = {memory.get(), layout, pes};
  }

  shmemx::nemesis::Layout layout;
  std::unique_ptr<std::byte, Free> memory;
  shmemx::nemesis::Parts parts;
};

}  // namespace queue_test
