
#include "base/bulk_copy.hpp"
#include "coll/common/eager.hpp"
#include "coll/common/select.hpp"
#include "coll/internode/leaders.hpp"
#include "coll/internode/member_scan.hpp"

namespace shmemx::coll {
namespace {

// The leaders' part: finds the sum of all lower nodes.
class LeaderScan {
 public:
  LeaderScan(TeamGroup& group, const MemberScan& members, std::size_t nelems, std::uint64_t epoch)
      : group_(group), members_(members), nodes_(members.nodes()), nelems_(nelems), epoch_(epoch) {}

  // `below` holds zeros.
  void sum_below(ScanBuffer& below) {
    ScanBuffer total(below.size());
    members_.sum_of_node(0, nelems_, total);
    if (!leaders_exchange_directly(nodes_)) return recursive_doubling(total, below);
    for (int node = nodes_.mine + 1; node < nodes_.count(); ++node) send(node, total);
    for (int node = 0; node < nodes_.mine; ++node) {
      const EagerMessage next = receive(node, below.size());
      if (node == 0) {
        copy_block(below.data(), next.data(), below.size());
      } else {
        members_.sum().accumulate(below.data(), next.data(), nelems_);
      }
    }
  }

 private:
  // After round k, `total` covers 2^k nodes, from this one down.
  void recursive_doubling(ScanBuffer& total, ScanBuffer& below) {
    bool has_below = false;
    for (int distance = 1; distance < nodes_.count(); distance *= 2) {
      if (nodes_.mine + distance < nodes_.count()) send(nodes_.mine + distance, total);
      if (nodes_.mine < distance) continue;
      const EagerMessage lower = receive(nodes_.mine - distance, below.size());
      prepend(lower, total, true);
      prepend(lower, below, has_below);
      has_below = true;
    }
  }

  // upper = lower + upper, or lower if there is no upper yet.
  void prepend(const EagerMessage& lower, ScanBuffer& upper, bool has_upper) const {
    ScanBuffer sum(lower.data(), lower.data() + upper.size());
    if (has_upper) members_.sum().accumulate(sum.data(), upper.data(), nelems_);
    upper.swap(sum);
  }

  void send(int node, const ScanBuffer& data) {
    send_eager(group_.team(), group_.routine(), nodes_.leader(node), epoch_, data);
  }
  EagerMessage receive(int node, std::size_t bytes) {
    return await_eager(group_.team(), group_.routine(), nodes_.leader(node), epoch_, bytes);
  }

  TeamGroup& group_;
  const MemberScan& members_;
  const TeamNodes& nodes_;
  std::size_t nelems_;
  std::uint64_t epoch_;
};

}  // namespace

void scan_through_leaders(TeamGroup& group, const MemberScan& members, std::size_t nelems) {
  Team& team = group.team();
  const TeamNodes& nodes = members.nodes();
  if (++nodes.scans % kScansBetweenBarriers == 0) group.sync();
  const std::uint64_t epoch = ++team.epoch;
  if (!gather_at_leader(team, group.routine(), epoch)) return;
  ScanBuffer below(nelems * members.element_bytes());
  if (nodes.count() > 1) LeaderScan(group, members, nelems, epoch).sum_below(below);
  members.scan_node(0, nelems, below);
  release_node(team, group.routine(), epoch);
}

}  // namespace shmemx::coll
