// Hands out blocks of the symmetric heap as offsets from its base. It never touches the heap itself: all it knows lies
// in private memory of the process, so no stray store or remote put can damage it.
//
// Deterministic: the result of a call depends on the calls before it and the constructor's arguments only, so PEs that
// make the same calls get the same offsets without talking to each other. Best fit, the lowest offset among equals:
// holes are filled before the untouched rest of the heap, which is the largest block, so pages are touched late.
//
// allocate, release, size_of, find and resize_in_place take O(log n) for n blocks; allocate with an alignment above
// kGranularity may take O(n) when memory is nearly exhausted (see find_fit). Not thread-safe: the caller holds a lock.
#pragma once

#include <boost/intrusive/options.hpp>
#include <boost/intrusive/set.hpp>
#include <boost/intrusive/set_hook.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/cache_line.hpp"
#include "heap/node_pool.hpp"

namespace shmemx::heap {

using Offset = std::uint64_t;

// Every block starts at a multiple of this and is a multiple of this long: what malloc guarantees.
inline constexpr std::size_t kGranularity = 16;

struct Usage {
  std::size_t capacity;      // bytes under management
  std::size_t used;          // bytes in live blocks, each rounded up to kGranularity
  std::size_t high_water;    // the most that `used` has been
  std::size_t largest_free;  // bytes of the largest free block
  std::size_t live_blocks;
};

// A block as find() reports it.
struct BlockInfo {
  Offset offset;
  std::size_t bytes;
  bool live;
};

class BlockAllocator {
 public:
  // The heap's base address is a multiple of `base_alignment`, a power of two, on every PE. Alignments up to it can be
  // had; larger ones cannot be kept at equal offsets on all PEs.
  explicit BlockAllocator(std::size_t capacity_bytes, std::size_t base_alignment = kHugePageBytes);
  BlockAllocator(const BlockAllocator&) = delete;
  BlockAllocator& operator=(const BlockAllocator&) = delete;
  ~BlockAllocator();

  // `alignment` is a power of two. 0 bytes give the smallest block. Nothing when no free block fits, when the alignment
  // is above base_alignment, or when there is no memory for the bookkeeping.
  std::optional<Offset> allocate(std::size_t bytes, std::size_t alignment = kGranularity);

  // False, and nothing happens, when no live block starts at `offset`: find() then tells a double free from a wrong
  // pointer.
  [[nodiscard]] bool release(Offset offset);

  // Bytes that may be used from `offset` on, at least what was asked for; nothing when no live block starts there.
  std::optional<std::size_t> size_of(Offset offset) const;

  // The block that contains `offset`, live or free; nothing outside the heap.
  std::optional<BlockInfo> find(Offset offset) const;

  // Shrinks the live block at `offset`, or grows it into the free block behind it. False, and nothing happens, when no
  // live block starts there, the room is too small, or there is no memory for the bookkeeping.
  [[nodiscard]] bool resize_in_place(Offset offset, std::size_t bytes);

  Usage usage() const;

  // Back to the state after construction: one free block, and a high-water mark of 0.
  void reset();

 private:
  struct ByOffsetTag;
  struct BySizeTag;
  template <class Tag>
  using Hook = boost::intrusive::set_base_hook<boost::intrusive::tag<Tag>, boost::intrusive::optimize_size<true>,
                                               boost::intrusive::link_mode<boost::intrusive::normal_link>>;

  // Blocks cover [0, capacity) without gaps, and no two free ones are neighbours. `by_offset_` holds all of them,
  // `free_by_size_` the free ones.
  struct Block : Hook<ByOffsetTag>, Hook<BySizeTag> {
    std::uint64_t bytes() const noexcept { return bytes_and_live & ~std::uint64_t{1}; }
    bool live() const noexcept { return (bytes_and_live & 1) != 0; }
    void set_bytes(std::uint64_t bytes) noexcept { bytes_and_live = bytes | (bytes_and_live & 1); }
    void set_live(bool live) noexcept { bytes_and_live = bytes() | (live ? 1U : 0U); }

    Offset offset = 0;
    std::uint64_t bytes_and_live = 0;  // sizes are multiples of kGranularity, so bit 0 is free to say "live"
  };
  static_assert(sizeof(Block) == kCacheLine);

  struct OffsetKey {
    using type = Offset;
    type operator()(const Block& block) const noexcept { return block.offset; }
  };
  struct SizeKey {
    struct type {
      std::uint64_t bytes;
      Offset offset;
      bool operator<(const type& other) const noexcept {
        return bytes != other.bytes ? bytes < other.bytes : offset < other.offset;
      }
    };
    type operator()(const Block& block) const noexcept { return {block.bytes(), block.offset}; }
  };
  using OffsetTree =
      boost::intrusive::set<Block, boost::intrusive::base_hook<Hook<ByOffsetTag>>,
                            boost::intrusive::key_of_value<OffsetKey>, boost::intrusive::constant_time_size<true>>;
  using SizeTree =
      boost::intrusive::set<Block, boost::intrusive::base_hook<Hook<BySizeTag>>,
                            boost::intrusive::key_of_value<SizeKey>, boost::intrusive::constant_time_size<true>>;

  Block* find_live(Offset offset);
  Block* find_fit(std::uint64_t bytes, std::uint64_t alignment);
  Block* free_neighbour_behind(Block& block);
  void insert_free_block(Offset offset, std::uint64_t bytes);
  void set_bytes_of_free(Block& block, Offset offset, std::uint64_t bytes);
  void remove(Block& block);
  void give_tail_back(Block& block, std::uint64_t keep_bytes);

  const std::uint64_t capacity_;
  const std::uint64_t base_alignment_;
  std::uint64_t used_ = 0;
  std::uint64_t high_water_ = 0;
  NodePool<Block> pool_;
  OffsetTree by_offset_;
  SizeTree free_by_size_;
};

}  // namespace shmemx::heap
