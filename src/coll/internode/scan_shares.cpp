
#include "base/bulk_copy.hpp"
#include "coll/common/eager.hpp"
#include "coll/common/flags.hpp"
#include "coll/common/select.hpp"
#include "coll/internode/leaders.hpp"
#include "coll/internode/member_scan.hpp"

namespace shmemx::coll {
namespace {

// One worker's share, in blocks. Each block has an epoch of its own.
class ShareScan {
 public:
  ShareScan(TeamGroup& group, const MemberScan& members, std::uint64_t first_epoch)
      : group_(group), members_(members), nodes_(members.nodes()), first_epoch_(first_epoch), epoch_(first_epoch) {}

  void run(Share share, std::size_t block) {
    for (std::size_t at = share.begin; at < share.end; at += block, ++epoch_)
      pass_block_on(at, std::min(block, share.end - at));
    const bool any = epoch_ != first_epoch_;
    if (any && nodes_.mine + 1 < nodes_.count())  // until no block is under way any more
      await_flag(group_.team(), group_.routine(), worker(nodes_.mine + 1), epoch_ - 1);
  }

 private:
  int worker(int node) const { return nodes_.on(node)[static_cast<std::size_t>(nodes_.index)]; }

  // Receives the sum of the lower nodes, sends it on with this node's sum added, and computes for the members here.
  void pass_block_on(std::size_t at, std::size_t nelems) {
    ScanBuffer sum(nelems * members_.element_bytes());
    if (nodes_.mine != 0) receive_below(sum);
    if (nodes_.mine + 1 < nodes_.count()) send_above(at, nelems, sum);
    members_.scan_node(at, nelems, sum);
  }

  void receive_below(ScanBuffer& sum) {
    const int from = worker(nodes_.mine - 1);
    const EagerMessage below = await_eager(group_.team(), group_.routine(), from, epoch_, sum.size());
    copy_block(sum.data(), below.data(), sum.size());
    set_flag(group_.team(), group_.routine(), from, epoch_);
  }

  void send_above(std::size_t at, std::size_t nelems, const ScanBuffer& sum) {
    const int to = worker(nodes_.mine + 1);
    ScanBuffer total(sum.size());
    members_.sum_of_node(at, nelems, total);
    ScanBuffer above = sum;
    members_.sum().accumulate(above.data(), total.data(), nelems);
    if (epoch_ - first_epoch_ >= kScanBlocksAhead)
      await_flag(group_.team(), group_.routine(), to, epoch_ - kScanBlocksAhead);
    send_eager(group_.team(), group_.routine(), to, epoch_, above);
  }

  TeamGroup& group_;
  const MemberScan& members_;
  const TeamNodes& nodes_;
  std::uint64_t first_epoch_;
  std::uint64_t epoch_;
};

}  // namespace

void scan_by_shares(TeamGroup& group, const MemberScan& members, std::size_t nelems) {
  Team& team = group.team();
  const TeamNodes& nodes = members.nodes();
  const std::size_t block = kScanBlockBytes / members.element_bytes();
  const std::size_t longest = share_of(nelems, 0, nodes.min_size).size();
  sync_node(team, group.routine());
  const std::uint64_t first_epoch = team.epoch + 1;
  team.epoch += (longest + block - 1) / block;
  if (nodes.index < nodes.min_size)
    ShareScan(group, members, first_epoch).run(share_of(nelems, nodes.index, nodes.min_size), block);
  sync_node(team, group.routine());
}

}  // namespace shmemx::coll
