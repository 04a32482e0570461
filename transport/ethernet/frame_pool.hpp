// Memory for frames of one size. The one that was freed last is taken next: it is still in the cache.
#pragma once

#include <memory>
#include <vector>

#include "base/cache_line.hpp"
#include "transport/ethernet/frame.hpp"

namespace shmemx::ethernet {

// A frame in memory. The FrameHeader and the content are aligned to 16 bytes.
struct FrameMemory {
  static constexpr std::size_t kPadding = 16 - sizeof(EthernetHeader);
  static constexpr std::size_t kHeadBytes = kPadding + sizeof(EthernetHeader) + sizeof(FrameHeader);

  static std::byte* ethernet(std::byte* frame) noexcept { return frame + kPadding; }
  static std::byte* header(std::byte* frame) noexcept { return frame + kPadding + sizeof(EthernetHeader); }
  static std::byte* content(std::byte* frame) noexcept { return frame + kHeadBytes; }
};

class FramePool {
 public:
  explicit FramePool(std::size_t most_content_bytes) noexcept
      : frame_bytes_(round_up(FrameMemory::kHeadBytes + most_content_bytes, kCacheLine)) {}

  std::byte* take() {
    if (free_.empty()) add();
    std::byte* const frame = free_.back();
    free_.pop_back();
    return frame;
  }
  void give(std::byte* frame) { free_.push_back(frame); }

 private:
  static constexpr std::size_t kFramesAtOnce = 16;

  struct alignas(kCacheLine) Line {
    std::byte bytes[kCacheLine];
  };

  void add() {
    chunks_.push_back(std::make_unique<Line[]>(kFramesAtOnce * frame_bytes_ / kCacheLine));
    for (std::size_t i = 0; i < kFramesAtOnce; ++i) free_.push_back(chunks_.back()[0].bytes + i * frame_bytes_);
  }

  std::size_t frame_bytes_;
  std::vector<std::unique_ptr<Line[]>> chunks_;
  std::vector<std::byte*> free_;
};

}  // namespace shmemx::ethernet
