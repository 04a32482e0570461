#include "coll/internode/lengths.hpp"

#include <algorithm>
#include <cstring>

#include "coll/internode/leader_gather.hpp"
#include "coll/internode/leaders.hpp"

namespace shmemx::coll {
namespace {

// Exchanges the lengths among the leaders; those of this node lie in the scratch areas.
LeaderGather gather_lengths(TeamGroup& group, std::uint64_t epoch) {
  Team& team = group.team();
  const TeamNodes& nodes = nodes_of(team);
  std::vector<std::size_t> bytes;
  for (int node = 0; node < nodes.count(); ++node)
    bytes.push_back(sizeof(std::uint64_t) * static_cast<std::size_t>(nodes.size_of(node)));
  FirstRound round(team, group.routine(), epoch, FirstRound::By::leader);
  return gather_among_leaders(round, bytes, [&](std::byte* at) {
    for (const int pe : nodes.here()) {
      std::memcpy(at, team.scratch(pe, team.exchanges & 1), sizeof(std::uint64_t));
      at += sizeof(std::uint64_t);
    }
  });
}

// Turns the order of the nodes into that of the PEs.
void sort_by_pe(const TeamNodes& nodes, const LeaderGather& all, std::vector<std::uint64_t>& lengths) {
  for (int node = 0; node < nodes.count(); ++node) {
    const std::byte* at = all.of(node);
    for (const int pe : nodes.on(node)) {
      std::memcpy(&lengths[static_cast<std::size_t>(pe)], at, sizeof(std::uint64_t));
      at += sizeof(std::uint64_t);
    }
  }
}

// The leader passes the lengths to its node through its scratch area, as many at a time as fit.
void share_with_node(TeamGroup& group, std::vector<std::uint64_t>& lengths, std::uint64_t first_epoch) {
  Team& team = group.team();
  const TeamNodes& nodes = nodes_of(team);
  constexpr std::size_t kLengths = windows::kScratchBytes / sizeof(std::uint64_t);
  std::byte* const area = team.scratch(nodes.leader(nodes.mine), team.exchanges & 1);
  std::uint64_t epoch = first_epoch;
  for (std::size_t at = 0; at < lengths.size(); at += kLengths) {
    const std::size_t bytes = sizeof(std::uint64_t) * std::min(kLengths, lengths.size() - at);
    const bool first = at == 0;  // all have gathered already
    if (!first) epoch = ++team.epoch;
    if (nodes.leads()) {
      if (!first) static_cast<void>(gather_at_leader(team, group.routine(), epoch));
      std::memcpy(area, lengths.data() + at, bytes);
      release_node(team, group.routine(), epoch);
    } else {
      static_cast<void>(gather_at_leader(team, group.routine(), epoch));
      std::memcpy(lengths.data() + at, area, bytes);
    }
  }
}

std::vector<std::uint64_t> lengths_of_all(TeamGroup& group, std::uint64_t bytes) {
  Team& team = group.team();
  const TeamNodes& nodes = nodes_of(team);
  std::memcpy(team.scratch(team.me(), ++team.exchanges & 1), &bytes, sizeof bytes);
  const std::uint64_t epoch = ++team.epoch;
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(team.size()));
  if (nodes.leads()) {
    static_cast<void>(gather_at_leader(team, group.routine(), epoch));
    sort_by_pe(nodes, gather_lengths(group, epoch), lengths);
  }
  share_with_node(group, lengths, epoch);
  return lengths;
}

}  // namespace

Offsets exchange_lengths(TeamGroup& group, std::uint64_t bytes) noexcept {
  Offsets offsets{0};
  for (const std::uint64_t length : lengths_of_all(group, bytes)) offsets.push_back(offsets.back() + length);
  return offsets;
}

}  // namespace shmemx::coll
