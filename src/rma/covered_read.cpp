#include "rma/covered_read.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "rma/strided.hpp"

namespace shmemx::rma {
namespace {

constexpr std::size_t kMostGap = 4096;  // longer ones take longer to copy than a range of their own
constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
constexpr std::size_t kLongBytes = std::size_t{16} << 10;  // such a block is read to where it belongs
constexpr std::size_t kMostRanges = 64;
constexpr std::size_t kMostParts = 256;

int read_all(pid_t pid, std::byte* to, iovec* ranges, std::size_t count) noexcept {
  while (count != 0) {
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < count; ++i) wanted += ranges[i].iov_len;
    iovec here{to, wanted};
    const ssize_t bytes = ::process_vm_readv(pid, &here, 1, ranges, count, 0);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return bytes < 0 ? -errno : -EFAULT;
    auto done = static_cast<std::size_t>(bytes);
    to += done;
    for (; count != 0 && done >= ranges->iov_len; --count) done -= (ranges++)->iov_len;
    if (count == 0) return 0;
    ranges->iov_base = static_cast<std::byte*>(ranges->iov_base) + done;
    ranges->iov_len -= done;
  }
  return 0;
}

class Buffer {
 public:
  explicit Buffer(pid_t pid) noexcept : pid_(pid), memory_(new std::byte[kBufferBytes]) {}

  // Adds blocks that lie in order, one `first_step` behind the other with short gaps.
  int add(PairBlocks blocks) noexcept {
    const auto step = static_cast<std::size_t>(blocks.first_step);
    while (blocks.count != 0) {
      std::size_t at = 0;
      const std::size_t room = open_range(blocks.first, blocks.bytes, at);
      if (room < blocks.bytes) {
        if (const int code = flush(); code != 0) return code;
        continue;
      }
      PairBlocks part = blocks;
      part.count = blocks.count == 1 ? 1 : std::min(blocks.count, (room - blocks.bytes) / step + 1);
      ranges_[range_count_ - 1].iov_len += (part.count - 1) * step + part.bytes;
      used_ = at + (part.count - 1) * step + part.bytes;
      parts_[part_count_++] = {part, at};
      const Pair next = blocks.at(part.count);
      blocks.first = next.first;
      blocks.second = next.second;
      blocks.count -= part.count;
    }
    return 0;
  }
  // Reads what has been added, and copies it to where it belongs.
  int flush() noexcept {
    const int code = read_all(pid_, memory_.get(), ranges_, range_count_);
    for (std::size_t i = 0; code == 0 && i < part_count_; ++i) {
      const auto& [blocks, at] = parts_[i];
      copy_strided(blocks.second, memory_.get() + at,
                   {blocks.bytes, blocks.count, static_cast<std::size_t>(blocks.second_step),
                    static_cast<std::size_t>(blocks.first_step)});
    }
    range_count_ = part_count_ = used_ = 0;
    return code;
  }

 private:
  struct Part {
    PairBlocks blocks;
    std::size_t at;  // of the first one in the buffer
  };

  // Makes the last range end at `first`, or begins one there. Sets `at` to the place in the buffer. Returns how much
  // room there is from there on; less than `bytes`: nothing has been done.
  std::size_t open_range(std::byte* first, std::size_t bytes, std::size_t& at) noexcept {
    if (part_count_ == kMostParts) return 0;
    if (range_count_ != 0) {
      iovec& last = ranges_[range_count_ - 1];
      const auto end = reinterpret_cast<std::uintptr_t>(last.iov_base) + last.iov_len;
      const std::size_t gap = reinterpret_cast<std::uintptr_t>(first) - end;  // huge if it lies in front
      if (gap <= kMostGap) {
        at = used_ + gap;
        if (at + bytes > kBufferBytes) return 0;
        last.iov_len += gap;
        return kBufferBytes - at;
      }
    }
    at = used_;
    if (range_count_ == kMostRanges || kBufferBytes - at < bytes) return 0;
    ranges_[range_count_++] = {first, 0};
    return kBufferBytes - at;
  }

  pid_t pid_;
  std::unique_ptr<std::byte[]> memory_;
  iovec ranges_[kMostRanges];
  std::size_t range_count_ = 0;
  std::size_t used_ = 0;
  Part parts_[kMostParts];
  std::size_t part_count_ = 0;
};

bool has_short_gaps(const PairBlocks& blocks) noexcept {
  return blocks.count > 1 && blocks.first_step > 0 && blocks.second_step > 0 &&
         static_cast<std::size_t>(blocks.first_step) <= blocks.bytes + kMostGap;
}

}  // namespace

int covered_read(pid_t pid, PairWalk pairs) noexcept {
  Buffer buffer(pid);
  for (PairBlocks blocks{}; pairs.next_blocks(blocks, SIZE_MAX);) {
    const bool together = has_short_gaps(blocks) && blocks.bytes < kLongBytes;
    for (std::size_t i = 0; i < blocks.count; ++i) {
      const Pair pair = blocks.at(i);
      const PairBlocks one{pair.first, pair.second, pair.bytes, 1, 0, 0};
      int code = 0;
      if (pair.bytes >= kLongBytes) {
        iovec range{pair.first, pair.bytes};
        code = read_all(pid, pair.second, &range, 1);
      } else {
        code = buffer.add(together ? blocks : one);
      }
      if (code != 0) return code;
      if (together) break;
    }
  }
  return buffer.flush();
}

}  // namespace shmemx::rma
