#include "coll/remote.hpp"

#include <shmemx/types.h>

#include <cstring>
#include <memory>
#include <vector>

#include "context/context.hpp"
#include "rma/copy.hpp"

namespace shmemx::coll {
namespace {

constexpr std::size_t kSegmentBytes = 32768;    // of a broadcast: several cells, few enough that the tree fills early
constexpr std::size_t kGatherBytes = 524288;    // what a reduction works on at a time, of all PEs together
constexpr std::size_t kLeastBlockBytes = 4096;  // of each PE
constexpr std::size_t kMostBlockBytes = 65536;

template <class Group>
int pe_behind(const Group& group, int distance) {
  const int pe = group.me() + distance;
  return pe < group.size() ? pe : pe - group.size();
}

template <class Group>
rma::RemotePlace place_at(const Group& group, int pe, const std::byte* own_copy) {
  return rma::place_of(group.route(), own_copy, pe);
}

template <class Group>
void settle(const Group& group) {
  rma::settle_remote(group.routine(), context::default_context());
}

// A round in which everybody sends something to all the others and then waits until it has its own.
template <class Group>
class Round;

// A tick behind what each of the others gets: in the same message where that is possible.
template <>
class Round<TeamGroup> {
 public:
  explicit Round(TeamGroup& group) : group_(group), tick_(++group.team().ticks) {}

  void put(int pe, const std::byte* dest, const std::byte* source, std::size_t bytes) const {
    if (bytes == 0) return signal_tick(group_.team(), group_.routine(), pe, tick_);
    rma::put_signal_remote(group_.routine(), place_at(group_, pe, dest), source, bytes, tick_place(group_.team(), pe),
                           tick_, SHMEM_SIGNAL_SET);
  }
  void put_strided(int pe, const std::byte* dest, const std::byte* source, const rma::Strided& shape) const {
    if (shape.block_count != 0) {
      rma::put_strided_remote(group_.routine(), place_at(group_, pe, dest), source, shape);
    }
    signal_tick(group_.team(), group_.routine(), pe, tick_);
  }
  void finish() const {
    for (int i = 1; i < group_.size(); ++i) {
      await_tick(group_.team(), group_.routine(), pe_behind(group_, group_.size() - i), tick_);
    }
  }

 private:
  TeamGroup& group_;
  std::uint64_t tick_;
};

template <>
class Round<ActiveGroup> {
 public:
  explicit Round(ActiveGroup& group) : group_(group) {}

  void put(int pe, const std::byte* dest, const std::byte* source, std::size_t bytes) const {
    if (bytes != 0) rma::put_remote(group_.routine(), place_at(group_, pe, dest), source, bytes);
  }
  void put_strided(int pe, const std::byte* dest, const std::byte* source, const rma::Strided& shape) const {
    if (shape.block_count == 0) return;
    rma::put_strided_remote(group_.routine(), place_at(group_, pe, dest), source, shape);
  }
  void finish() const {
    settle(group_);
    group_.sync();
  }

 private:
  ActiveGroup& group_;
};

// One member of a binomial tree whose node 0 is the root.
class Tree {
 public:
  Tree(const Team& team, int root) : n_(team.size()), root_(root) {
    node_ = team.me() >= root ? team.me() - root : team.me() - root + n_;
    while (node_ == 0 ? reach_ < n_ : (node_ & reach_) == 0) reach_ *= 2;
  }
  int parent() const { return pe_of(node_ - reach_); }
  // The one with the largest subtree first.
  template <class Visit>
  void for_children(const Visit& visit) const {
    for (int step = reach_ / 2; step != 0; step /= 2) {
      if (node_ + step < n_) visit(pe_of(node_ + step));
    }
  }

 private:
  int pe_of(int node) const { return node + root_ < n_ ? node + root_ : node + root_ - n_; }

  int n_;
  int root_;
  int node_;
  int reach_ = 1;
};

// Where the blocks of all PEs lie one after the other, and the result.
class Gathered {
 public:
  Gathered(int n_pes, std::size_t element_bytes) {
    const auto n = static_cast<std::size_t>(n_pes);
    block_elements_ = std::clamp(kGatherBytes / n, kLeastBlockBytes, kMostBlockBytes) / element_bytes;
    block_bytes_ = block_elements_ * element_bytes;
    memory_.reset(new std::byte[(n + 1) * block_bytes_]);
  }
  std::size_t block_elements() const { return block_elements_; }
  std::byte* of(int pe) const { return memory_.get() + static_cast<std::size_t>(pe + 1) * block_bytes_; }
  std::byte* result() const { return memory_.get(); }

