// Collectives that only move data: broadcast, collect, fcollect, alltoall, alltoalls. One copy from the owner's buffer
// to the destination, whoever makes it.
//
// The caller vouches for dest on all PEs and for its own source only. So pushing into a peer's dest may begin at once;
// reading a peer's source needs that peer's arrival first. Where some peer's memory is not mapped, the functions of
// coll/remote.hpp do the same over several nodes.
#pragma once

#include "coll/group.hpp"
#include "coll/remote.hpp"
#include "rma/copy.hpp"
#include "rma/strided.hpp"

namespace shmemx::coll {

inline constexpr std::size_t kPushBytes = 16384;  // broadcasts up to here are pushed, larger ones pulled
inline constexpr int kFlatPushPes = 8;            // up to here the root serves everybody itself

// Root's bytes to everybody else's dest, down a binomial tree whose node 0 is the root. Each PE but the root
// waits for its parent only.
inline void push_down_tree(Team& team, const char* routine, Symmetric dest, const std::byte* source, std::size_t bytes,
                           int root) noexcept {
  const int n = team.size();
  const int node = team.me() >= root ? team.me() - root : team.me() - root + n;
  const auto pe_of = [&](int other) { return other + root < n ? other + root : other + root - n; };
  const std::uint64_t epoch = ++team.epoch;
  int step = 1;
  const std::byte* from = source;
  if (node != 0) {
    while ((node & step) == 0) step *= 2;
    await_flag(team, routine, pe_of(node - step), epoch);
    from = dest.at(team.me());
  } else {
    while (step < n) step *= 2;
  }
  for (step /= 2; step != 0; step /= 2) {
    if (node + step >= n) continue;
    rma::copy(dest.at(pe_of(node + step)), from, bytes);
    set_flag(team, routine, pe_of(node + step), epoch);
  }
}

inline void push_flat(Team& team, const char* routine, Symmetric dest, const std::byte* source, std::size_t bytes,
                      int root) noexcept {
  const std::uint64_t epoch = ++team.epoch;
  if (team.me() != root) return await_flag(team, routine, root, epoch);
  for (int pe = 0; pe < team.size(); ++pe) {
    if (pe == root) continue;
    rma::copy(dest.at(pe), source, bytes);
    set_flag(team, routine, pe, epoch);
  }
}

// Everybody reads the root's source at the same time; the root leaves when all have.
inline void pull_from_root(Team& team, const char* routine, Symmetric dest, Symmetric source, std::size_t bytes,
                           int root) noexcept {
  const std::uint64_t epoch = ++team.epoch;
  const int me = team.me();
  if (me != root) {
    await_flag(team, routine, root, epoch);
    rma::copy(dest.at(me), source.at(root), bytes);
    return set_flag(team, routine, root, epoch);
  }
  for (int pe = 0; pe < team.size(); ++pe) {
    if (pe != root) set_flag(team, routine, pe, epoch);
  }
  if (dest.at(me) != source.at(me)) rma::copy(dest.at(me), source.at(me), bytes);
  for (int pe = 0; pe < team.size(); ++pe) {
    if (pe != root) await_flag(team, routine, pe, epoch);
  }
}

// Team form: the root's dest is written too.
inline void broadcast(TeamGroup group, Symmetric dest, Symmetric source, std::size_t bytes, int root) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return broadcast_remote(group, dest, source, bytes, root);
  Team& team = group.team();
  if (bytes > kPushBytes && team.size() > 1) return pull_from_root(team, group.routine(), dest, source, bytes, root);
  const std::byte* const own = source.at(team.me());
  if (team.size() <= kFlatPushPes) {
    push_flat(team, group.routine(), dest, own, bytes, root);
  } else {
    push_down_tree(team, group.routine(), dest, own, bytes, root);
  }
  if (team.me() == root && dest.at(root) != own && bytes != 0) rma::copy(dest.at(root), own, bytes);
}

inline void push_flat(ActiveGroup& group, Symmetric dest, const std::byte* source, std::size_t bytes,
                      int root) noexcept {
  if (group.me() != root) return group.await_release();
  for (int pe = 0; pe < group.size(); ++pe) {
    if (pe == root) continue;
    group.await_departure(pe);
    rma::copy(dest.at(pe), source, bytes);
    group.release(pe);
  }
}

// Active-set form: the root's dest is left alone.
inline void broadcast(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return broadcast_remote(group, dest, source, bytes, root);
  if (bytes <= kPushBytes && group.size() <= kFlatPushPes)
    return push_flat(group, dest, source.at(group.me()), bytes, root);
  group.sync();
  if (group.me() != root && bytes != 0) rma::copy(dest.at(group.me()), source.at(root), bytes);
  group.sync();
}

// Own bytes to everybody's dest at `offset`, own PE included; starts behind the own number so that not all hit PE 0
// first.
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

template <class Group>
inline void fcollect(Group& group, Symmetric dest, Symmetric source, std::size_t bytes) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return fcollect_remote(group, dest, source.at(group.me()), bytes);
  push_to_all(group, dest, source.at(group.me()), static_cast<std::size_t>(group.me()) * bytes, bytes);
  group.sync();
}

// Contributions of different length: the lengths first. `checked_dest(total)` checks and translates dest.
template <class Group, class CheckedDest>
inline void collect(Group& group, CheckedDest checked_dest, const std::byte* source, std::size_t bytes) noexcept {
  if (!group.is_direct()) [[unlikely]] {
    const Offsets offsets = exchange_lengths(group, bytes);
    collect_remote(group, checked_dest(offsets.back()), source, offsets);
    return group.retract_word();
  }
  group.publish_word(bytes);
  group.sync();
  std::size_t offset = 0;
  std::size_t total = 0;
  for (int pe = 0; pe < group.size(); ++pe) {
    if (pe == group.me()) offset = total;
    total += group.published_word(pe);
  }
  push_to_all(group, checked_dest(total), source, offset, bytes);
  group.sync();
  group.retract_word();
}

template <class Group>
inline void alltoall(Group& group, Symmetric dest, Symmetric source, std::size_t bytes) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return alltoall_remote(group, dest, source, bytes);
  const int n = group.size();
  const auto me = static_cast<std::size_t>(group.me());
  for (int i = 1; bytes != 0 && i <= n; ++i) {
    const int pe = group.me() + i < n ? group.me() + i : group.me() + i - n;
    rma::copy(dest.at(pe) + me * bytes, source.at(group.me()) + static_cast<std::size_t>(pe) * bytes, bytes);
  }
  group.sync();
}

// `shape` describes one block: nelems elements with their steps on both sides.
template <class Group>
inline void alltoalls(Group& group, Symmetric dest, Symmetric source, const rma::Strided& shape) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return alltoalls_remote(group, dest, source, shape);
  const int n = group.size();
  const auto me = static_cast<std::size_t>(group.me());
  const std::size_t dest_block = shape.block_count * shape.dest_step;
  const std::size_t source_block = shape.block_count * shape.source_step;
  for (int i = 1; shape.block_count != 0 && i <= n; ++i) {
    const int pe = group.me() + i < n ? group.me() + i : group.me() + i - n;
    rma::copy_strided(dest.at(pe) + me * dest_block,
                      source.at(group.me()) + static_cast<std::size_t>(pe) * source_block, shape);
  }
  group.sync();
}

}  // namespace shmemx::coll
