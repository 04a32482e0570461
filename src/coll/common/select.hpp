// Which algorithm a collective takes. All thresholds of collectives stand here. All members must come to the same
// answer, so each choice depends on what all of them know: lengths, the number of PEs, the nodes and their sizes.
//
//   collective          on one node, all mapped                   over several nodes
//   barrier             dissemination; if PEs outnumber cores     leaders: dissemination
//                       counting up to kFlatPes, then a tree
//   broadcast           up to kPushBytes pushed: flat up to       flat up to 4 nodes and kPushBytes, a chain for very
//                       kFlatPushPes, else a tree; then pulled    long data over more than 3 nodes, else a tree
//   fcollect, collect   each PE stores to all                     leaders up to 32 KiB in all, else PE to PE
//   alltoall(s)         each PE stores to all                     leaders up to 512 bytes a block, or 8 KiB a pair of
//                                                                 nodes, else PE to PE; leaders of more than 3 nodes
//                                                                 use a mesh and take up to 512 bytes
//   reduction, scan     published up to kScratchBytes a PE and    leaders up to 8 KiB or if shares would be short,
//                       kShortReductionBytes in all, else shares  else shares
//   crowded node        of more than kFlatPes PEs: all but broadcast, scan and alltoall by the combining tree up to
//                       kTreeBytes, of more than kManyPes always; there scans go from PE to PE
//   leaders' exchange                                             direct up to 3 nodes, else in log2 rounds; its first
//                                                                 messages are of the last member to arrive on a node
//                                                                 of at most kMostSenders
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "coll/common/nodes.hpp"

