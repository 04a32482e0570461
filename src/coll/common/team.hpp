// A team as this PE sees it: its set of PEs, the route to them, and its slot of flags in each member's block.
// The standard allows one thread at a time in a team's collectives, so the counters are plain.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "coll/common/call.hpp"
#include "coll/common/symmetric.hpp"
#include "context/context.hpp"
#include "context/route.hpp"
#include "windows/geometry.hpp"

namespace shmemx::coll {

// One member writes it, the owner waits on it. Epochs only grow. The tag, which is stored first, belongs to the latest
// epoch or to the next one (tag_of).
struct MemberFlag {
  std::atomic<std::uint64_t> epoch;
  std::atomic<std::uint64_t> tag;
};
// In the owner's block.
struct alignas(kCacheLine) Flag : MemberFlag {
  std::uint8_t padding[48];
};
static_assert(sizeof(Flag) == kCacheLine);

// The counting barrier of a team, on its PE 0: the last PE to arrive releases all. On several nodes each leader has
// one, whose `arrived` counts the members of its node, see Meetings; `prepared` is then the epoch for which the last of
// them has taken what it sends for the node, and `released` the one in which the leader waits for that
// (internode/first_round.hpp).
struct alignas(kCacheLine) CountingBarrier {
  alignas(kCacheLine) std::atomic<std::uint64_t> arrived;
  std::atomic<std::uint64_t> prepared;
  alignas(kCacheLine) std::atomic<std::uint64_t> released;
};
static_assert(sizeof(CountingBarrier) == 2 * kCacheLine);

// A member in the combining tree of its team (node/tree.hpp). `arrived`, by level: of the members that arrive at the
// group whose first member this is, see Meetings. `released`: the latest pass from which this member may return.
struct alignas(kCacheLine) TreeNode {
  static constexpr int kLevels = 8;
  alignas(kCacheLine) std::atomic<std::uint64_t> arrived[kLevels];
  alignas(kCacheLine) std::atomic<std::uint64_t> released;
};
static_assert(sizeof(TreeNode) == 2 * kCacheLine);
static_assert(sizeof(TreeNode) + sizeof(CountingBarrier) <= windows::kControlLines * kCacheLine);

// Where members meet at a counter each of them adds 1 and the digest of its calls. Digests end with 16 zero bits, so
// the low bits of the counter tell when all have arrived, and the others whether all have made the same calls.
struct Meetings {
  std::uint64_t turns = 0;  // entered by this PE
  std::uint64_t sum = 0;    // of what it has added in all of them

  std::uint64_t enter(std::uint64_t digest) noexcept {
    ++turns;
    sum += digest + 1;
    return digest + 1;
  }
  // What the counter shows when `members` PEs that make the same calls have arrived.
  std::uint64_t due(std::uint64_t members) const noexcept { return sum * members; }
};
constexpr bool all_arrived(std::uint64_t counter, std::uint64_t due) noexcept {
  return static_cast<std::uint16_t>(counter) == static_cast<std::uint16_t>(due);
}

// A collective in which members that are done do not wait for others.
struct PassedCall {
  std::uint64_t epoch = 0;  // 0: none
  CallWord call = 0;
  std::uint64_t digest = 0;  // with this call
  const char* routine = nullptr;
  const void* site = nullptr;  // where it returned to
};

// The collectives that this PE has entered on a team (matching.hpp).
struct Calls {
  std::uint64_t digest = 0;
  CallWord latest = 0;
  PassedCall passed;  // the latest such one
  // SHMEM_CHECK: the dests of the latest calls that have one, and the digests that the calls began with.
  struct Dest {
    std::uint64_t digest = 0;
    SymmetricName name = 0;
  };
  Dest dests[4];
};

struct TeamNodes;

struct Team {
  std::uint64_t handle = 0;        // 0: free
  context::Context route{};        // PEs of the team to their memory
  std::byte* near_slot = nullptr;  // of the first near PE; in a direct team the others follow at route.pe_step
  std::size_t scratch_offset = 0;  // in a slot
  std::uint64_t epoch = 0;         // of the latest collective; some take several
  Calls calls;
  Meetings counted;                  // counting barriers, or arrivals at leaders
  Meetings climbed;                  // passes of the combining tree
  std::uint64_t exchanges = 0;       // uses of the scratch areas
  const TeamNodes* nodes = nullptr;  // common/nodes.hpp; made on first use
  std::byte* own_slot = nullptr;     // of a team beyond the slots: what takes the place of this PE's one
  bool direct = false;               // all members are near; else there are nodes and messages
  bool counting = false;             // the barrier is the counting one or the tree, else dissemination
  int num_contexts = 0;              // as asked at the split

