// Collectives where the peers' memory is not mapped: the same results by messages that the peers execute. For teams a
// tick travels with the data or behind them, so nobody waits for more than what comes to itself; active sets settle
// and synchronise.
//
// Everything for both kinds of groups is instantiated in remote.cpp; nothing here knows an element's type.
#pragma once

#include <algorithm>
#include <cstddef>

#include "coll/group.hpp"
#include "rma/strided.hpp"

namespace shmemx::coll {

// Down a binomial tree in segments, so that a PE passes on the first ones while the others come.
void broadcast_remote(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root) noexcept;
void broadcast_remote(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root) noexcept;

// Own bytes to everybody's dest at `offset`, own PE included. Returns when the own dest is complete.
template <class Group>
void send_to_all(Group& group, Symmetric dest, const std::byte* source, std::size_t offset, std::size_t bytes) noexcept;
template <class Group>
void alltoall_remote(Group& group, Symmetric dest, Symmetric source, std::size_t bytes) noexcept;
template <class Group>
void alltoalls_remote(Group& group, Symmetric dest, Symmetric source, const rma::Strided& shape) noexcept;

// Where this PE's contribution to a collect goes, and how long all are together. retract_word() follows.
struct Piece {
  std::size_t offset;
  std::size_t total;
};
template <class Group>
Piece place_of_piece(Group& group, std::size_t bytes) noexcept;

// An operator on elements of some type.
struct Combine {
  std::size_t element_bytes;
  void (*accumulate)(std::byte* into, const std::byte* from, std::size_t nelems) noexcept;
};
struct Scan {
  Combine sum;
  bool exclusive;
};
template <class Group>
void reduce_remote(Group& group, Symmetric dest, Symmetric source, std::size_t nelems, Combine combine) noexcept;
template <class Group>
void scan_remote(Group& group, Symmetric dest, Symmetric source, std::size_t nelems, Scan scan) noexcept;

// The elements that PE `pe` of `n` computes for all.
struct Share {
  std::size_t begin;
  std::size_t end;
};
inline Share share_of(std::size_t nelems, int pe, int n) noexcept {
  const auto count = static_cast<std::size_t>(n);
  const auto index = static_cast<std::size_t>(pe);
  const std::size_t base = nelems / count;
  const std::size_t rest = nelems % count;
  const std::size_t begin = index * base + std::min(index, rest);
  return {begin, begin + base + (index < rest ? 1 : 0)};
}

}  // namespace shmemx::coll
