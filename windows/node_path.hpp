// Which way the PEs of a node reach each other's memory, and the layout that goes with it. Pure functions of the
// records, so every PE comes to the same answer.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.hpp"
#include "bootstrap/wire.hpp"
#include "windows/geometry.hpp"

namespace shmemx::windows {

struct NodePlan {
  NodePath path = NodePath::direct;  // direct or queue
  bool room_for_all = true;          // the address space could hold the blocks of all PEs of the node
  Geometry geometry;
  std::string why;      // one clause for SHMEM_DEBUG
  std::string warning;  // to the user: the size of the heap keeps memory from being mapped; or empty
};

// Are the wishes the same where they have to be? The error names variable, PEs and values.
Status check_agreement(std::span<const bootstrap::RecordOfPe> records);

// Wishes that agree. Heap: the smallest wish; where nobody asked for a size, less when the tightest address space
// leaves less. The address space has to hold the blocks of a node's PEs, however many others the job has.
Result<NodePlan> plan_node(std::span<const bootstrap::RecordOfPe> records, const Sharing& sharing,
                           std::size_t channel_bytes);

}  // namespace shmemx::windows
