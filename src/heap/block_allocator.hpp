// Allocates blocks of the symmetric heap as offsets from its base. The allocator never accesses the heap: its metadata
// lie in private memory, so a stray store or remote put cannot damage them.
//
// Deterministic: results depend only on earlier calls and the constructor's arguments. PEs that make the same calls get
// the same offsets without communication. Best fit, lowest offset among equals: holes are filled before the untouched
// rest of the heap, which is the largest block, so pages are touched late.
//
// allocate, release, size_of, find and resize_in_place take O(log n) for n blocks. allocate with an alignment above
// kGranularity may take O(n) if memory is nearly exhausted (see find_fit). Not thread-safe: the caller holds a lock.
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

// The unit of block offsets and sizes: the alignment that malloc guarantees.
inline constexpr std::size_t kGranularity = 16;

struct Usage {
  std::size_t capacity;      // bytes under management
  std::size_t used;          // bytes in live blocks, each rounded up to kGranularity
  std::size_t high_water;    // the maximum of `used` so far
  std::size_t largest_free;  // bytes of the largest free block
  std::size_t live_blocks;
};

// A block as returned by find().
struct BlockInfo {
  Offset offset;
  std::size_t bytes;
  bool live;
};

class BlockAllocator {
 public:
  // `base_alignment` is a power of two that divides the heap's base address on every PE. Larger alignments cannot be
  // granted, since they would need different offsets on different PEs.
  explicit BlockAllocator(std::size_t capacity_bytes, std::size_t base_alignment = kHugePageBytes);
  BlockAllocator(const BlockAllocator&) = delete;
  BlockAllocator& operator=(const BlockAllocator&) = delete;
  ~BlockAllocator();

  // Allocates a block; `alignment` is a power of two. 0 bytes give the smallest block. Returns nothing if no free
  // block fits, if the alignment exceeds base_alignment, or if there is no memory for metadata.
  std::optional<Offset> allocate(std::size_t bytes, std::size_t alignment = kGranularity);

  // Releases the live block at `offset`. Returns false and changes nothing if no live block starts there; find() then
  // distinguishes a double free from a wrong pointer.
  [[nodiscard]] bool release(Offset offset);

  // Returns the usable bytes of the block at `offset`, at least the number requested; nothing if no live block starts
  // there.
  std::optional<std::size_t> size_of(Offset offset) const;

  // Returns the live or free block that contains `offset`; nothing if it is outside the heap.
  std::optional<BlockInfo> find(Offset offset) const;

  // Shrinks the live block at `offset`, or grows it into the free block behind it. Returns false and changes nothing
  // if no live block starts there, if the room is too small, or if there is no memory for metadata.
  [[nodiscard]] bool resize_in_place(Offset offset, std::size_t bytes);

  Usage usage() const;

  // Restores the state after construction: one free block and a high-water mark of 0.
  void reset();

 private:
  struct ByOffsetTag;
  struct BySizeTag;
  template <class Tag>
  using Hook = boost::intrusive::set_base_hook<boost::intrusive::tag<Tag>, boost::intrusive::optimize_size<true>,
                                               boost::intrusive::link_mode<boost::intrusive::normal_link>>;

  // Blocks cover [0, capacity) without gaps, and no two free blocks are adjacent. `by_offset_` holds all blocks,
  // `free_by_size_` the free ones.
  struct Block : Hook<ByOffsetTag>, Hook<BySizeTag> {
    std::uint64_t bytes() const noexcept { return bytes_and_live & ~std::uint64_t{1}; }
    bool live() const noexcept { return (bytes_and_live & 1) != 0; }
    void set_bytes(std::uint64_t bytes) noexcept { bytes_and_live = bytes | (bytes_and_live & 1); }
    void set_live(bool live) noexcept { bytes_and_live = bytes() | (live ? 1U : 0U); }

    Offset offset = 0;
    std::uint64_t bytes_and_live = 0;  // sizes are multiples of kGranularity, so bit 0 can hold "live"
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
