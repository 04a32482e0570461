// How the PEs of a node reach each other's memory.
#pragma once

#include <cstdint>

namespace shmemx {

enum class NodePath : std::uint32_t {
  automatic = 0,
  direct = 1,  // every PE maps the memory of all PEs
  queue =
      2  // each PE maps its own memory only; the target executes the operations of others, which are sent as messages
};

}  // namespace shmemx
