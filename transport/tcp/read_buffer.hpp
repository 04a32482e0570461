// Bytes of a stream that have been read and not decoded yet. Frames begin at multiples of 16, in the stream and here;
// the padding between them is skipped.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "transport/tcp/frame.hpp"

namespace shmemx::tcp {

struct FreeMemory {
  void operator()(std::byte* memory) const noexcept { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, FreeMemory>;

class ReadBuffer {
 public:
  static constexpr std::size_t kBytes = std::size_t{128} << 10;
  static constexpr std::size_t kLongestFrame = sizeof(FrameHeader) + kMaxHeaderBytes + kLongBytes + kFrameAlignment;

  // Returns false if there is no memory.
  bool allocate() noexcept {
    if (!memory_) memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, kBytes)));
    return memory_ != nullptr;
  }
  bool is_allocated() const noexcept { return memory_ != nullptr; }
  // Frees the memory. Requires that nothing is here.
  void free() noexcept {
    memory_.reset();
    begin_ = end_ = 0;
  }

  bool empty() const noexcept { return begin_ == end_; }
  std::size_t size() const noexcept { return end_ - begin_; }
  std::byte* data() const noexcept { return memory_.get() + begin_; }
  void drop(std::size_t bytes) noexcept { begin_ += bytes; }

  // Where the next bytes are to be read to, and how many there is room for.
  std::byte* end() const noexcept { return memory_.get() + end_; }
  std::size_t room() const noexcept { return kBytes - end_; }
  void add(std::size_t bytes) noexcept { end_ += bytes; }
  // Makes room for a frame. If nothing is here, the next bytes are padding, and a frame.
  void make_room() noexcept {
    if (empty()) {
      begin_ = end_ = padding_of(padding_);
    } else if (room() < kLongestFrame) {
      std::memmove(memory_.get(), data(), size());
      end_ -= begin_;
      begin_ = 0;
    }
  }

  std::size_t padding() const noexcept { return padding_; }
  // A message of that size has begun: padding is behind it.
  void expect_padding(std::size_t message_bytes) noexcept { padding_ = padding_of(message_bytes); }
  // Returns false if the padding is not complete.
  bool skip_padding() noexcept {
    const std::size_t here = std::min(padding_, size());
    begin_ += here;
    padding_ -= here;
    return padding_ == 0;
  }

 private:
  Memory memory_;
  std::size_t begin_ = 0;    // of the bytes not yet decoded
  std::size_t end_ = 0;      // of the bytes that have been read
  std::size_t padding_ = 0;  // bytes of the stream to skip before the next frame
};

}  // namespace shmemx::tcp
