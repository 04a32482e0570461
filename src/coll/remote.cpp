// Collectives of active sets some of whose PEs are not mapped: everything to everybody, flushed before the set
// synchronises. There are no epochs, since only the caller's pSync is shared.
#include "coll/remote.hpp"

#include <cstring>
#include <memory>

#include "coll/member_access.hpp"
#include "context/context.hpp"
#include "rma/copy.hpp"

namespace shmemx::coll {
namespace {

constexpr std::size_t kGatherBytes = 524288;    // what a reduction works on at a time, of all PEs together
constexpr std::size_t kLeastBlockBytes = 4096;  // of each PE
constexpr std::size_t kMostBlockBytes = 65536;

int pe_ahead(const ActiveGroup& group, int distance) {
  const int pe = group.me() + distance;
  return pe < group.size() ? pe : pe - group.size();
}

MemberAccess members_of(const ActiveGroup& group) { return {group.route(), group.routine()}; }

void flush(const ActiveGroup& group) { rma::flush_remote(group.routine(), context::default_context()); }

void finish(ActiveGroup& group) {
  flush(group);
  group.sync();
}

// Own bytes to everybody's dest at `offset`, own PE included.
void put_to_all(ActiveGroup& group, std::byte* own_dest, const std::byte* source, std::size_t bytes) {
  const MemberAccess members = members_of(group);
  for (int i = 1; i <= group.size(); ++i) members.put(pe_ahead(group, i), own_dest, source, bytes);
  finish(group);
}

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
void gather(const ActiveGroup& group, const Gathered& into, const std::byte* own_source, std::size_t bytes) {
  for (int i = 1; i <= group.size(); ++i) {
    const int pe = pe_ahead(group, i);
    if (context::is_mapped(group.route(), pe)) {
      rma::copy(into.of(pe), mapped_copy(group.route(), own_source, pe), bytes);
    } else {
      rma::get_nbi_remote(group.routine(), context::default_context(), into.of(pe),
                          rma::place_of(group.route(), own_source, pe), bytes);
    }
  }
  flush(group);
}

}  // namespace

void broadcast_remote(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root) noexcept {
  if (group.me() == root) {
    for (int i = 1; i < group.size(); ++i) members_of(group).put(pe_ahead(group, i), dest.pe0, source.pe0, bytes);
    flush(group);
  }
  group.sync();
}

void fcollect_remote(ActiveGroup& group, Symmetric dest, const std::byte* source, std::size_t bytes) noexcept {
  put_to_all(group, dest.pe0 + static_cast<std::size_t>(group.me()) * bytes, source, bytes);
}

Offsets exchange_lengths(ActiveGroup& group, std::uint64_t bytes) noexcept {
  group.publish_word(bytes);
  group.sync();
  std::vector<std::uint64_t> words(static_cast<std::size_t>(group.size()));
  for (int pe = 0; pe < group.size(); ++pe) {
    auto& word = words[static_cast<std::size_t>(pe)];
    if (context::is_mapped(group.route(), pe)) {
      word = group.published_word(pe);
    } else {
      rma::get_nbi_remote(group.routine(), context::default_context(), &word, group.word_place(pe, 2), sizeof word);
    }
  }
  flush(group);
  Offsets offsets{0};
  for (const std::uint64_t word : words) offsets.push_back(offsets.back() + word);
  return offsets;
}

void collect_remote(ActiveGroup& group, Symmetric dest, const std::byte* source, const Offsets& offsets) noexcept {
  const auto me = static_cast<std::size_t>(group.me());
  put_to_all(group, dest.pe0 + offsets[me], source, offsets[me + 1] - offsets[me]);
}

void alltoall_remote(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t bytes) noexcept {
  alltoalls_remote(group, dest, source, {bytes, bytes == 0 ? 0U : 1U, bytes, bytes});
}

void alltoalls_remote(ActiveGroup& group, Symmetric dest, Symmetric source, const rma::Strided& shape) noexcept {
  const std::byte* const place = dest.pe0 + static_cast<std::size_t>(group.me()) * shape.block_count * shape.dest_step;
  for (int i = 1; i <= group.size(); ++i) {
    const int pe = pe_ahead(group, i);
    const std::byte* const block = source.pe0 + static_cast<std::size_t>(pe) * shape.block_count * shape.source_step;
    members_of(group).put_strided(pe, place, block, shape);
  }
  finish(group);
}

// PE i gets share i of all, and puts the result to all.
void reduce_remote(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t nelems, Combine combine) noexcept {
  group.sync();
  const Share share = share_of(nelems, group.me(), group.size());
  const Gathered gathered(group.size(), combine.element_bytes);
  for (std::size_t at = share.begin; at < share.end; at += gathered.block_elements()) {
    const std::size_t count = std::min(gathered.block_elements(), share.end - at);
    const std::size_t offset = at * combine.element_bytes;
    const std::size_t bytes = count * combine.element_bytes;
    gather(group, gathered, source.pe0 + offset, bytes);
    std::memcpy(gathered.result(), gathered.of(0), bytes);
    for (int pe = 1; pe < group.size(); ++pe) combine.accumulate(gathered.result(), gathered.of(pe), count);
    for (int i = 1; i <= group.size(); ++i)
      members_of(group).put(pe_ahead(group, i), dest.pe0 + offset, gathered.result(), bytes);
  }
  finish(group);
}

}  // namespace shmemx::coll
