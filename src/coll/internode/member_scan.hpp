// What the scans over several nodes share: running sums over the members of this node, and the three algorithms.
#pragma once

#include <vector>

#include "coll/common/nodes.hpp"
#include "coll/internode/node_combine.hpp"
#include "coll/internode/scan.hpp"

namespace shmemx::coll {

using ScanBuffer = std::vector<std::byte>;

class MemberScan {
 public:
  MemberScan(Team& team, std::byte* own_dest, const std::byte* own_source, const Scan& scan)
      : team_(team), nodes_(nodes_of(team)), dest_(own_dest), source_(own_source), scan_(scan) {}

  const TeamNodes& nodes() const { return nodes_; }
  const Combine& sum() const { return scan_.sum; }
  std::size_t element_bytes() const { return scan_.sum.element_bytes; }

  // In all of these a block is `nelems` elements from element `at` on.
  // Adds up what the members of this node have of a block.
  void sum_of_node(std::size_t at, std::size_t nelems, ScanBuffer& total) const;
  // Returns where `pe` of this node has a block of the source.
  const std::byte* source_of(int pe, std::size_t at) const;
  // Stores the results of all members of this node. `sum` is that of all lower members and grows.
  void scan_node(std::size_t at, std::size_t nelems, ScanBuffer& sum) const;
  // Adds the elements of `pe` to `sum`, and stores its result if its memory is mapped.
  void scan_member(int pe, std::size_t at, const std::byte* elements, ScanBuffer& sum) const;

 private:
  Team& team_;
  const TeamNodes& nodes_;
  std::byte* dest_;
  const std::byte* source_;
  Scan scan_;
};

// scan_leaders.cpp: each leader adds up its node, sends the sum to the higher leaders, and computes for its members.
void scan_through_leaders(TeamGroup& group, const MemberScan& members, std::size_t nelems);
// scan_shares.cpp: worker j of each node computes share j, and passes the sum on block by block from node to node.
void scan_by_shares(TeamGroup& group, const MemberScan& members, std::size_t nelems);
// scan_gathered.cpp: each leader gets the elements of all members, whatever their order.
void scan_gathered(TeamGroup& group, const MemberScan& members, std::size_t nelems);

}  // namespace shmemx::coll
