#include "coll/internode/alltoall.hpp"

#include "coll/common/flags.hpp"
#include "coll/common/member_access.hpp"
#include "coll/common/select.hpp"
#include "coll/internode/alltoall_leaders.hpp"
#include "coll/internode/leaders.hpp"
#include "coll/internode/node_blocks.hpp"

namespace shmemx::coll {
namespace {

void send_block(TeamGroup& group, const NodeBlocks& blocks, int pe, std::uint64_t epoch) {
  std::byte* const dest = blocks.dest_of(group.me());
  const std::byte* const source = blocks.source_for(pe);
  if (context::is_mapped(group.route(), pe))
    return MemberAccess{group.route(), group.routine(), {}}.put_strided(pe, dest, source, blocks.shape());
  if (blocks.shape().block_count == 1) return put_with_flag(group, pe, dest, {source, blocks.block_bytes()}, epoch);
  put_strided_with_flag(group, pe, dest, source, blocks.shape(), epoch);
}

// Every PE sends a block to every PE.
void alltoall_from_pe_to_pe(TeamGroup& group, const NodeBlocks& blocks) {
  Team& team = group.team();
  const std::uint64_t epoch = ++team.epoch;
  const int n = team.size();
  for (int i = 1; i <= n; ++i) send_block(group, blocks, (team.me() + i) % n, epoch);
  for (int i = 1; i < n; ++i) {
    const int pe = (team.me() + n - i) % n;
    if (!context::is_mapped(team.route, pe)) await_flag(team, group.routine(), pe, epoch);
  }
  sync_node(team, group.routine());
}

// Every PE stores its blocks for node peers, the leaders exchange all others.
void alltoall_through_leaders(TeamGroup& group, const NodeBlocks& blocks) {
  Team& team = group.team();
  const TeamNodes& nodes = blocks.nodes();
  const MemberAccess members{team.route, group.routine()};
  for (const int peer : nodes.here())
    members.put_strided(peer, blocks.dest_of(team.me()), blocks.source_for(peer), blocks.shape());
  FirstRound round(team, group.routine(), team.epoch + 1);
  FirstRound second(team, group.routine(), team.epoch + 2, FirstRound::By::leader);
  team.epoch += 2;
  const bool leads =
      alltoall_on_mesh(nodes) ? exchange_on_mesh(blocks, round, second) : exchange_directly(blocks, round);
  if (leads) release_node(team, group.routine(), round.epoch());
}

}  // namespace

void alltoalls_remote(TeamGroup& group, Symmetric dest, Symmetric source, const rma::Strided& shape) noexcept {
  if (shape.block_count == 0 || shape.block_bytes == 0) return group.sync();
  const NodeBlocks blocks(group.team(), dest.pe0, source.pe0, shape);
  if (alltoall_by_leaders(blocks.nodes(), blocks.block_bytes())) return alltoall_through_leaders(group, blocks);
  alltoall_from_pe_to_pe(group, blocks);
}

}  // namespace shmemx::coll
