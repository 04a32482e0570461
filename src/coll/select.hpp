// Which algorithm a collective over several nodes takes. All members must come to the same answer, so what is asked
// here depends on what all know: lengths, the number of nodes and their sizes.
#pragma once

#include <cstddef>

#include "coll/nodes.hpp"

namespace shmemx::coll::select {

// Broadcasts travel in pieces, so that a node passes on the first ones while others come. To one node without peers
// they travel whole.
inline std::size_t broadcast_segment(const TeamNodes& nodes) noexcept {
  constexpr std::size_t kSegmentBytes = std::size_t{128} << 10;
  constexpr std::size_t kWhole = std::size_t{8} << 20;
  return nodes.count() == 2 && nodes.members.size() == 2 ? kWhole : kSegmentBytes;
}
// Up to here a node's representative writes into the dest of its node peers; beyond they copy for themselves.
inline constexpr std::size_t kPushBytes = 16384;

// A chain of nodes sends everything once from each; a tree reaches the last node earlier.
inline bool broadcast_in_chain(const TeamNodes& nodes, std::size_t bytes) noexcept {
  constexpr std::size_t kChainSegments = 8;  // for each node on the way
  return nodes.count() > 3 &&
         bytes >= kChainSegments * broadcast_segment(nodes) * static_cast<std::size_t>(nodes.count());
}

// The root sends to all nodes itself.
inline bool broadcast_flat(const TeamNodes& nodes, std::size_t bytes) noexcept {
  return nodes.count() <= 4 && bytes <= kPushBytes;
}

// Leaders tell each other everything: one step, but a message to each.
inline bool leaders_exchange_flat(const TeamNodes& nodes) noexcept { return nodes.count() <= 3; }

// The leaders do it all, or the PEs of all nodes by shares.
inline bool reduce_by_leaders(const TeamNodes& nodes, std::size_t bytes) noexcept {
  constexpr std::size_t kShortBytes = 8192;
  constexpr std::size_t kLeastPiece = 1024;  // what one node computes for the others
  return bytes <= kShortBytes || bytes / static_cast<std::size_t>(nodes.count()) < kLeastPiece;
}
// What one PE computes for the others at a time.
inline constexpr std::size_t kReduceBytes = std::size_t{512} << 10;

// fcollect and collect: a node's contributions in one message, or each PE for itself. `bytes`: of all together.
inline bool gather_by_leaders(const TeamNodes& nodes, std::size_t bytes) noexcept {
  constexpr std::size_t kShortBytes = 32768;
  constexpr int kFewNodes = 3;
  const bool combines = nodes.count() < static_cast<int>(nodes.members.size());
  return bytes <= kShortBytes && (combines || nodes.count() > kFewNodes);
}

// Over this many nodes short messages are combined once more, along the rows and columns of a mesh.
inline bool exchange_on_mesh(const TeamNodes& nodes) noexcept { return nodes.count() > 3; }
// alltoall: a message for each pair of nodes, or for each pair of PEs. `bytes`: of one block.
inline bool exchange_by_leaders(const TeamNodes& nodes, std::size_t bytes) noexcept {
  constexpr std::size_t kShortBlock = 512;
  constexpr std::size_t kMostOfNode = std::size_t{1} << 20;  // that a leader takes in hand
  const std::size_t n = nodes.members.size();
  if (bytes > kShortBlock || bytes * n * static_cast<std::size_t>(nodes.max_size) > kMostOfNode) return false;
  return nodes.count() < static_cast<int>(n) || exchange_on_mesh(nodes);
}

// Scans: the leaders do it all, or the PEs of all nodes by shares and block by block along the nodes.
inline bool scan_by_leaders(std::size_t bytes) noexcept {
  constexpr std::size_t kShortBytes = 8192;
  return bytes <= kShortBytes;
}
inline constexpr std::size_t kScanBlockBytes = std::size_t{64} << 10;
// What leaders tell each other of a scan at a time, of all members together.
inline constexpr std::size_t kScanGatherBytes = std::size_t{512} << 10;

}  // namespace shmemx::coll::select
