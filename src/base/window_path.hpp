// How operations on an attached window access the memory of another PE.
#pragma once

#include <cstdint>

namespace shmemx {

enum class WindowPath : std::uint32_t {
  automatic = 0,
  mapped = 1,   // load and store
  cma = 2,      // process_vm_readv and process_vm_writev; atomics and accumulates use messages
  messages = 3  // the owner executes the operations
};

}  // namespace shmemx
