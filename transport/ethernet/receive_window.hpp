// The receiving half of the reliability of one peer: which of its records frames are here, what to acknowledge, and by
// when. Every frame to the peer acknowledges; one of its own is sent if none leaves in time.
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

  // ---- acknowledgements ----
  // A frame has arrived. `is_awaited`: its sender waits for the acknowledgement. Returns whether it is the first one.
  bool note_arrival(bool is_awaited) noexcept {
    ++unacknowledged_;
    is_ack_awaited_ |= is_awaited;
    return !std::exchange(has_begun_, true);
  }
  // The peer waits for an acknowledgement.
  void await_ack() noexcept { is_ack_awaited_ = true; }
  // Something has arrived that has to be acknowledged some time after `now_ns`.
  void begin_ack(std::uint64_t now_ns) noexcept { ack_due_ns_ = now_ns + kAckDelayNs; }
  bool is_ack_pending() const noexcept { return is_ack_awaited_ || unacknowledged_ != 0; }
  bool is_ack_due(std::uint64_t now_ns) const noexcept {
    return is_ack_awaited_ || unacknowledged_ >= kAckFrames || now_ns >= ack_due_ns_;
  }
  void note_acknowledged() noexcept {
    unacknowledged_ = 0;
    is_ack_awaited_ = false;
  }
  std::uint64_t expected() const noexcept { return early_.expected(); }  // FrameHeader::expected
  std::uint64_t received() const noexcept { return received_; }          // FrameHeader::received

 private:
  static constexpr std::uint32_t kMostAhead = 64;  // bits of FrameHeader::received
  static constexpr unsigned kAckFrames = 16;       // that are acknowledged at once
  // An acknowledgement may wait so long for a frame that carries it.
  static constexpr std::uint64_t kAckDelayNs = 200'000;

  struct Held {
    std::byte* memory;
    std::size_t bytes;
  };

  FramePool& pool_;
  std::uint64_t received_ = 0;
  transport::ReorderWindow<Held> early_;
  unsigned unacknowledged_ = 0;   // frames that no frame to the peer has acknowledged
  std::uint64_t ack_due_ns_ = 0;  // when they have to be
  bool is_ack_awaited_ = false;
  bool has_begun_ = false;
};

}  // namespace shmemx::ethernet
