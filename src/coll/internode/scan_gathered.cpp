#include <algorithm>

#include "base/bulk_copy.hpp"
#include "coll/common/select.hpp"
#include "coll/internode/leader_gather.hpp"
#include "coll/internode/leaders.hpp"
#include "coll/internode/member_scan.hpp"

namespace shmemx::coll {
namespace {

void gather_and_scan(TeamGroup& group, const MemberScan& members, Share block, std::uint64_t epoch) {
  const TeamNodes& nodes = members.nodes();
  const std::size_t bytes = block.size() * members.element_bytes();
  std::vector<std::size_t> lengths;
  for (int node = 0; node < nodes.count(); ++node)
    lengths.push_back(bytes * static_cast<std::size_t>(nodes.size_of(node)));
  FirstRound round(group.team(), group.routine(), epoch, FirstRound::By::leader);
  const LeaderGather all = gather_among_leaders(round, lengths, [&](std::byte* own) {
    for (std::size_t i = 0; i < nodes.here().size(); ++i)
      copy_block(own + i * bytes, members.source_of(nodes.here()[i], block.begin), bytes);
  });
  ScanBuffer sum(bytes);
  std::vector<std::size_t> seen(static_cast<std::size_t>(nodes.count()), 0);  // members of each node
  for (int pe = 0; pe < group.size(); ++pe) {
    const int node = nodes.node_of(pe);
    const std::byte* const elements = all.of(node) + bytes * seen[static_cast<std::size_t>(node)]++;
    members.scan_member(pe, block.begin, elements, sum);
  }
}

}  // namespace

void scan_gathered(TeamGroup& group, const MemberScan& members, std::size_t nelems) {
  Team& team = group.team();
  const std::size_t each =
      std::max<std::size_t>(kScanGatherBytes / members.nodes().n_members(), members.element_bytes());
  const std::size_t most = std::max<std::size_t>(each / members.element_bytes(), 1);
  for (std::size_t at = 0; at < nelems; at += most) {
    const std::uint64_t epoch = ++team.epoch;
    if (!gather_at_leader(team, group.routine(), epoch)) continue;
    gather_and_scan(group, members, {at, std::min(nelems, at + most)}, epoch);
    release_node(team, group.routine(), epoch);
  }
}

}  // namespace shmemx::coll
