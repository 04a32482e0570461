// A communication context, and with it the route to every PE of its team.
//
// The first two cache lines are all that a put, get or atomic reads. Before init and after finalize the limits are
// zero, so every operation fails its bounds check and goes to the cold half, which finds out what is wrong: the check
// is the translation.
//
// The hot half reaches the near PEs: those around this PE, by their numbers in the team, whose memory is mapped at one
// distance from each to the next. In a job on one node these are all, in one whose nodes hold consecutive PEs those of
// the node. Every other PE goes to the cold half, which finds its address where it is mapped, and leaves the rest to
// messages. On the queue path, where nothing but this PE's own memory is mapped, the limits are zero, and the cold half
// checks against `window_bytes`. They are zero, too, where something observes operations.
//
// A context handle is a coded integer, (generation << 12 | index): any value can be looked up without a wild access.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cache_line.hpp"
#include "base/pe.hpp"
#include "team/pe_set.hpp"

namespace shmemx::onesided {
struct DirectOpen;
struct Lane;
}  // namespace shmemx::onesided

namespace shmemx::context {

inline constexpr int kSizeClasses = 5;  // accesses of 1, 2, 4, 8, 16 bytes

struct alignas(256) Context {  // a power of two: a handle's index becomes a shift
  // Hot. `heap_limit[k]`: an access of 1 << k bytes at heap offset o is inside when o < heap_limit[k].
  std::uintptr_t heap_base;  // this PE's symmetric heap
  std::uint64_t heap_bytes;  // 0 on the queue path; the checks of cold code use window_bytes
  std::byte* near_heap;      // the heap of the first near PE
  std::int64_t pe_step;      // bytes from one near PE's block to the next; negative for reversed teams
  std::uint32_t first_near;  // in the team
  std::uint32_t n_near;
  std::uint64_t heap_limit[kSizeClasses];
  std::uint64_t heap_elements[2];  // whole words of 4 and of 8 bytes in the heap
  // The limits of operations that a program may repeat until the value is another one: reads, swaps, compare-and-swaps.
  // 0 where reads are watched.
  std::uint64_t read_limit[kSizeClasses];
  std::uint64_t read_elements[2];
  // Static data: the second thing to try.
  std::uintptr_t static_base;
  std::uint64_t static_bytes;
  std::byte* near_statics;  // of the first near PE
  // Cold.
  std::uint64_t window_bytes;  // of the symmetric heap
  std::uint64_t handle;        // the value the user holds; 0: free
  std::uint32_t team_index;
  std::uint32_t n_pes;  // of the team; 0: not usable
  std::int32_t my_pe;   // in the team
  team::PeSet set;
  std::uint64_t session_options;
  std::uint64_t session_total_ops;
  bool by_messages;      // of a team without a slot: its collectives address no other PE's memory
  onesided::Lane* lane;  // endpoints of a network that are the context's own; null: it shares those of the process
  onesided::DirectOpen* direct_open;  // what it has under way past the target's CPU; of entries of the table
};

static_assert(sizeof(Context) == 256);

inline constexpr std::size_t kMaxContexts = 4096;
inline constexpr std::uint64_t kContextIndexMask = kMaxContexts - 1;
inline constexpr std::size_t kInvalidContext = 0;  // from init on its handle matches nothing
inline constexpr std::size_t kDefaultContext = 1;

// Can this PE address the memory of all PEs of the job? Set once, at init, alike on all PEs.
inline constinit bool all_mapped = true;

// May messages arrive that only calls of the library handle, since no progress thread does? Set at init. Operations
// that a program may repeat then handle messages now and then.
inline constinit bool calls_make_progress = false;

// Is this PE the only one of the job on its node? Then only messages change what it can read. Set at init.
inline constinit bool alone_on_node = false;

// Do reads take their cold half, which notices a program that reads again and again instead of waiting? It then gives
// the core to the PE that it waits for, or handles messages. Set at init: where PEs outnumber cores, and in the two
// cases above.
inline constinit bool reads_are_watched = false;

// Do all operations take their cold halves, as something observes them? Set at init, before the first context is made.
inline constinit bool uses_cold_halves = false;

// Where the PEs of the world are. Set once, at init; the table stays.
struct Places {
  const PeLocation* location = nullptr;  // by PE; null: all on one node
  int n_nodes = 1;
  int my_node = 0;
  bool node_is_mapped = false;  // of several nodes: can this PE address the memory of its node peers?
  NodePes index;                // of PEs on this node
  std::int64_t block_step = 0;  // of several nodes: bytes from one block of this node to the next
  // Does the PE exist, or is it only claimed? Null: all exist.
  bool (*is_real)(int world_pe) = nullptr;
};
inline constinit Places places;
inline bool some_are_claimed() noexcept { return places.is_real != nullptr; }
inline bool is_real(int world_pe) noexcept { return places.is_real == nullptr || places.is_real(world_pe); }
inline int node_of(int world_pe) noexcept {
  return places.location == nullptr ? 0 : static_cast<int>(places.location[world_pe].node);
}
// Requires a PE of this node.
inline NodeIndex node_index(int world_pe) noexcept { return places.index.index_of(Pe{world_pe}); }

// Untouched entries cost nothing: the table is zero-initialised.
inline constinit Context context_table[kMaxContexts] = {};

// Nothing is in range any more; the cold half says why.
inline void make_unusable(Context& context) noexcept {
  context.n_pes = context.n_near = 0;
  context.heap_bytes = context.window_bytes = context.static_bytes = 0;
  for (auto& limit : context.heap_limit) limit = 0;
  for (auto& limit : context.read_limit) limit = 0;
  for (auto& elements : context.heap_elements) elements = 0;
  for (auto& elements : context.read_elements) elements = 0;
}

// Can this PE address the memory of its node peers?
inline bool node_is_mapped() noexcept { return all_mapped || places.node_is_mapped; }

// The hot limits of a context that may address near PEs' heaps of `window_bytes`; zeros where it may not, or
// something observes operations.
inline void set_hot_limits(Context& context) noexcept {
  context.heap_bytes = node_is_mapped() && !uses_cold_halves ? context.window_bytes : 0;
  for (int k = 0; k < kSizeClasses; ++k) {
    const std::uint64_t bytes = std::uint64_t{1} << k;
    context.heap_limit[k] = context.heap_bytes >= bytes ? context.heap_bytes - bytes + 1 : 0;
    context.read_limit[k] = reads_are_watched ? 0 : context.heap_limit[k];
  }
  for (int k = 0; k < 2; ++k) {
    context.heap_elements[k] = context.heap_bytes / (std::uint64_t{4} << k);
    context.read_elements[k] = reads_are_watched ? 0 : context.heap_elements[k];
  }
}

// Is there a session in which several operations may be delayed, to be sent together?
inline constexpr std::uint64_t kSessionBatch = 1;  // SHMEM_CTX_SESSION_BATCH
inline bool batches(const Context& context) noexcept { return (context.session_options & kSessionBatch) != 0; }

// `pe` counts in the context's team.
inline int world_pe(const Context& context, int pe) noexcept { return context.set.world(TeamPe{pe}).value; }
inline bool is_mapped(const Context& context, int pe) noexcept {
  if (pe == context.my_pe) return true;
  if (context.by_messages) [[unlikely]]
    return false;
  if (all_mapped) return true;
  return places.node_is_mapped && node_of(world_pe(context, pe)) == places.my_node;
}

// Where the blocks of a node lie: the heap and the static data of one PE there, and bytes from each block to the next.
struct NodeBlocks {
  NodeIndex pe;
  std::byte* heap;
  std::byte* statics;  // null where they are not symmetric
  std::int64_t step;
};

// Finds the near PEs of a context and leads its route there. Requires set, my_pe and n_pes.
inline void set_near(Context& context, const NodeBlocks& blocks) noexcept {
  const auto index = [&](int pe) { return node_index(world_pe(context, pe)).value; };
  const int me = context.my_pe;
  const int n_pes = static_cast<int>(context.n_pes);
  int step = 1;  // from the node index of a near PE to that of the next one
  if (me + 1 < n_pes && is_mapped(context, me + 1)) {
    step = index(me + 1) - index(me);
  } else if (me > 0 && is_mapped(context, me - 1)) {
    step = index(me) - index(me - 1);
  }
  const auto follow = [&](int pe) {
    return is_mapped(context, pe) && is_mapped(context, pe + 1) && index(pe + 1) - index(pe) == step;
  };
  int first = all_mapped ? 0 : me;
  while (first > 0 && follow(first - 1)) --first;
  int last = all_mapped ? n_pes - 1 : me;
  while (last + 1 < n_pes && follow(last)) ++last;
  const std::int64_t distance = (index(first) - blocks.pe.value) * blocks.step;
  context.near_heap = blocks.heap + distance;
  context.near_statics = blocks.statics == nullptr ? nullptr : blocks.statics + distance;
  context.pe_step = step * blocks.step;
  context.first_near = static_cast<std::uint32_t>(first);
  context.n_near = static_cast<std::uint32_t>(last + 1 - first);
}
inline bool all_near(const Context& context) noexcept { return context.n_near == context.n_pes; }

inline Context& default_context() noexcept { return context_table[kDefaultContext]; }
inline Context& context_at(std::uint64_t handle) noexcept { return context_table[handle & kContextIndexMask]; }

}  // namespace shmemx::context
