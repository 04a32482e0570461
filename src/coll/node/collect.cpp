#include "coll/node/collect.hpp"

#include <algorithm>

namespace shmemx::coll {
namespace {

SpanLengths& lengths_of(const Team& team, int pe) {
  return *reinterpret_cast<SpanLengths*>(team.scratch(pe, team.exchanges & 1));
}

}  // namespace

const SpanLengths& exchange_lengths_by_tree(TeamGroup& group, std::uint64_t bytes) noexcept {
  Team& team = group.team();
  group.publish_word(bytes);
  ++team.epoch;
  const bool last = climb_tree(team, group.routine(), [&](const TreeGroup& at) {
    const auto level = static_cast<std::size_t>(at.level);
    std::uint64_t sum = 0;
    for (int i = 0; i < at.count; ++i) sum += lengths_of(team, at.member(i)).of_span[level];
    lengths_of(team, at.first).of_span[level + 1] = sum;
    if (at.first != 0 || at.step != tree_root(team.size()).step) return;
    lengths_of(team, 0).offset = 0;
    lengths_of(team, 0).total = sum;
  });
  std::uint64_t offset = 0;
  descend_tree(team, group.routine(), last, [&](const TreeGroup& at, int i) {
    const SpanLengths& mine = lengths_of(team, at.first);
    const auto level = static_cast<std::size_t>(at.level);
    if (i == 1) offset = mine.offset + mine.of_span[level];
    SpanLengths& theirs = lengths_of(team, at.member(i));
    theirs.offset = offset;
    theirs.total = mine.total;
    offset += theirs.of_span[level];
  });
  return lengths_of(team, team.me());
}

void fcollect_by_tree(Team& team, const char* routine, Symmetric dest, const std::byte* source,
                      std::size_t bytes) noexcept {
  const auto n = static_cast<std::size_t>(team.size());
  const auto begin = [&](int pe) { return static_cast<std::size_t>(pe) * bytes; };
  rma::copy(dest.at(team.me()) + begin(team.me()), source, bytes);
  collect_tree(team, routine, dest, n * bytes, begin, [&](int pe, const TreeGroup& group) {
    return std::min(static_cast<std::size_t>(group.step), n - static_cast<std::size_t>(pe)) * bytes;
  });
}

void collect_by_tree(Team& team, const char* routine, Symmetric dest, const std::byte* source,
                     const SpanLengths& lengths) noexcept {
  const std::size_t total = lengths.total;
  if (total == 0) return;
  rma::copy(dest.at(team.me()) + lengths.offset, source, lengths.of_span[0]);
  collect_tree(
      team, routine, dest, total, [&](int pe) { return lengths_of(team, pe).offset; },
      [&](int pe, const TreeGroup& group) {
        return lengths_of(team, pe).of_span[static_cast<std::size_t>(group.level)];
      });
}

}  // namespace shmemx::coll
