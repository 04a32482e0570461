// How the PEs of a node reach each other's memory.
#pragma once

#include <cstdint>

namespace shmemx {

enum class NodePath : std::uint32_t {
  automatic = 0,
  direct = 1,  // every PE maps the memory of all PEs
  queue = 2    // each PE maps its own only; the target executes what others ask for by messages
};

}  // namespace shmemx
