// fcollect and collect of a group whose members all map each other's memory: each PE stores its contribution into all
// dests, beginning with the next PE, so that not all write to PE 0 first.
#pragma once

#include "coll/common/group.hpp"
#include "coll/common/symmetric.hpp"
#include "coll/node/tree.hpp"
#include "rma/copy.hpp"

namespace shmemx::coll {

// Stores `bytes` of this PE into every member's dest at `offset`, its own included.
template <class Group>
inline void push_to_all(Group& group, Symmetric dest, const std::byte* source, std::size_t offset,
                        std::size_t bytes) noexcept {
  const int n = group.size();
  if (bytes == 0) return;
  for (int i = 1; i <= n; ++i) {
    const int pe = group.me() + i < n ? group.me() + i : group.me() + i - n;
    rma::copy(dest.at(pe) + offset, source, bytes);
  }
}

// Where this PE's contribution to a collect begins, and the length of all together. The lengths have been published.
struct CollectExtent {
  std::size_t offset = 0;
  std::size_t total = 0;
};
template <class Group>
inline CollectExtent collect_extent(const Group& group) noexcept {
  CollectExtent extent;
  for (int pe = 0; pe < group.size(); ++pe) {
    if (pe == group.me()) extent.offset = extent.total;
    extent.total += group.published_word(pe);
  }
  return extent;
}

// What members of the tree know of the lengths of a collect, in their scratch areas.
struct SpanLengths {
  std::uint64_t of_span[TreeNode::kLevels + 1];  // by level: of the members for which this one stands; [0] is its own
  std::uint64_t offset;                          // where its contribution begins
  std::uint64_t total;                           // of all
};

// Returns the lengths of this PE, with offset and total.
const SpanLengths& exchange_lengths_by_tree(TeamGroup& group, std::uint64_t bytes) noexcept;

// Contributions, which each member has stored in its own dest, go up the tree through the dests of first members, and
// the whole goes down. A dest is written only after its owner has arrived. begin(pe): where a member's contribution
// begins; length(pe, group): of those for which a member of the group stands.
template <class Begin, class Length>
inline void collect_tree(Team& team, const char* routine, Symmetric dest, std::size_t total, const Begin& begin,
                         const Length& length) noexcept {
  ++team.epoch;
  const bool last = climb_tree(team, routine, [&](const TreeGroup& group) {
    for (int i = 1; i < group.count; ++i) {
      const int pe = group.member(i);
      rma::copy(dest.at(group.first) + begin(pe), dest.at(pe) + begin(pe), length(pe, group));
    }
  });
  descend_tree(team, routine, last, [&](const TreeGroup& group, int i) {
    rma::copy(dest.at(group.member(i)), dest.at(group.first), total);
  });
}

// `bytes` of each member.
void fcollect_by_tree(Team& team, const char* routine, Symmetric dest, const std::byte* source,
                      std::size_t bytes) noexcept;
// `lengths`: from exchange_lengths_by_tree() just before.
void collect_by_tree(Team& team, const char* routine, Symmetric dest, const std::byte* source,
                     const SpanLengths& lengths) noexcept;

}  // namespace shmemx::coll
