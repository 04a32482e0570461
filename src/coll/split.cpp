#include "coll/split.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/fatal.hpp"
#include "base/hash.hpp"
#include "coll/common/nodes.hpp"
#include "coll/common/select.hpp"
#include "coll/exchange.hpp"
#include "progress/policy.hpp"
#include "windows/geometry.hpp"

namespace shmemx::coll {
namespace {

constexpr std::size_t kMaskWords = windows::kTeamSlots / 64;
using SlotMask = std::array<std::uint64_t, kMaskWords>;

// What each PE publishes at a split. `beyond`: all indices from there on, behind those of slots, are free.
struct Proposal {
  std::uint64_t children_digest;
  SlotMask free_slots;
  std::uint64_t beyond;

  static bool merge(Proposal& into, const Proposal& from) noexcept {
    for (std::size_t word = 0; word < kMaskWords; ++word) into.free_slots[word] &= from.free_slots[word];
    into.beyond = std::max(into.beyond, from.beyond);
    return into.children_digest == from.children_digest;
  }
};
// Whether a member has taken the slot of its child.
struct Outcome {
  std::uint64_t taken;
  static bool merge(Outcome& into, const Outcome& from) noexcept {
    into.taken &= from.taken;
    return true;
  }
};
static_assert(sizeof(Proposal) <= windows::kScratchBytes);

// This PE's slots: a set bit is a free slot. Threads may split different teams at once.
std::mutex slot_mutex;
SlotMask free_slots = [] {
  SlotMask mask;
  mask.fill(~std::uint64_t{0});
  mask[0] &= ~std::uint64_t{0b111};  // END, WORLD, SHARED
  return mask;
}();
std::uint64_t beyond_slots = windows::kTeamSlots;
std::bitset<kMaxTeams - windows::kTeamSlots> taken_beyond;
std::uint64_t generation = 0;

std::uint64_t next_generation() {
  const std::lock_guard guard(slot_mutex);
  return ++generation;
}

constexpr std::uint64_t bit_of(std::size_t slot) { return std::uint64_t{1} << (slot % 64); }

// Returns false if another thread of this PE has taken the slot since it was proposed.
bool take_slot(std::size_t slot) {
  const std::lock_guard guard(slot_mutex);
  if (slot >= windows::kTeamSlots) {
    if (taken_beyond[slot - windows::kTeamSlots]) return false;
    taken_beyond.set(slot - windows::kTeamSlots);
    beyond_slots = std::max<std::uint64_t>(beyond_slots, slot + 1);
    return true;
  }
  const bool was_free = (free_slots[slot / 64] & bit_of(slot)) != 0;
  free_slots[slot / 64] &= ~bit_of(slot);
  return was_free;
}

void give_slot_back(std::size_t slot) {
  const std::lock_guard guard(slot_mutex);
  if (slot < windows::kTeamSlots) {
    free_slots[slot / 64] |= bit_of(slot);
    return;
  }
  taken_beyond.reset(slot - windows::kTeamSlots);
  while (beyond_slots > windows::kTeamSlots && !taken_beyond[beyond_slots - 1 - windows::kTeamSlots]) --beyond_slots;
}

Proposal own_proposal(std::uint64_t digest) {
  const std::lock_guard guard(slot_mutex);
  return {digest, free_slots, beyond_slots};
}

// Returns the first free slot in the word that contains `start` or, cyclically, in a later word; 0 if there is none.
std::size_t first_from(const SlotMask& mask, std::size_t start) {
  for (std::size_t turn = 0; turn < kMaskWords; ++turn) {
    const std::size_t word = (start / 64 + turn) % kMaskWords;
    if (mask[word] != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(mask[word]));
  }
  return 0;
}

std::uint64_t digest_of(std::span<const Triplet> children) {
  Fnv1a hash;
  for (const Triplet& child : children) {
    for (const int value : {child.start, child.stride, child.size}) {
      hash.add(static_cast<std::uint32_t>(value));
    }
  }
  return hash.digest();
}

Proposal proposal_of(const TeamGroup& group, int pe) {
  Proposal proposal;
  std::memcpy(&proposal, group.published(pe), sizeof proposal);
  return proposal;
}

// Returns a slot that is free, else an index beyond the slots, else 0.
std::size_t choose(const SlotMask& free, std::uint64_t beyond, std::size_t start) {
  if (const std::size_t slot = first_from(free, start); slot != 0) return slot;
  return beyond < kMaxTeams ? static_cast<std::size_t>(beyond) : 0;
}

// The same for what is free on all members.
std::size_t agree_on_slot(const TeamGroup& group, const Triplet& child, std::size_t start) {
  Proposal common = proposal_of(group, child.start);
  for (int i = 1; i < child.size; ++i) Proposal::merge(common, proposal_of(group, child.start + i * child.stride));
  return choose(common.free_slots, common.beyond, start);
}

bool all_request_the_same(const TeamGroup& group, std::uint64_t digest) {
  for (int pe = 0; pe < group.size(); ++pe) {
    if (proposal_of(group, pe).children_digest != digest) return false;
  }
  return true;
}

// The memory of a slot is as the team before has left it. Nobody uses it before all members have agreed once more.
void clear_own_flags(Team& team) {
  const auto clear = [&](int writer) { team.flag(team.me(), writer).epoch.store(0, std::memory_order_relaxed); };
  if (team.direct) {
    for (int writer = 0; writer < team.size(); ++writer) clear(writer);
  } else {
    for (const int writer : nodes_of(team).here()) clear(writer);
    clear_received_flags(team);
  }
  for (auto& arrived : team.tree(team.me()).arrived) arrived.store(0, std::memory_order_relaxed);
  team.tree(team.me()).released.store(0, std::memory_order_relaxed);
  team.central(team.me()).arrived.store(0, std::memory_order_relaxed);
  team.central(team.me()).released.store(0, std::memory_order_relaxed);
}

struct Agreement {
  bool ok = true;
  std::size_t slot = 0;  // of this PE's child
  team::PeSet set;
  int my_pe = -1;
};

// `is_common`: `own` is what the proposals of all members have in common. Else they are published, in a direct group.
Agreement agree(const TeamGroup& group, std::span<const Triplet> children, const Proposal& own, bool is_common,
                std::size_t start) {
  Agreement agreement;
  agreement.ok = is_common || (group.is_direct() && all_request_the_same(group, own.children_digest));
  for (const Triplet& child : children) {
    if (!agreement.ok) break;
    const auto set = group.route().set.subset(child.start, child.stride, child.size);
    const auto free_slot = [&] {
      return is_common ? choose(own.free_slots, own.beyond, start) : agree_on_slot(group, child, start);
    };
    const std::size_t slot = set ? free_slot() : 0;
    agreement.ok = slot != 0;
    if (!agreement.ok) break;
    const auto mine = set->find(group.route().set.world(TeamPe{group.me()}));
    if (!mine) continue;
    agreement.slot = slot;
    agreement.set = *set;
    agreement.my_pe = mine->value;
  }
  return agreement;
}

void open_child(const Agreement& agreement, int num_contexts) {
  const context::Context route = route_of(team_table[kWorldTeam].route, agreement.set, agreement.my_pe);
  const std::uint64_t handle = next_generation() * kMaxTeams + agreement.slot;
  Team& team = install_team(agreement.slot, route, handle);
  team.epoch = team.counted = team.tree_passes = team.exchanges = team.arrivals_seen = 0;
  team.num_contexts = num_contexts;
  clear_own_flags(team);
}

bool all_took_their_slots(const TeamGroup& group) {
  for (int pe = 0; pe < group.size(); ++pe) {
    if (group.published_word(pe) == 0) return false;
  }
  return true;
}

// The team has no slot in the blocks: what its members read and write of each other travels in messages.
void use_messages(Team& team) {
  team.route.by_messages = true;
  team.direct = team.counting = false;
  const std::size_t bytes = round_up(node_slots.bytes, kCacheLine);
  void* const memory = std::aligned_alloc(kCacheLine, bytes);
  if (memory == nullptr) fatal(nullptr, "no memory for %zu bytes of a team", bytes);
  team.own_slot = static_cast<std::byte*>(std::memset(memory, 0, bytes));
  team.near_slot = team.own_slot - context::block_distance(team.route, team.me());
  const std::lock_guard guard(slot_mutex);
  if (!progress::is_open()) progress::open();
}

}  // namespace

Team& install_team(std::size_t index, const context::Context& route, std::uint64_t handle) noexcept {
  Team& team = team_table[index];
  team.route = route;
  team.route.team_index = static_cast<std::uint32_t>(index);
  team.near_slot = route.near_heap - node_slots.before_heap + index * node_slots.bytes;
  team.scratch_offset = node_slots.bytes - 2 * windows::kScratchBytes;
  team.direct = context::all_near(team.route);
  team.counting = barrier_counts(node_slots.crowded, team.direct);
  team.handle = handle;
  if (index >= windows::kTeamSlots) use_messages(team);
  forget_nodes(team);
  if (!team.direct) open_receiver(team);
  return team;
}

SplitResult split(Team& parent, const char* routine, std::span<const Triplet> children, int num_contexts) noexcept {
  TeamGroup group(parent, routine);
  const std::uint64_t digest = digest_of(children);
  std::size_t start = 0;
  while (true) {
    Proposal proposal = own_proposal(digest);
    const bool is_common = exchange_merged(group, proposal);
    const Agreement agreement = agree(group, children, proposal, is_common, start);
    const bool member = agreement.ok && agreement.slot != 0;
    const bool taken = !member || take_slot(agreement.slot);
    if (member && taken) open_child(agreement, num_contexts);
    // No member uses a child before all members have cleared their flags.
    Outcome outcome{taken ? 1U : 0U};
    const bool is_known = exchange_merged(group, outcome);
    if (is_known ? outcome.taken != 0 : all_took_their_slots(group)) return {agreement.ok, agreement.slot};
    // Meanwhile another thread has split another team into the same slot. Try again, from another word for each parent.
    if (member && taken) release_team(team_table[agreement.slot]);
    start = (start + 64 * (1 + (parent.route.team_index & 3))) % windows::kTeamSlots;
  }
}

void release_team(Team& team) noexcept {
  const auto slot = static_cast<std::size_t>(&team - team_table);
  team.handle = 0;
  team.route.n_pes = 0;
  forget_nodes(team);
  if (!team.direct) close_receiver(slot);
  std::free(std::exchange(team.own_slot, nullptr));
  team.route.by_messages = false;
  give_slot_back(slot);
}

void reset_teams() noexcept {
  for (std::size_t slot = beyond_slots; slot-- > kSharedTeam + 1;) {
    if (team_table[slot].handle != 0) release_team(team_table[slot]);
  }
}

}  // namespace shmemx::coll
