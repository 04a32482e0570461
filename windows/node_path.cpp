#include "windows/node_path.hpp"

#include <algorithm>

#include "base/machine.hpp"
#include "config/kinds.hpp"

namespace shmemx::windows {
namespace {

using bootstrap::PeRecord;
using bootstrap::RecordOfPe;

constexpr std::uint64_t kAddressSpaceBytes = std::uint64_t{1} << 46;  // for what a PE maps; x86-64 has 2^47
constexpr std::uint64_t kSmallestHeapBytes = std::uint64_t{1} << 20;

const char* name_of(NodePath path) {
  switch (path) {
    case NodePath::direct:
      return "direct";
    case NodePath::queue:
      return "queue";
    case NodePath::automatic:
      break;
  }
  return "auto";
}

Error differs(const char* variable, int first, const std::string& its, int other, const std::string& others) {
  return Error{Errc::invalid_argument, 0,
               std::string(variable) + " is " + its + " on PE " + std::to_string(first) + " and " + others + " on PE " +
                   std::to_string(other) + ", all PEs have to set the same"};
}

std::string networks_text(const PeRecord& record) {
  return config::kind::networks::text(config::kind::networks::of_code(record.networks));
}

std::string order_text(const PeRecord& record) {
  return config::kind::node_order_choice::text(static_cast<config::NodeOrder>(record.node_order));
}

std::string checks_text(const PeRecord& record) { return config::kind::checks::text(config::Checks(record.checks)); }

// What the records ask for, taken together.
struct Wishes {
  Sharing sharing;
  NodePath path = NodePath::automatic;
  std::uint64_t static_bytes = 0;
  std::uint64_t heap_bytes = kUnlimited;
  bool heap_asked = false;
  std::uint64_t address_space = kAddressSpaceBytes;
  std::uint64_t channel_bytes;
};

Wishes wishes_of(std::span<const RecordOfPe> records, const Sharing& sharing, std::size_t channel_bytes) {
  Wishes wishes{.sharing = sharing, .channel_bytes = channel_bytes};
  for (const RecordOfPe& of_pe : records) {
    const PeRecord& record = *of_pe.record;
    wishes.path = std::max(wishes.path, record.node_path);
    wishes.static_bytes = std::max(wishes.static_bytes, record.static_bytes);
    wishes.heap_bytes = std::min(wishes.heap_bytes, record.heap_bytes);
    wishes.heap_asked = wishes.heap_asked || record.heap_asked != 0;
    // The other half is for the program.
    if (record.address_limit != kUnlimited)
      wishes.address_space = std::min(wishes.address_space, record.address_limit / 2);
  }
  return wishes;
}

// What is left for each of `blocks` blocks when the channel region is mapped.
std::uint64_t share_of(const Wishes& wishes, std::size_t blocks) {
  return wishes.address_space > wishes.channel_bytes ? (wishes.address_space - wishes.channel_bytes) / blocks : 0;
}

Geometry geometry_for(const Wishes& wishes, std::uint64_t heap_bytes) {
  return make_geometry(wishes.sharing, wishes.static_bytes, heap_bytes, wishes.channel_bytes);
}

bool fits(const Wishes& wishes, std::size_t blocks, std::uint64_t heap_bytes) {
  const std::uint64_t share = share_of(wishes, blocks);
  return heap_bytes <= share && geometry_for(wishes, heap_bytes).stride <= share;
}

// Returns how much heap a PE may reserve if each PE maps `blocks` blocks: two thirds of its share, as blocks are
// aligned generously.
std::uint64_t heap_within(const Wishes& wishes, std::size_t blocks) {
  const std::uint64_t around = geometry_for(wishes, 0).stride;
  const std::uint64_t share = share_of(wishes, blocks);
  return share > around ? round_down((share - around) / 3 * 2, kPageBytes) : 0;
}

// The heap's size when each PE maps `blocks` blocks; 0 when that is not possible.
std::uint64_t heap_for(const Wishes& wishes, std::size_t blocks) {
  if (fits(wishes, blocks, wishes.heap_bytes)) return std::max<std::uint64_t>(wishes.heap_bytes, 1);
  if (wishes.heap_asked) return 0;
  const std::uint64_t possible = heap_within(wishes, blocks);
  return possible >= kSmallestHeapBytes ? possible : 0;
}

const char* on_a_node(const Sharing& sharing) { return sharing.n_node_pes < sharing.n_world_pes ? " of a node" : ""; }

// Returns the largest heap with which each PE can map `blocks` blocks, to a page.
std::uint64_t largest_heap(const Wishes& wishes, std::size_t blocks) {
  std::uint64_t fitting = 0;
  std::uint64_t too_large = wishes.address_space / kPageBytes;
  while (fitting + 1 < too_large) {
    const std::uint64_t pages = fitting + (too_large - fitting) / 2;
    (fits(wishes, blocks, pages * kPageBytes) ? fitting : too_large) = pages;
  }
  return fitting * kPageBytes;
}

// Says to the user why the PEs of a node cannot reach each other's memory.
std::string shortage_of(const Wishes& wishes) {
  const std::size_t n_pes = wishes.sharing.n_node_pes;
  const std::string room = std::to_string(largest_heap(wishes, n_pes));
  return "SHMEM_SYMMETRIC_SIZE requests " + std::to_string(wishes.heap_bytes) + " bytes for each of " +
         std::to_string(n_pes) + " PEs" + on_a_node(wishes.sharing) + ", and a PE's address space (" +
         std::to_string(wishes.address_space) + " bytes, see ulimit -v) has room for " + room +
         " each; instead of loads and stores the PEs use messages, which are slower, and shmem_ptr returns null. Set "
         "SHMEM_SYMMETRIC_SIZE to at most " +
         room + " to avoid that";
}

Error no_room(const Wishes& wishes, std::size_t blocks) {
  return Error{Errc::no_memory, 0,
               (wishes.heap_asked ? "SHMEM_SYMMETRIC_SIZE asks for " : "the default heap is ") +
                   std::to_string(wishes.heap_bytes) + " bytes for each of " +
                   std::to_string(wishes.sharing.n_node_pes) + " PEs" + on_a_node(wishes.sharing) +
                   ", the address space (" + std::to_string(wishes.address_space) + " bytes, see ulimit -v) leaves " +
                   std::to_string(heap_within(wishes, blocks)) +
                   "; set SHMEM_SYMMETRIC_SIZE to at most that, or raise the limit" +
                   (blocks > 1 ? ", or set SHMEMX_NODE_PATH=queue" : "")};
}

}  // namespace

Status check_agreement(std::span<const RecordOfPe> records) {
  const auto no_wish = [](const RecordOfPe& of_pe) { return of_pe.record->node_path == NodePath::automatic; };
  const auto first = std::find_if_not(records.begin(), records.end(), no_wish);
  for (auto other = first; other != records.end(); ++other) {
    if (no_wish(*other) || other->record->node_path == first->record->node_path) continue;
    return differs("SHMEMX_NODE_PATH", first->pe, name_of(first->record->node_path), other->pe,
                   name_of(other->record->node_path));
  }
  const auto& [pe0, mine] = records.front();
  for (const auto& [pe, theirs] : records.subspan(1)) {
    if (theirs->queue_cells != mine->queue_cells)
      return differs("SHMEMX_QUEUE_CELLS", pe0, std::to_string(mine->queue_cells), pe,
                     std::to_string(theirs->queue_cells));
    if (theirs->queue_cell_bytes != mine->queue_cell_bytes)
      return differs("SHMEMX_QUEUE_CELL_BYTES", pe0, std::to_string(mine->queue_cell_bytes), pe,
                     std::to_string(theirs->queue_cell_bytes));
    if (theirs->pes_per_node != mine->pes_per_node)
      return differs("SHMEMX_PES_PER_NODE", pe0, std::to_string(mine->pes_per_node), pe,
                     std::to_string(theirs->pes_per_node));
    if (theirs->node_order != mine->node_order)
      return differs("SHMEMX_NODE_ORDER", pe0, order_text(*mine), pe, order_text(*theirs));
    if (theirs->checks != mine->checks)
      return differs("SHMEM_CHECK", pe0, checks_text(*mine), pe, checks_text(*theirs));
    if (theirs->networks != mine->networks)
      return differs("SHMEMX_TRANSPORT", pe0, networks_text(*mine), pe, networks_text(*theirs));
  }
  return {};
}

Result<NodePlan> plan_node(std::span<const RecordOfPe> records, const Sharing& sharing, std::size_t channel_bytes) {
  const Wishes wishes = wishes_of(records, sharing, channel_bytes);
  const std::size_t n_pes = sharing.n_node_pes;
  const std::uint64_t heap_of_all = heap_for(wishes, n_pes);
  NodePlan plan;
  if (wishes.path != NodePath::queue) {
    if (heap_of_all != 0) {
      plan.geometry = geometry_for(wishes, heap_of_all);
      plan.why = wishes.path == NodePath::direct ? "SHMEMX_NODE_PATH asks for it" : "every PE can map all blocks";
      return plan;
    }
    if (wishes.path == NodePath::direct) return no_room(wishes, n_pes);
  }
  const std::uint64_t heap_of_one = heap_for(wishes, 1);
  if (heap_of_one == 0) return no_room(wishes, 1);
  plan.path = NodePath::queue;
  plan.geometry = geometry_for(wishes, heap_of_one);
  plan.room_for_all = fits(wishes, n_pes, heap_of_one);
  if (wishes.path == NodePath::queue) {
    plan.why = "SHMEMX_NODE_PATH asks for it";
  } else {
    plan.why = "the address space has no room for the blocks of all PEs of the node";
    if (wishes.heap_asked) plan.warning = shortage_of(wishes);
  }
  return plan;
}

}  // namespace shmemx::windows
