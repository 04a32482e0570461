#include "coll/split.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/fatal.hpp"
#include "base/hash.hpp"
#include "base/mutex.hpp"
#include "coll/background/begin.hpp"
#include "coll/common/flag_messages.hpp"
#include "coll/common/nodes.hpp"
#include "coll/common/select.hpp"
#include "coll/exchange.hpp"
#include "progress/policy.hpp"
#include "windows/geometry.hpp"

namespace shmemx::coll {
namespace {

constexpr std::size_t kMaskWords = windows::kTeamSlots / 64;
using SlotMask = std::array<std::uint64_t, kMaskWords>;

// Indices of teams are agreed on by ranges of as many as there are slots; the first range is that of the slots.
constexpr std::size_t kRanges = kMaxTeams / windows::kTeamSlots;
static_assert(kMaxTeams % windows::kTeamSlots == 0);

// What each PE publishes at a split: which indices of one range are free. `beyond`: all indices from there on, behind
// those of slots, are free.
struct Proposal {
  std::uint64_t children_digest;
  SlotMask free;
  std::uint64_t beyond;
  Triplet first;       // of the children
  std::uint32_t turn;  // which exchange of the parent this is: a PE that is in another routine shows an old one

  static bool merge(Proposal& into, const Proposal& from) noexcept {
    for (std::size_t word = 0; word < kMaskWords; ++word) into.free[word] &= from.free[word];
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

// The indices that this PE's teams have: a set bit is one that is taken. Threads may split different teams at once.
Mutex slot_mutex;
constinit std::array<SlotMask, kRanges> taken_indices = {{{0b111}}};  // END, WORLD, SHARED
constinit std::uint64_t beyond_slots = windows::kTeamSlots;
std::uint64_t generation = 0;

std::uint64_t next_generation() {
  const std::lock_guard guard(slot_mutex);
  return ++generation;
}

std::uint64_t& taken_word(std::size_t index) {
  return taken_indices[index / windows::kTeamSlots][index % windows::kTeamSlots / 64];
}
constexpr std::uint64_t bit_of(std::size_t index) { return std::uint64_t{1} << (index % 64); }
bool is_taken(std::size_t index) { return (taken_word(index) & bit_of(index)) != 0; }

// Returns false if another thread of this PE has taken the index since it was proposed.
bool take_index(std::size_t index) {
  const std::lock_guard guard(slot_mutex);
  if (is_taken(index)) return false;
  taken_word(index) |= bit_of(index);
  if (index >= windows::kTeamSlots) beyond_slots = std::max<std::uint64_t>(beyond_slots, index + 1);
  return true;
}

void give_index_back(std::size_t index) {
  const std::lock_guard guard(slot_mutex);
  taken_word(index) &= ~bit_of(index);
  while (beyond_slots > windows::kTeamSlots && !is_taken(beyond_slots - 1)) --beyond_slots;
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

Proposal own_proposal(const Team& parent, std::span<const Triplet> children, std::size_t range) {
  const std::lock_guard guard(slot_mutex);
  Proposal proposal{digest_of(children), taken_indices[range], beyond_slots, children.front(),
                    static_cast<std::uint32_t>(parent.exchanges) + 1};
  for (std::uint64_t& word : proposal.free) word = ~word;
  return proposal;
}

constexpr std::size_t kNothing = ~std::size_t{0};

// Returns the first free place in the word that contains `start` or, cyclically, in a later word.
std::size_t first_from(const SlotMask& free, std::size_t start) {
  for (std::size_t turn = 0; turn < kMaskWords; ++turn) {
    const std::size_t word = (start / 64 + turn) % kMaskWords;
    if (free[word] != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(free[word]));
  }
  return kNothing;
}

Proposal proposal_of(const TeamGroup& group, int pe) {
  Proposal proposal;
  std::memcpy(&proposal, group.published(pe), sizeof proposal);
  return proposal;
}

// Where an attempt to split looks for indices.
struct Search {
  std::size_t range = 0;
  std::size_t start = 0;  // in the range
};

// Returns an index of the range that is free on all members that have made the proposal, else, beside the slots, one
// behind all that are in use; 0 if there is none.
std::size_t choose(const Proposal& common, const Search& search) {
  const std::size_t place = first_from(common.free, search.start);
  if (place != kNothing) return search.range * windows::kTeamSlots + place;
  return search.range == 0 && common.beyond < kMaxTeams ? static_cast<std::size_t>(common.beyond) : 0;
}

Proposal proposal_of_members(const TeamGroup& group, const Triplet& child) {
  Proposal common = proposal_of(group, child.start);
  for (int i = 1; i < child.size; ++i) Proposal::merge(common, proposal_of(group, child.start + i * child.stride));
  return common;
}

bool all_request_the_same(const TeamGroup& group, std::uint64_t digest) {
  for (int pe = 0; pe < group.size(); ++pe) {
    if (proposal_of(group, pe).children_digest != digest) return false;
  }
  return true;
}

// The memory of a slot is as the team before has left it. Nobody uses it before all members have agreed once more.
void clear_own_flags(Team& team) {
  const auto clear = [&](int writer) {
    Flag& flag = team.flag(team.me(), writer);
    flag.tag.store(0, std::memory_order_relaxed);
    flag.epoch.store(0, std::memory_order_relaxed);
  };
  if (team.direct) {
    for (int writer = 0; writer < team.size(); ++writer) clear(writer);
  } else {
    for (const int writer : nodes_of(team).here()) clear(writer);
    clear_received_flags(team);
  }
  for (auto& arrived : team.tree(team.me()).arrived) arrived.store(0, std::memory_order_relaxed);
  team.tree(team.me()).released.store(0, std::memory_order_relaxed);
  team.central(team.me()).arrived.store(0, std::memory_order_relaxed);
  team.central(team.me()).prepared.store(0, std::memory_order_relaxed);
  team.central(team.me()).released.store(0, std::memory_order_relaxed);
}

// The members of the parent name different children.
[[noreturn]] void end_with_children(const char* routine, const Triplet& mine, const Triplet& theirs, int pe) {
  fatal(routine,
        "the first new team has start %d, stride %d and size %d here, and start %d, stride %d and size %d on PE %d of "
        "the parent; all members of the parent have to pass the same arguments",
        mine.start, mine.stride, mine.size, theirs.start, theirs.stride, theirs.size, pe);
}

// `other`: in a group that is not direct, a proposal that does not agree with `own`.
void check_same_children(const TeamGroup& group, const Proposal& own, const Disagreement<Proposal>& other) {
  const auto check = [&](int pe, const Proposal& theirs) {
    if (theirs.turn == own.turn && theirs.children_digest != own.children_digest)
      end_with_children(group.routine(), own.first, theirs.first, pe);
  };
  if (!group.is_direct()) return check(other.pe, other.data);
  for (int pe = 0; pe < group.size(); ++pe) check(pe, proposal_of(group, pe));
}

struct Agreement {
  enum class Result : std::uint8_t { ok, differ, none_free };  // the same on all PEs
  Result result = Result::ok;
  std::size_t index = 0;  // of this PE's child
  team::PeSet set;
  int my_pe = -1;

  bool ok() const { return result == Result::ok; }
};

// `is_common`: `own` is what the proposals of all members have in common. Else they are published, in a direct group.
Agreement agree(const TeamGroup& group, std::span<const Triplet> children, const Proposal& own, bool is_common,
                const Search& search) {
  using Result = Agreement::Result;
  Agreement agreement;
  if (!is_common && !(group.is_direct() && all_request_the_same(group, own.children_digest)))
    agreement.result = Result::differ;
  for (const Triplet& child : children) {
    if (!agreement.ok()) break;
    const auto set = group.route().set.subset(child.start, child.stride, child.size);
    if (!set) {
      agreement.result = Result::differ;
      break;
    }
    const std::size_t index = choose(is_common ? own : proposal_of_members(group, child), search);
    if (index == 0) agreement.result = Result::none_free;
    const auto mine = set->find(group.route().set.world(TeamPe{group.me()}));
    if (index == 0 || !mine) continue;
    agreement.index = index;
    agreement.set = *set;
    agreement.my_pe = mine->value;
  }
  return agreement;
}

void open_child(const Agreement& agreement, int num_contexts) {
  const context::Context route = route_of(team_table[kWorldTeam].route, agreement.set, agreement.my_pe);
  const std::uint64_t handle = next_generation() * kMaxTeams + agreement.index;
  open_team(agreement.index, route, handle).num_contexts = num_contexts;
}

bool all_took_their_indices(const TeamGroup& group) {
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
  team.near_slot = route.near_heap - node_slots.before_heap + slot_of_team(index) * node_slots.bytes;
  team.scratch_offset = node_slots.bytes - 2 * windows::kScratchBytes;
  team.direct = context::all_near(team.route);
  team.counting = barrier_counts(node_slots.crowded, team.direct);
  team.handle = handle;
  if (is_beyond_slots(index)) use_messages(team);
  forget_nodes(team);
  background::restart_numbers(index);
  if (!team.direct) open_receiver(team);
  return team;
}

Team& open_team(std::size_t index, const context::Context& route, std::uint64_t handle) noexcept {
  Team& team = install_team(index, route, handle);
  team.epoch = team.exchanges = 0;
  team.calls = {};
  team.counted = team.climbed = {};
  clear_own_flags(team);
  return team;
}

SplitResult split(Team& parent, const char* routine, std::span<const Triplet> children, int num_contexts) noexcept {
  TeamGroup group(parent, routine);
  Search search;
  while (true) {
    Proposal proposal = own_proposal(parent, children, search.range);
    Disagreement<Proposal> other_request;
    const bool is_common = exchange_merged(group, proposal, other_request);
    if (!is_common) check_same_children(group, proposal, other_request);
    const Agreement agreement = agree(group, children, proposal, is_common, search);
    const bool looks_on = agreement.result == Agreement::Result::none_free && search.range + 1 < kRanges;
    const bool member = agreement.ok() && agreement.index != 0;
    const bool taken = !member || take_index(agreement.index);
    if (member && taken) open_child(agreement, num_contexts);
    // No member uses a child before all members have cleared their flags.
    Outcome outcome{taken ? 1U : 0U};
    Disagreement<Outcome> other_outcome;
    const bool is_known = exchange_merged(group, outcome, other_outcome);
    const bool all_taken = is_known ? outcome.taken != 0 : group.is_direct() && all_took_their_indices(group);
    if (all_taken && !looks_on) return {agreement.ok(), agreement.index};
    if (member && taken) release_team(team_table[agreement.index]);
    if (looks_on) {
      ++search.range;
      continue;
    }
    // Meanwhile another thread has split another team into the same index. Try again, from another word for each
    // parent.
    search.start = (search.start + 64 * (1 + (parent.route.team_index & 3))) % windows::kTeamSlots;
  }
}

std::uint64_t digest_of_all_pes() noexcept {
  const std::uint32_t n_pes = team_table[kEndTeam].route.n_pes;
  std::uint64_t sum = 0;
  const auto add = [&](std::size_t begin, std::size_t end) {
    for (std::size_t index = begin; index < end; ++index) {
      if (team_table[index].route.n_pes == n_pes) sum += team_table[index].calls.digest;
    }
  };
  add(kWorldTeam, beyond_slots);
  add(kMaxTeams, kTeamEntries);
  return sum;
}

// All members go through the teams in one order, so none waits for another one in a circle.
void compare_passed_calls(const char* routine) noexcept {
  const std::uint32_t n_pes = team_table[kEndTeam].route.n_pes;
  const auto compare = [&](std::size_t begin, std::size_t end) {
    for (std::size_t index = begin; index < end; ++index) {
      Team& team = team_table[index];
      const bool is_of_some = team.handle != 0 && team.route.n_pes > 1 && team.route.n_pes < n_pes;
      if (!is_of_some || team.calls.passed.epoch == 0 || team.calls.passed.digest != team.calls.digest) continue;
      begin_call(team, call_word(CallFamily::finalize));
      barrier(team, routine);
    }
  };
  compare(kSharedTeam, beyond_slots);
  compare(kMaxTeams, kTeamEntries);
}

void close_team(Team& team) noexcept {
  team.handle = 0;
  team.calls = {};
  team.route.n_pes = 0;
  forget_nodes(team);
  if (!team.direct) close_receiver(static_cast<std::size_t>(&team - team_table));
  std::free(std::exchange(team.own_slot, nullptr));
  team.route.by_messages = false;
}

void release_team(Team& team) noexcept {
  close_team(team);
  give_index_back(static_cast<std::size_t>(&team - team_table));
}

void reset_teams() noexcept {
  for (std::size_t slot = beyond_slots; slot-- > kSharedTeam + 1;) {
    if (team_table[slot].handle != 0) release_team(team_table[slot]);
  }
}

}  // namespace shmemx::coll
