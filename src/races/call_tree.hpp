// The calls that led to accesses, as a tree that all PEs share: a node is a call in its parent's function.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "races/spin_lock.hpp"

namespace shmemx::races {

struct Call {
  std::uint32_t parent = 0;   // 0: the outermost
  std::uint32_t site = 0;     // return address less the executable's begin; 0: elsewhere
  std::uint32_t routine = 0;  // of the library, as RoutineName has it; 0: a function of the program
};

// Names of routines are literals of this library, so all PEs have them at the same distance from its begin.
std::uint32_t routine_number(const char* literal) noexcept;
const char* routine_text(std::uint32_t number) noexcept;

class CallTree {
 public:
  static std::size_t bytes() noexcept;
  void open(std::byte* memory) noexcept { memory_ = memory; }
  // Returns 0 if there is no room, or no memory yet.
  std::uint32_t add(const Call& call) noexcept;
  Call at(std::uint32_t node) const noexcept;

 private:
  struct Node {
    std::atomic<std::uint32_t> is_complete;
    Call call;
  };
  struct Header {
    SpinLock lock;
  };
  std::byte* memory_ = nullptr;

  Node* nodes() const noexcept { return reinterpret_cast<Node*>(memory_ + sizeof(Header)); }
};

}  // namespace shmemx::races