 private:
  std::size_t block_elements_;
  std::size_t block_bytes_;
  std::unique_ptr<std::byte[]> memory_;
};

// The same part of everybody's source, all on their way at once.
template <class Group>
void gather(const Group& group, const Gathered& into, const std::byte* own_source, std::size_t bytes) {
  for (int i = 1; i < group.size(); ++i) {
    const int pe = pe_behind(group, i);
    rma::get_nbi_remote(group.routine(), context::default_context(), into.of(pe), place_at(group, pe, own_source),
                        bytes);
  }
  std::memcpy(into.of(group.me()), own_source, bytes);
  settle(group);
}

template <class Group>
void put_block(const Group& group, int pe, std::byte* own_dest, const std::byte* block, std::size_t bytes) {
  if (pe == group.me()) {
    rma::copy(own_dest, block, bytes);
  } else {
    rma::put_remote(group.routine(), place_at(group, pe, own_dest), block, bytes);
  }
}

struct Work {
  Symmetric dest;
  Symmetric source;
  std::size_t nelems;
  std::size_t element_bytes;
};

// Gathers this PE's share block by block; `compute(gathered, own dest, elements)` sends results.
template <class Group, class Compute>
void for_blocks_of_share(Group& group, const Work& work, const Compute& compute) {
  const Share share = share_of(work.nelems, group.me(), group.size());
  if (share.begin == share.end) return;
  const Gathered gathered(group.size(), work.element_bytes);
  for (std::size_t at = share.begin; at < share.end; at += gathered.block_elements()) {
    const std::size_t count = std::min(gathered.block_elements(), share.end - at);
    const std::size_t offset = at * work.element_bytes;
    gather(group, gathered, work.source.at(group.me()) + offset, count * work.element_bytes);
    compute(gathered, work.dest.at(group.me()) + offset, count);
  }
}

}  // namespace

void broadcast_remote(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root) noexcept {
  Team& team = group.team();
  const Tree tree(team, root);
  const bool is_root = team.me() == root;
  std::byte* const own = dest.at(team.me());
  const std::byte* const from = is_root ? source.at(root) : own;
  std::size_t at = 0;
  do {
    const std::size_t piece = std::min(kSegmentBytes, bytes - at);
    const std::uint64_t tick = ++team.ticks;
    if (!is_root) await_tick(team, group.routine(), tree.parent(), tick);
    tree.for_children([&](int child) {
      if (piece == 0) return signal_tick(team, group.routine(), child, tick);
      rma::put_signal_remote(group.routine(), place_at(group, child, own + at), from + at, piece,
                             tick_place(team, child), tick, SHMEM_SIGNAL_SET);
    });
    at += piece;
  } while (at < bytes);
  if (is_root && own != from && bytes != 0) rma::copy(own, from, bytes);
}

void broadcast_remote(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root) noexcept {
  if (group.me() == root && bytes != 0) {
    for (int i = 1; i < group.size(); ++i) {
      rma::put_remote(group.routine(), place_at(group, pe_behind(group, i), dest.at(root)), source.at(root), bytes);
    }
    settle(group);
  }
  group.sync();
}

template <class Group>
void send_to_all(Group& group, Symmetric dest, const std::byte* source, std::size_t offset,
                 std::size_t bytes) noexcept {
  const Round<Group> round(group);
  std::byte* const place = dest.at(group.me()) + (bytes == 0 ? 0 : offset);
  for (int i = 1; i < group.size(); ++i) round.put(pe_behind(group, i), place, source, bytes);
  if (bytes != 0) rma::copy(place, source, bytes);
  round.finish();
}

template <class Group>
void alltoall_remote(Group& group, Symmetric dest, Symmetric source, std::size_t bytes) noexcept {
  const Round<Group> round(group);
  const auto me = static_cast<std::size_t>(group.me());
  std::byte* const place = dest.at(group.me()) + me * bytes;
  const auto block_for = [&](int pe) { return source.at(group.me()) + static_cast<std::size_t>(pe) * bytes; };
  for (int i = 1; i < group.size(); ++i) round.put(pe_behind(group, i), place, block_for(pe_behind(group, i)), bytes);
  if (bytes != 0) rma::copy(place, block_for(group.me()), bytes);
  round.finish();
}

template <class Group>
void alltoalls_remote(Group& group, Symmetric dest, Symmetric source, const rma::Strided& shape) noexcept {
  const Round<Group> round(group);
  const auto me = static_cast<std::size_t>(group.me());
  std::byte* const place = dest.at(group.me()) + me * shape.block_count * shape.dest_step;
  const std::size_t source_block = shape.block_count * shape.source_step;
  const auto block_for = [&](int pe) { return source.at(group.me()) + static_cast<std::size_t>(pe) * source_block; };
  for (int i = 1; i < group.size(); ++i) {
    round.put_strided(pe_behind(group, i), place, block_for(pe_behind(group, i)), shape);
  }
  if (shape.block_count != 0) rma::copy_strided(place, block_for(group.me()), shape);
  round.finish();
}

namespace {

std::vector<std::uint64_t> exchange_words(TeamGroup& group, std::uint64_t word) {
  group.exchange(&word, sizeof word);
  std::vector<std::uint64_t> words;
  for (int pe = 0; pe < group.size(); ++pe) words.push_back(group.published_word(pe));
  return words;
}

std::vector<std::uint64_t> exchange_words(ActiveGroup& group, std::uint64_t word) {
  group.publish_word(word);
  group.sync();
  std::vector<std::uint64_t> words(static_cast<std::size_t>(group.size()));
  for (int pe = 0; pe < group.size(); ++pe) {
    auto& place = words[static_cast<std::size_t>(pe)];
    if (pe == group.me()) {
      place = word;
    } else {
      rma::get_nbi_remote(group.routine(), context::default_context(), &place, group.word_place(pe, 2), sizeof place);
    }
  }
  settle(group);
  return words;
}

}  // namespace

template <class Group>
Piece place_of_piece(Group& group, std::size_t bytes) noexcept {
  const std::vector<std::uint64_t> words = exchange_words(group, bytes);
  Piece piece{0, 0};
  for (int pe = 0; pe < group.size(); ++pe) {
    if (pe == group.me()) piece.offset = piece.total;
    piece.total += words[static_cast<std::size_t>(pe)];
  }
  return piece;
}

template <class Group>
void reduce_remote(Group& group, Symmetric dest, Symmetric source, std::size_t nelems, Combine combine) noexcept {
  group.sync();
  for_blocks_of_share(group, {dest, source, nelems, combine.element_bytes},
                      [&](const Gathered& gathered, std::byte* own_dest, std::size_t count) {
                        const std::size_t bytes = count * combine.element_bytes;
                        std::memcpy(gathered.result(), gathered.of(0), bytes);
                        for (int pe = 1; pe < group.size(); ++pe) {
                          combine.accumulate(gathered.result(), gathered.of(pe), count);
                        }
                        for (int i = 1; i <= group.size(); ++i) {
                          put_block(group, pe_behind(group, i), own_dest, gathered.result(), bytes);
                        }
                      });
  settle(group);
  group.sync();
}

template <class Group>
void scan_remote(Group& group, Symmetric dest, Symmetric source, std::size_t nelems, Scan scan) noexcept {
  group.sync();
  for_blocks_of_share(group, {dest, source, nelems, scan.sum.element_bytes},
                      [&](const Gathered& gathered, std::byte* own_dest, std::size_t count) {
                        const std::size_t bytes = count * scan.sum.element_bytes;
                        std::memset(gathered.result(), 0, bytes);  // zero in every type
                        for (int pe = 0; pe < group.size(); ++pe) {
                          if (scan.exclusive) put_block(group, pe, own_dest, gathered.result(), bytes);
                          scan.sum.accumulate(gathered.result(), gathered.of(pe), count);
                          if (!scan.exclusive) put_block(group, pe, own_dest, gathered.result(), bytes);
                        }
                      });
  settle(group);
  group.sync();
}

template void send_to_all(TeamGroup&, Symmetric, const std::byte*, std::size_t, std::size_t) noexcept;
template void send_to_all(ActiveGroup&, Symmetric, const std::byte*, std::size_t, std::size_t) noexcept;
template void alltoall_remote(TeamGroup&, Symmetric, Symmetric, std::size_t) noexcept;
template void alltoall_remote(ActiveGroup&, Symmetric, Symmetric, std::size_t) noexcept;
template void alltoalls_remote(TeamGroup&, Symmetric, Symmetric, const rma::Strided&) noexcept;
template void alltoalls_remote(ActiveGroup&, Symmetric, Symmetric, const rma::Strided&) noexcept;
template Piece place_of_piece(TeamGroup&, std::size_t) noexcept;
template Piece place_of_piece(ActiveGroup&, std::size_t) noexcept;
template void reduce_remote(TeamGroup&, Symmetric, Symmetric, std::size_t, Combine) noexcept;
template void reduce_remote(ActiveGroup&, Symmetric, Symmetric, std::size_t, Combine) noexcept;
template void scan_remote(TeamGroup&, Symmetric, Symmetric, std::size_t, Scan) noexcept;

}  // namespace shmemx::coll
