// The receiving half of the reliability of one peer: which of its records frames are here, and what to acknowledge.
#pragma once

#include "base/bulk_copy.hpp"
#include "transport/common/reorder_window.hpp"
#include "transport/ethernet/frame_pool.hpp"

namespace shmemx::ethernet {

class ReceiveWindow {
 public:
  explicit ReceiveWindow(FramePool& pool) noexcept : pool_(pool), early_(kMostAhead) {}
  ~ReceiveWindow() { clear(); }
  ReceiveWindow(const ReceiveWindow&) = delete;
  ReceiveWindow& operator=(const ReceiveWindow&) = delete;

  transport::Turn turn_of(std::uint64_t number) const noexcept { return early_.turn_of(number); }
  // The frame whose turn it was is taken.
  void take_next() noexcept {
    early_.take_next();
    received_ >>= 1;
  }
  // Keeps a copy of the content of a frame whose turn is `early`.
  void hold(std::uint64_t number, Bytes content) {
    std::byte* const memory = pool_.take();
    copy_block(memory, content.data(), content.size());
    early_.hold(number, {memory, content.size()});
    received_ |= std::uint64_t{1} << (number - expected() - 1);
  }
  // Returns the content of the held frame whose turn it is now, or nothing. To be given back by release().
  Bytes pop() {
    Held held{};
    if (!early_.pop_next(held)) return {};
    received_ >>= 1;
    return {held.memory, held.bytes};
  }
  void release(Bytes content) { pool_.give(const_cast<std::byte*>(content.data())); }
  void clear() {
    early_.clear([this](const Held& held) { pool_.give(held.memory); });
    received_ = 0;
  }

  std::uint64_t expected() const noexcept { return early_.expected(); }  // FrameHeader::expected
  std::uint64_t received() const noexcept { return received_; }          // FrameHeader::received

 private:
  static constexpr std::uint32_t kMostAhead = 64;  // bits of FrameHeader::received

  struct Held {
    std::byte* memory;
    std::size_t bytes;
  };

  FramePool& pool_;
  std::uint64_t received_ = 0;
  transport::ReorderWindow<Held> early_;
};

}  // namespace shmemx::ethernet
