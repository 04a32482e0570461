// Where everything lies in the node's arena file. Pure arithmetic, computed alike by every PE from the job records.
//
//   job header | PE records | locations | channel region of each node | block of PE 0 | block of PE 1 | ...
//   block: collective slots | static data | doorbell page | symmetric heap | gap
//   PE 0, PE 1, ... are the PEs of the node, by node index. Where several nodes are pretended on one machine they share
//   the file, and what is one node's follows what is the other's. A PE maps what is its own node's.
//   The doorbell page ends with the Doorbell. The gap, a page or more, is mapped as all else: no object lies there, no
//   store faults.
//
// All blocks have the same size and stride, so peer address = blocks + node index * stride + offset. What the channel
// region looks like is the channel's business (nemesis/layout.hpp); here it is a number of bytes, which may be 0.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.hpp"
#include "base/doorbell.hpp"
#include "bootstrap/wire.hpp"

namespace shmemx::windows {

inline constexpr std::size_t kTeamSlots = 1024;     // teams a PE can be in at once
inline constexpr std::size_t kActiveSetSlots = 64;  // behind those: of active sets
inline constexpr std::size_t kScratchBytes = 4096;  // one of a slot's two scratch areas
inline constexpr std::size_t kControlLines = 4;     // lines of a slot beside the flags

// One team slot of one PE: a flag for each PE of the node, control lines, two scratch areas. Flags of PEs on other
// nodes are messages, which the receiver keeps in private memory.
constexpr std::size_t slot_bytes(std::size_t n_node_pes) {
  return round_up((n_node_pes + kControlLines) * kCacheLine, kScratchBytes) + 2 * kScratchBytes;
}

// How many PEs share what.
struct Sharing {
  std::size_t n_world_pes;  // of the job
  std::size_t n_node_pes;   // of its largest node: all nodes are laid out alike
  std::size_t n_nodes;      // that use the file
  std::size_t n_places;     // for PEs in the file

  // A job on one node.
  constexpr Sharing(std::size_t n_pes) : Sharing(n_pes, n_pes, 1) {}
  constexpr Sharing(std::size_t world, std::size_t node, std::size_t nodes)
      : n_world_pes(world), n_node_pes(node), n_nodes(nodes), n_places(node * nodes) {}
};

struct Geometry {
  std::size_t n_pes = 0;            // of a node: blocks that a PE can reach
  std::size_t slot_bytes = 0;       // of a team slot
  std::size_t channel_offset = 0;   // of the first node's region in the file
  std::size_t channel_bytes = 0;    // of a node's region
  std::size_t blocks_offset = 0;    // of the first node's block 0 in the file
  std::size_t stride = 0;           // from one block to the next
  std::size_t static_offset = 0;    // in a block
  std::size_t static_bytes = 0;     // the largest of all PEs
  std::size_t doorbell_offset = 0;  // in a block; the Doorbell ends where the heap begins
  std::size_t alignment = 0;        // of every heap's address: what shmem_align can give at most
  std::size_t heap_offset = 0;      // in a block, a multiple of `alignment`
  std::size_t heap_bytes = 0;       // the smallest request of all PEs
  std::size_t file_bytes = 0;
};

// Large enough for the alignment of any object, small enough not to waste a small address space.
constexpr std::size_t alignment_for_heap(std::size_t heap_bytes) {
  return std::clamp(std::bit_floor(heap_bytes / 4), kHugePageBytes, std::size_t{1} << 30);
}

constexpr Geometry make_geometry(Sharing sharing, std::size_t static_bytes, std::size_t heap_bytes,
                                 std::size_t channel_bytes = 0) {
  Geometry g;
  g.n_pes = sharing.n_node_pes;
  g.slot_bytes = slot_bytes(sharing.n_node_pes);
  g.channel_offset = bootstrap::header_bytes(sharing.n_world_pes, sharing.n_places);
  g.channel_bytes = round_up(channel_bytes, kPageBytes);
  g.blocks_offset = round_up(g.channel_offset + sharing.n_nodes * g.channel_bytes, kHugePageBytes);
  g.static_offset = round_up((kTeamSlots + kActiveSetSlots) * g.slot_bytes, kPageBytes);
  g.static_bytes = round_up(static_bytes, kPageBytes);
  g.heap_bytes = round_up(std::max<std::size_t>(heap_bytes, 1), kPageBytes);
  g.alignment = alignment_for_heap(g.heap_bytes);
  g.heap_offset = round_up(g.static_offset + g.static_bytes + kPageBytes, g.alignment);
  g.doorbell_offset = g.heap_offset - sizeof(Doorbell);
  g.stride = round_up(g.heap_offset + g.heap_bytes + kPageBytes, g.alignment);
  g.file_bytes = g.blocks_offset + sharing.n_nodes * g.n_pes * g.stride;
  return g;
}

}  // namespace shmemx::windows