  int size() const noexcept { return static_cast<int>(route.n_pes); }
  int me() const noexcept { return route.my_pe; }
  // Of a member whose memory is mapped.
  std::byte* slot(int pe) const noexcept {
    if (direct) [[likely]]
      return near_slot + static_cast<std::int64_t>(pe) * route.pe_step;
    return near_slot + context::block_distance(route, pe);
  }
  // Returns the flag that `writer` writes and `owner` waits on, two PEs of this node. A slot has as many as the node
  // PEs: members of a direct team find theirs by their numbers in the team, others by their places on the node.
  Flag& flag(int owner, int writer) const noexcept {
    const int line = direct ? writer : context::node_index(context::world_pe(route, writer)).value;
    return reinterpret_cast<Flag*>(slot(owner))[line];
  }
  // A direct team uses the one of PE 0 only, a team on several nodes that of each leader.
  CountingBarrier& central(int pe = 0) const noexcept {
    return *reinterpret_cast<CountingBarrier*>(slot(pe) + scratch_offset - sizeof(CountingBarrier));
  }
  TreeNode& tree(int pe) const noexcept {
    return *reinterpret_cast<TreeNode*>(slot(pe) + scratch_offset - sizeof(CountingBarrier) - sizeof(TreeNode));
  }
  std::byte* scratch(int pe, std::uint64_t parity) const noexcept {
    return slot(pe) + scratch_offset + parity * windows::kScratchBytes;
  }
};

// Where slots lie, and whether PEs outnumber the node's cores. Set by runtime at init.
struct NodeSlots {
  std::size_t before_heap = 0;  // a block begins with its slots: bytes from there to its heap
  std::size_t bytes = 0;        // of a slot
  bool crowded = false;
};
inline constinit NodeSlots node_slots;

// All PEs, for shmem_finalize alone: a PE that has left must not release others from a collective of WORLD. Its handle
// is 0, so programs cannot name it.
inline constexpr std::size_t kEndTeam = 0;
inline constexpr std::size_t kWorldTeam = 1;
inline constexpr std::size_t kSharedTeam = 2;

// Teams that a PE can be in at once. Those beyond the slots use messages for everything, also within a node.
inline constexpr std::size_t kMaxTeams = 16384;
inline constexpr std::uint64_t kTeamIndexMask = kMaxTeams - 1;
// Behind them are the teams of active sets (active_set/teams.hpp), which have slots of their own and no handles.
inline constexpr std::size_t kTeamEntries = kMaxTeams + windows::kActiveSetSlots;
inline constexpr std::uint64_t kActiveTeam = ~std::uint64_t{0};  // in place of the handle

// Returns the slot of a team. One beyond the slots has none, and no active set is beyond them.
constexpr std::size_t slot_of_team(std::size_t index) noexcept {
  return index < kMaxTeams ? index : windows::kTeamSlots + (index - kMaxTeams);
}
constexpr bool is_beyond_slots(std::size_t index) noexcept { return index >= windows::kTeamSlots && index < kMaxTeams; }

// A team's index here is agreed on by all members: its slot number, or one beyond the slots. Untouched entries cost
// nothing.
inline constinit Team team_table[kTeamEntries] = {};

inline Team& team_at(std::uint64_t handle) noexcept { return team_table[handle & kTeamIndexMask]; }

}  // namespace shmemx::coll
