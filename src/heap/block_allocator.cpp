#include "heap/block_allocator.hpp"

#include <algorithm>
#include <iterator>

namespace shmemx::heap {
namespace {

// How many free blocks find_fit tries for an aligned request before it requires a size that fits at any offset.
constexpr int kAlignedTries = 8;

constexpr std::uint64_t padding(Offset offset, std::uint64_t alignment) { return (~offset + 1) & (alignment - 1); }

// Returns the bytes that a request occupies. Cannot wrap: the caller has checked that `bytes` does not exceed the
// capacity.
constexpr std::uint64_t occupied(std::size_t bytes) {
  return std::max<std::uint64_t>(kGranularity, round_up(bytes, kGranularity));
}

}  // namespace

// This bound keeps the sum of a size and an alignment below 2^64; address spaces have 47 or 56 bits.
BlockAllocator::BlockAllocator(std::size_t capacity_bytes, std::size_t base_alignment)
    : capacity_(round_down(std::min(capacity_bytes, std::size_t{1} << 62), kGranularity)),
      base_alignment_(base_alignment) {
  reset();
}

BlockAllocator::~BlockAllocator() {
  free_by_size_.clear();
  by_offset_.clear();
}

void BlockAllocator::reset() {
  free_by_size_.clear();
  by_offset_.clear_and_dispose([this](Block* block) { pool_.give_back(block); });
  used_ = 0;
  high_water_ = 0;
  if (capacity_ > 0 && pool_.reserve(1)) insert_free_block(0, capacity_);
}

std::optional<Offset> BlockAllocator::allocate(std::size_t bytes, std::size_t alignment) {
  if (bytes > capacity_ || alignment > base_alignment_) return std::nullopt;
  const std::uint64_t wanted = occupied(bytes);
  const std::uint64_t aligned_to = std::max<std::uint64_t>(alignment, kGranularity);
  if (!pool_.reserve(2)) return std::nullopt;  // a block in the middle leaves a free block on either side
  Block* const block = find_fit(wanted, aligned_to);
  if (block == nullptr) return std::nullopt;

  free_by_size_.erase(SizeTree::s_iterator_to(*block));
  const std::uint64_t gap = padding(block->offset, aligned_to);
  if (gap > 0) {
    const Offset start = block->offset;
    by_offset_.erase(OffsetTree::s_iterator_to(*block));
    block->offset += gap;
    block->set_bytes(block->bytes() - gap);
    by_offset_.insert(*block);
    insert_free_block(start, gap);
  }
  block->set_live(true);
  used_ += block->bytes();
  give_tail_back(*block, wanted);
  high_water_ = std::max(high_water_, used_);
  return block->offset;
}

// Finds the best fit. Aligning the start may make a free block too small. So an aligned request tries a few blocks in
// order of size, then requires a size that fits at any offset, and finally tries all remaining blocks. It fails only
// if no free block can hold it.
BlockAllocator::Block* BlockAllocator::find_fit(std::uint64_t bytes, std::uint64_t alignment) {
  const auto fits = [&](const Block& block) { return padding(block.offset, alignment) + bytes <= block.bytes(); };
  auto candidate = free_by_size_.lower_bound({bytes, 0});
  for (int tries = 0; tries < kAlignedTries && candidate != free_by_size_.end(); ++tries, ++candidate) {
    if (fits(*candidate)) return &*candidate;
  }
  if (candidate == free_by_size_.end()) return nullptr;
  const auto roomy = free_by_size_.lower_bound({bytes + alignment - kGranularity, 0});
  if (roomy != free_by_size_.end()) return &*roomy;
  candidate = std::find_if(candidate, free_by_size_.end(), fits);
  return candidate == free_by_size_.end() ? nullptr : &*candidate;
}

bool BlockAllocator::release(Offset offset) {
  Block* const block = find_live(offset);
  if (block == nullptr) return false;
  block->set_live(false);
  used_ -= block->bytes();

  std::uint64_t bytes = block->bytes();
  if (Block* const behind = free_neighbour_behind(*block)) {
    bytes += behind->bytes();
    remove(*behind);
  }
  const auto position = OffsetTree::s_iterator_to(*block);
  if (position != by_offset_.begin() && !std::prev(position)->live()) {
    Block& before = *std::prev(position);
    by_offset_.erase(position);
    pool_.give_back(block);
    set_bytes_of_free(before, before.offset, before.bytes() + bytes);
    return true;
  }
  block->set_bytes(bytes);
  free_by_size_.insert(*block);
  return true;
}

std::optional<std::size_t> BlockAllocator::size_of(Offset offset) const {
  const auto position = by_offset_.find(offset);
  if (position == by_offset_.end() || !position->live()) return std::nullopt;
  return position->bytes();
}

std::optional<BlockInfo> BlockAllocator::find(Offset offset) const {
  if (offset >= capacity_ || by_offset_.empty()) return std::nullopt;
  const Block& block = *std::prev(by_offset_.upper_bound(offset));
  return BlockInfo{block.offset, block.bytes(), block.live()};
}

bool BlockAllocator::resize_in_place(Offset offset, std::size_t bytes) {
  Block* const block = find_live(offset);
  if (block == nullptr || bytes > capacity_) return false;
  const std::uint64_t wanted = occupied(bytes);
  if (!pool_.reserve(1)) return false;  // shrinking may create a free block
  if (wanted <= block->bytes()) {
    give_tail_back(*block, wanted);
    return true;
  }
  Block* const behind = free_neighbour_behind(*block);
  const std::uint64_t more = wanted - block->bytes();
  if (behind == nullptr || behind->bytes() < more) return false;
  if (behind->bytes() == more) {
    remove(*behind);
  } else {
    set_bytes_of_free(*behind, behind->offset + more, behind->bytes() - more);
  }
  block->set_bytes(wanted);
  used_ += more;
  high_water_ = std::max(high_water_, used_);
  return true;
}

Usage BlockAllocator::usage() const {
  const std::size_t largest = free_by_size_.empty() ? 0 : free_by_size_.rbegin()->bytes();
  return Usage{capacity_, used_, high_water_, largest, by_offset_.size() - free_by_size_.size()};
}

BlockAllocator::Block* BlockAllocator::find_live(Offset offset) {
  const auto position = by_offset_.find(offset);
  return position != by_offset_.end() && position->live() ? &*position : nullptr;
}

BlockAllocator::Block* BlockAllocator::free_neighbour_behind(Block& block) {
  const auto behind = std::next(OffsetTree::s_iterator_to(block));
  return behind != by_offset_.end() && !behind->live() ? &*behind : nullptr;
}

// Precondition: the pool has a node reserved.
void BlockAllocator::insert_free_block(Offset offset, std::uint64_t bytes) {
  Block* const block = pool_.take();
  block->offset = offset;
  block->set_bytes(bytes);
  by_offset_.insert(*block);
  free_by_size_.insert(*block);
}

// The block moves within its own bytes or absorbs a neighbour, so its position in `by_offset_` is unchanged.
void BlockAllocator::set_bytes_of_free(Block& block, Offset offset, std::uint64_t bytes) {
  free_by_size_.erase(SizeTree::s_iterator_to(block));
  block.offset = offset;
  block.set_bytes(bytes);
  free_by_size_.insert(block);
}

void BlockAllocator::remove(Block& block) {
  free_by_size_.erase(SizeTree::s_iterator_to(block));
  by_offset_.erase(OffsetTree::s_iterator_to(block));
  pool_.give_back(&block);
}

// Shortens a live block. The released tail joins the free block behind it or becomes a free block.
void BlockAllocator::give_tail_back(Block& block, std::uint64_t keep_bytes) {
  const std::uint64_t tail = block.bytes() - keep_bytes;
  if (tail == 0) return;
  block.set_bytes(keep_bytes);
  used_ -= tail;
  if (Block* const behind = free_neighbour_behind(block)) {
    set_bytes_of_free(*behind, behind->offset - tail, behind->bytes() + tail);
  } else {
    insert_free_block(block.offset + keep_bytes, tail);
  }
}

}  // namespace shmemx::heap
