// Blocks of a window that travel in one message: runs of blocks of one length at equal distances, each followed by its
// data. A vector is one run, whatever its number of blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/bulk_copy.hpp"
#include "base/cache_line.hpp"
#include "onesided/wire.hpp"
#include "rma/strided.hpp"
#include "transport/transport.hpp"

namespace shmemx::onesided {

// Runs that leave as one message: a short one, which is copied when it is sent.
inline constexpr std::size_t kMostPacked = transport::kLongBytes - kCacheLine;
// On a network that sends such a payload as it does a short one, longer ones: fewer messages, and no copy to the
// network's memory.
inline constexpr std::size_t kMostPackedLong = (std::size_t{64} << 10) + kCacheLine;

// In front of the data of each run, without padding.
struct BlockRun {
  std::uint64_t offset;
  std::uint64_t step;  // from the begin of one block to the next one's
  std::uint32_t block_bytes;
  std::uint32_t block_count;
};
static_assert(sizeof(BlockRun) == 24 && offsetof(BlockRun, block_bytes) == 16);

// Takes the first run and its data off `rest`. Returns false if there is no valid one.
inline bool take_run(Bytes& rest, BlockRun& run, BlockRange& range, Bytes& data) noexcept {
  if (rest.size() < sizeof run) return false;
  std::memcpy(&run, rest.data(), sizeof run);
  rest = rest.subspan(sizeof run);
  if (!range_of(run, range) || range.total() > rest.size()) return false;
  data = rest.first(range.total());
  rest = rest.subspan(range.total());
  return true;
}

// Runs under construction, in memory that is allocated with the first block.
class BlockPack {
 public:
  explicit BlockPack(std::size_t most_bytes) noexcept : most_bytes_(most_bytes) {}

  bool is_empty() const noexcept { return used_ == 0; }
  bool has_room(std::size_t block_bytes) const noexcept {
    return used_ + sizeof(BlockRun) + block_bytes <= most_bytes_;
  }
  // Copies a block. Requires room.
  void add(std::uint64_t offset, const std::byte* data, std::size_t block_bytes) noexcept {
    if (!continues(offset, block_bytes)) begin_run(offset, static_cast<std::uint32_t>(block_bytes));
    if (run_.block_count != 0) run_.step = offset - last_;
    ++run_.block_count;
    last_ = offset;
    std::memcpy(memory_.get() + run_at_, &run_, sizeof run_);
    copy_block(memory_.get() + used_, data, block_bytes);
    used_ += block_bytes;
  }
  // Copies as many of several equal blocks as there is room for; returns how many. One lies `step` behind the other in
  // the window, more than 0 as a signed number, and `data_step` here.
  std::size_t add_series(std::uint64_t offset, std::uint64_t step, const std::byte* data, std::size_t data_step,
                         std::size_t block_bytes, std::size_t count) noexcept {
    if (!has_room(block_bytes)) return 0;
    const std::size_t fits = std::min(count, (most_bytes_ - used_ - sizeof run_) / block_bytes);
    const bool extends = continues(offset, block_bytes) && offset - last_ == step;
    if (!extends) begin_run(offset, static_cast<std::uint32_t>(block_bytes));
    run_.step = step;
    run_.block_count += static_cast<std::uint32_t>(fits);
    last_ = offset + (fits - 1) * step;
    std::memcpy(memory_.get() + run_at_, &run_, sizeof run_);
    rma::copy_strided(memory_.get() + used_, data, {block_bytes, fits, block_bytes, data_step});
    used_ += fits * block_bytes;
    return fits;
  }
  Bytes whole() const noexcept { return {memory_.get(), used_}; }
  void clear() noexcept { used_ = 0; }

 private:
  bool continues(std::uint64_t offset, std::size_t block_bytes) const noexcept {
    if (used_ == 0 || run_.block_bytes != block_bytes || offset <= last_) return false;
    return run_.block_count == 1 || offset - last_ == run_.step;
  }
  void begin_run(std::uint64_t offset, std::uint32_t block_bytes) noexcept {
    if (memory_ == nullptr) memory_.reset(new std::byte[most_bytes_]);
    run_ = {offset, 0, block_bytes, 0};
    run_at_ = used_;
    used_ += sizeof run_;
  }

  std::size_t most_bytes_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t used_ = 0;
  std::size_t run_at_ = 0;  // where the last run begins
  BlockRun run_{};
  std::uint64_t last_ = 0;  // offset of its last block
};

}  // namespace shmemx::onesided