namespace shmemx::coll {

// ---- one node ----

// Dissemination takes log2(n) rounds, each of which may wait until the scheduler runs a PE; counting and the tree take
// two turns.
constexpr bool barrier_counts(bool crowded, bool direct) noexcept { return crowded && direct; }

// The radix of the combining tree (node/tree.hpp): 16 to 64 measured equal, smaller ones slower with 1000 PEs.
inline constexpr int kTreeRadix = 16;
// From how many members on: where PEs outnumber cores each turn of a PE counts, but as long as waiters yield (see
// configure_sleeping() in runtime) a word that all read is reached sooner; else the lines that each PE reads.
inline constexpr int kFlatPes = 32;
inline constexpr int kManyPes = 64;
constexpr bool takes_tree(int n_pes, bool crowded) noexcept { return n_pes > (crowded ? kFlatPes : kManyPes); }
// Data go through the tree if there are few of them, `bytes` that one member gets: fewer where each PE has a core,
// since one PE of a group then copies or combines while the others wait. On crowded nodes those of very many members
// always do: each of them would touch pages of all others.
constexpr bool moves_by_tree(std::size_t bytes, int n_pes, bool crowded) noexcept {
  constexpr std::size_t kTreeBytes = 65536;
  constexpr std::size_t kUncrowdedTreeBytes = 1024;
  if (!takes_tree(n_pes, crowded)) return false;
  return bytes <= (crowded ? kTreeBytes : kUncrowdedTreeBytes) || (crowded && n_pes > kManyPes);
}

// Broadcasts up to here are stored into each dest, longer ones read from the source.
inline constexpr std::size_t kPushBytes = 16384;
// Up to here the root stores into every dest itself.
inline constexpr int kFlatPushPes = 8;

enum class NodeBroadcast : std::uint8_t { push_flat, push_tree, pull };
constexpr NodeBroadcast node_broadcast(std::size_t bytes, int n_pes, bool crowded) noexcept {
  if (bytes > kPushBytes && n_pes > 1 && !(crowded && n_pes > kManyPes)) return NodeBroadcast::pull;
  return n_pes <= kFlatPushPes ? NodeBroadcast::push_flat : NodeBroadcast::push_tree;
}
// Active sets have no tree.
constexpr bool active_broadcast_pushes(std::size_t bytes, int n_pes) noexcept {
  return bytes <= kPushBytes && n_pes <= kFlatPushPes;
}

inline constexpr std::size_t kShortReductionBytes = 16384;  // of all PEs together
// Published and computed by every PE, or computed by shares. `bytes`: of one PE.
constexpr bool reduction_publishes(std::size_t bytes, int n_pes) noexcept {
  return bytes <= windows::kScratchBytes && bytes * static_cast<std::size_t>(n_pes) <= kShortReductionBytes;
}
// With many PEs each should touch memory of few others: the sum so far goes from PE to PE.
constexpr bool scan_chains(int n_pes, bool crowded) noexcept { return crowded && n_pes > kManyPes; }
// What a reduction works on at a time: stays in the first-level cache.
inline constexpr std::size_t kCacheBlockBytes = 8192;

// ---- members whose memory is not mapped ----

inline constexpr std::size_t kMaxEagerBytes = std::size_t{64} << 20;

// What a reduction of an active set works on at a time: of each PE, within bounds, so that it is kGatherBytes of all.
constexpr std::size_t active_reduction_block(int n_pes) noexcept {
  constexpr std::size_t kGatherBytes = std::size_t{512} << 10;
  constexpr std::size_t kMinBlockBytes = 4096;
  constexpr std::size_t kMaxBlockBytes = std::size_t{64} << 10;
  return std::clamp(kGatherBytes / static_cast<std::size_t>(n_pes), kMinBlockBytes, kMaxBlockBytes);
}

// ---- several nodes ----

// A chain sends all data once from each node; a tree reaches the last node earlier.
enum class NodesBroadcast : std::uint8_t { flat, chain, tree };
inline NodesBroadcast nodes_broadcast(const TeamNodes& nodes, std::size_t bytes) noexcept {
  constexpr int kFlatNodes = 4;
  constexpr int kTreeNodes = 3;
  constexpr std::size_t kChainBytes = std::size_t{1} << 20;  // for each node on the path
  if (nodes.count() <= kFlatNodes && bytes <= kPushBytes) return NodesBroadcast::flat;
  const bool is_very_long = bytes >= kChainBytes * static_cast<std::size_t>(nodes.count());
  return nodes.count() > kTreeNodes && is_very_long ? NodesBroadcast::chain : NodesBroadcast::tree;
}

// Broadcasts travel in segments, so that a node passes on the first ones while it receives the others. Shorter ones
// cost more turns of PEs that share cores. To one node without peers they travel whole.
inline std::size_t broadcast_segment(const TeamNodes& nodes, NodesBroadcast shape) noexcept {
  constexpr std::size_t kChainSegmentBytes = std::size_t{256} << 10;
  constexpr std::size_t kTreeSegmentBytes = std::size_t{512} << 10;
  constexpr std::size_t kWholeBytes = std::size_t{8} << 20;
  if (nodes.count() == 2 && nodes.n_members() == 2) return kWholeBytes;
  return shape == NodesBroadcast::chain ? kChainSegmentBytes : kTreeSegmentBytes;
}

// On nodes with at most that many members the last one to arrive sends to another node (internode/first_round.hpp), so
// that a leader that sleeps or has no core need not run for that. Each member then has connections to other leaders;
// with more members only the leader has. Nodes of four on two cores were slower so: their leaders wait for a message
// from the beginning, which takes more turns of the cores than a wait for their members.
inline constexpr int kMostSenders = 2;

// The leaders send to each other directly: one step, but a message to each. Else in log2(n) rounds.
inline constexpr int kFewLeaders = 3;
inline bool leaders_exchange_directly(const TeamNodes& nodes) noexcept { return nodes.count() <= kFewLeaders; }

// The leaders compute a reduction, or the PEs of all nodes by shares.
inline bool reduce_by_leaders(const TeamNodes& nodes, std::size_t bytes) noexcept {
  constexpr std::size_t kShortBytes = 8192;
  constexpr std::size_t kMinShareBytes = 1024;  // of one node
  return bytes <= kShortBytes || bytes / static_cast<std::size_t>(nodes.count()) < kMinShareBytes;
}
// What one PE computes for the others at a time.
inline constexpr std::size_t kReducePieceBytes = std::size_t{512} << 10;
// Results of leaders up to here need no allocation.
inline constexpr std::size_t kReduceStackBytes = 1024;

// fcollect and collect: a node's contributions in one message, or each PE for itself. `bytes`: of all together.
inline bool collect_by_leaders(const TeamNodes& nodes, std::size_t bytes) noexcept {
  constexpr std::size_t kShortBytes = 32768;
  constexpr int kFewNodes = 3;
  const bool combines = nodes.count() < static_cast<int>(nodes.n_members());
  return bytes <= kShortBytes && (combines || nodes.count() > kFewNodes);
}

// What the environment sets instead, the same on all PEs.
struct CollectSetting {
  std::optional<std::uint64_t> leaders_bytes = {};
  int group_nodes = 0;  // of the k-prefix exchange; 0: pairs
};
enum class NodesCollect : std::uint8_t { leaders, pairs, prefix };
inline NodesCollect nodes_collect(const TeamNodes& nodes, std::size_t bytes, const CollectSetting& asked) noexcept {
  const bool by_leaders =
      asked.leaders_bytes
          ? bytes <= std::min<std::uint64_t>(*asked.leaders_bytes, kMaxEagerBytes) && *asked.leaders_bytes != 0
          : asked.group_nodes == 0 && collect_by_leaders(nodes, bytes);
  if (by_leaders) return NodesCollect::leaders;
  return asked.group_nodes != 0 && nodes.min_size == nodes.max_size ? NodesCollect::prefix : NodesCollect::pairs;
}

// Over more nodes short messages are combined once more, along the rows and columns of a mesh.
inline bool alltoall_on_mesh(const TeamNodes& nodes) noexcept { return nodes.count() > 3; }
// alltoall: a message for each pair of nodes, or for each pair of PEs. `bytes`: of one block. Longer blocks than the
// first limit are combined, too, where all that two nodes exchange is short; on a mesh they would travel twice.
inline bool alltoall_by_leaders(const TeamNodes& nodes, std::size_t bytes) noexcept {
  constexpr std::size_t kShortBlockBytes = 512;
  constexpr std::size_t kShortNodeBlockBytes = 8192;
  constexpr std::size_t kMaxNodeBytes = std::size_t{1} << 20;  // that one leader copies
  const std::size_t n = nodes.n_members();
  const auto max_size = static_cast<std::size_t>(nodes.max_size);
  if (bytes > kMaxNodeBytes || bytes * n * max_size > kMaxNodeBytes) return false;
  if (alltoall_on_mesh(nodes)) return bytes <= kShortBlockBytes;
  const bool is_short = bytes <= kShortBlockBytes || bytes * max_size * max_size <= kShortNodeBlockBytes;
  return is_short && nodes.count() < static_cast<int>(n);
}

// The leaders compute a scan, or the PEs of all nodes by shares, block by block from node to node.
inline bool scan_by_leaders(std::size_t bytes) noexcept { return bytes <= 8192; }
inline constexpr std::size_t kScanBlockBytes = std::size_t{64} << 10;
// What leaders exchange of a scan at a time, of all members together.
inline constexpr std::size_t kScanGatherBytes = std::size_t{512} << 10;
// In a scan nobody waits for higher nodes. To limit eager messages, all synchronise once in kScansBetweenBarriers
// scans, and a node is at most kScanBlocksAhead blocks ahead of the next one.
inline constexpr std::uint32_t kScansBetweenBarriers = 32;
inline constexpr std::uint64_t kScanBlocksAhead = 16;

// ---- collectives that do not block, by messages on one node, too ----

// Broadcasts travel in segments.
inline constexpr std::size_t kBackgroundSegmentBytes = std::size_t{512} << 10;
// Memory of a member that combines for others, and the shortest piece of which it has one from each node.
inline constexpr std::size_t kBackgroundScratchBytes = std::size_t{2} << 20;
inline constexpr std::size_t kBackgroundPieceBytes = 4096;
// Messages each way in a round of an exchange of all members. More would wait for each other in the network, or as
// unexpected ones.
inline constexpr int kBackgroundWindow = 8;

inline bool members_share_nodes(const TeamNodes& nodes) noexcept {
  return nodes.count() > 1 && nodes.count() < static_cast<int>(nodes.n_members());
}

// leaders: of nodes, in log2 rounds; passed: each block crosses once to each other node; gathered: blocks of a node for
// one member of another one cross together; rounds: log2 rounds of all members; pairs: a message for each pair of
// members. `bytes`: of one block.
enum class BackgroundBlocks : std::uint8_t { leaders, passed, gathered, rounds, pairs };
inline BackgroundBlocks background_fcollect(const TeamNodes& nodes, std::size_t bytes) noexcept {
  constexpr std::size_t kShortBlockBytes = 1024;
  constexpr std::size_t kShortBytes = std::size_t{32} << 10;  // of all members
  if (!members_share_nodes(nodes))
    return bytes <= kShortBytes / nodes.n_members() ? BackgroundBlocks::rounds : BackgroundBlocks::pairs;
  const bool by_leaders = bytes <= kShortBlockBytes || collect_by_leaders(nodes, bytes * nodes.n_members());
  return by_leaders ? BackgroundBlocks::leaders : BackgroundBlocks::passed;
}
// Longer blocks cost less to send than to gather.
inline constexpr std::size_t kMostGatheredBytes = std::size_t{8} << 10;
// With `asked`, blocks up to that size take the rounds of all members.
inline BackgroundBlocks background_alltoall(const TeamNodes& nodes, std::size_t bytes,
                                            std::optional<std::uint64_t> asked = {}) noexcept {
  constexpr int kFewNodes = 16;  // to which a leader sends at once
  constexpr std::size_t kShortBytes = 512;
  constexpr std::size_t kMostCopiedBytes = std::size_t{512} << 10;  // of all blocks
  constexpr std::size_t kFewMembers = 4;
  const std::size_t n = nodes.n_members();
  if (asked) return n > 1 && bytes <= *asked && *asked != 0 ? BackgroundBlocks::rounds : BackgroundBlocks::pairs;
  if (members_share_nodes(nodes) && nodes.count() <= kFewNodes && alltoall_by_leaders(nodes, bytes))
    return BackgroundBlocks::leaders;
  const bool by_rounds = bytes <= kShortBytes && bytes * n <= kMostCopiedBytes && n > kFewMembers;
  if (by_rounds) return BackgroundBlocks::rounds;
  return members_share_nodes(nodes) && bytes <= kMostGatheredBytes ? BackgroundBlocks::gathered
                                                                   : BackgroundBlocks::pairs;
}
// Gathering takes two rounds more than sending does if all lengths are known, and those to few members take one.
inline bool gathers_alltoallv(const TeamNodes& nodes, bool knows_lengths) noexcept {
  const bool is_one_round = nodes.n_members() <= 1 + kBackgroundWindow;
  return members_share_nodes(nodes) && !(knows_lengths && is_one_round);
}
// The longest block of an alltoallv that a member of the node gathers. Each receives them in as much memory for each
// member of the team.
inline std::size_t gathered_block_bytes(const TeamNodes& nodes) noexcept {
  constexpr std::size_t kMostBytes = 4096;
  return std::min(kMostBytes, kBackgroundScratchBytes / nodes.n_members());
}

}  // namespace shmemx::coll
