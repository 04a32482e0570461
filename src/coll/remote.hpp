// Collectives of a group some of whose members are on other nodes (or not mapped). For teams: what belongs to a node is
// gathered on its shared lines and memory, and travels between nodes once. For active sets: everything to everybody.
//
// Nothing here knows an element's type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "coll/group.hpp"
#include "rma/strided.hpp"

namespace shmemx::coll {

void broadcast_remote(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root) noexcept;
void broadcast_remote(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root) noexcept;

void fcollect_remote(TeamGroup& group, Symmetric dest, const std::byte* source, std::size_t bytes) noexcept;
void fcollect_remote(ActiveGroup& group, Symmetric dest, const std::byte* source, std::size_t bytes) noexcept;

// Where each member's contribution to a collect begins, and behind the last one's the total.
using Offsets = std::vector<std::uint64_t>;
Offsets exchange_lengths(TeamGroup& group, std::uint64_t bytes) noexcept;
// retract_word() follows.
Offsets exchange_lengths(ActiveGroup& group, std::uint64_t bytes) noexcept;
void collect_remote(TeamGroup& group, Symmetric dest, const std::byte* source, const Offsets& offsets) noexcept;
void collect_remote(ActiveGroup& group, Symmetric dest, const std::byte* source, const Offsets& offsets) noexcept;

// `shape` describes one block.
void alltoall_remote(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t bytes) noexcept;
void alltoall_remote(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t bytes) noexcept;
void alltoalls_remote(TeamGroup& group, Symmetric dest, Symmetric source, const rma::Strided& shape) noexcept;
void alltoalls_remote(ActiveGroup& group, Symmetric dest, Symmetric source, const rma::Strided& shape) noexcept;

// An operator on elements of some type: into = into op from.
struct Combine {
  std::size_t element_bytes;
  void (*accumulate)(std::byte* into, const std::byte* from, std::size_t nelems) noexcept;
};
struct Scan {
  Combine sum;
  bool exclusive;
};
void reduce_remote(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems, Combine combine) noexcept;
void reduce_remote(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t nelems, Combine combine) noexcept;
void scan_remote(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems, Scan scan) noexcept;

// The elements that PE `pe` of `n` computes for all.
struct Share {
  std::size_t begin;
  std::size_t end;
  std::size_t size() const noexcept { return end - begin; }
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
