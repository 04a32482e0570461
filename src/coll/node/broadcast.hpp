// Broadcasts of a team whose members all map each other's memory: one copy from the owner's buffer to each dest.
//
// The caller vouches for dest on all PEs and for its own source only. So storing into another PE's dest may begin at
// once; reading another PE's source requires that PE's flag first.
#pragma once

#include "coll/common/flags.hpp"
#include "coll/common/group.hpp"
#include "coll/common/symmetric.hpp"
#include "rma/copy.hpp"

namespace shmemx::coll {

// Whether the root's dest is written, too: of a team it is, of an active set it stays as it is.
enum class RootDest : std::uint8_t { written, kept };

// Stores the root's data into all other dests down a binomial tree whose vertex 0 is the root. Each PE but the root
// waits for its parent only.
inline void broadcast_push_tree(Team& team, const char* routine, Symmetric dest, const std::byte* source,
                                std::size_t bytes, int root) noexcept {
  const int n = team.size();
  const int vertex = team.me() >= root ? team.me() - root : team.me() - root + n;
  const auto pe_of = [&](int other) { return other + root < n ? other + root : other + root - n; };
  const std::uint64_t epoch = ++team.epoch;
  int step = 1;
  const std::byte* from = source;
  if (vertex != 0) {
    while ((vertex & step) == 0) step *= 2;
    await_flag(team, routine, pe_of(vertex - step), epoch);
    from = dest.at(team.me());
  } else {
    while (step < n) step *= 2;
  }
  for (step /= 2; step != 0; step /= 2) {
    if (vertex + step >= n) continue;
    rma::copy(dest.at(pe_of(vertex + step)), from, bytes);
    set_flag(team, routine, pe_of(vertex + step), epoch);
  }
}

// The root stores into every other dest itself.
inline void broadcast_push_flat(Team& team, const char* routine, Symmetric dest, const std::byte* source,
                                std::size_t bytes, int root) noexcept {
  const std::uint64_t epoch = ++team.epoch;
  if (team.me() != root) return await_flag(team, routine, root, epoch);
  for (int pe = 0; pe < team.size(); ++pe) {
    if (pe == root) continue;
    rma::copy(dest.at(pe), source, bytes);
    set_flag(team, routine, pe, epoch);
  }
}

// All members read the root's source at the same time; the root leaves when all have.
inline void broadcast_pull(const TeamGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root,
                           RootDest root_dest) noexcept {
  Team& team = group.team();
  const char* const routine = group.routine();
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
  if (root_dest == RootDest::written && dest.at(me) != source.at(me)) rma::copy(dest.at(me), source.at(me), bytes);
  for (int pe = 0; pe < team.size(); ++pe) {
    if (pe != root) await_flag(team, routine, pe, epoch);
  }
}

}  // namespace shmemx::coll
