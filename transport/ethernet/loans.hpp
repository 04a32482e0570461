// Long payloads that one peer pulls from this PE: each under a handle, until the peer has noted that it has all of it.
// The first packets of a payload may be pushed: they follow its announcement without a request.
#pragma once

#include <algorithm>
#include <bit>
#include <deque>

#include "transport/common/inbound_queue.hpp"
#include "transport/ethernet/frame.hpp"

namespace shmemx::ethernet {

class Loans {
 public:
  Loans() = default;
  ~Loans() { end_all(); }
  Loans(const Loans&) = delete;
  Loans& operator=(const Loans&) = delete;

  // Lends a payload. It is copied if `outgoing` is null. Returns its handle, 0 if there is no memory for the copy.
  std::uint64_t lend(Bytes payload, transport::Outgoing* outgoing);
  bool has_room() const noexcept { return loans_.size() < kMost; }
  // Bytes of copies that are lent.
  std::size_t copied_bytes() const noexcept { return copied_bytes_; }
  // Returns the bytes of a packet, nothing if there is no such packet. `packet_bytes`: of all but the last.
  Bytes packet(std::uint64_t handle, std::uint32_t index, std::size_t packet_bytes) const noexcept;
  // The peer has all of it. Returns false for an unknown handle.
  bool end(std::uint64_t handle) noexcept;
  // Gives up all.
  void end_all() noexcept;
  bool is_empty() const noexcept { return loans_.empty(); }

  // Notes how long the blocks are that the peer requests of its newest payload.
  void note_requested(std::uint64_t handle, const PullRequest& what) noexcept {
    if (handle > requested_handle_) requested_packets_ = 0;
    requested_handle_ = std::max(requested_handle_, handle);
    requested_packets_ = std::max(requested_packets_, static_cast<std::uint32_t>(std::popcount(what.wanted)));
  }
  // Returns how many packets to push, of `most`: a block as the peer has requested it last, so not more than its window
  // was. Only if it pulls nothing else, or they would come before what it waits for.
  std::uint32_t packets_to_push(std::uint32_t most) const noexcept {
    return is_empty() ? std::min(requested_packets_, most) : 0;
  }
  void push(std::uint64_t handle, std::uint32_t packets) noexcept {
    pushed_handle_ = handle;
    pushed_packets_ = packets;
  }
  bool has_pushed() const noexcept { return pushed_handle_ != 0; }
  // Returns the handle of the payload of which packets are pushed, and fills in which. They leave now.
  std::uint64_t take_pushed(PullRequest& what) noexcept {
    what = {0, 0, lowest_bits(pushed_packets_)};
    return std::exchange(pushed_handle_, 0);
  }

 private:
  static constexpr std::size_t kMost = 256;

  struct Loan {
    std::uint64_t handle;
    Bytes payload;
    transport::AlignedMemory copy;  // null: the payload lies where the sender has it
    transport::Outgoing* outgoing;
  };
  void finish(Loan& loan) noexcept;

  std::deque<Loan> loans_;  // by handle
  std::uint64_t last_ = 0;
  std::size_t copied_bytes_ = 0;
  std::uint64_t requested_handle_ = 0;   // the newest payload of which the peer has requested packets
  std::uint32_t requested_packets_ = 0;  // the most of it in one request
  std::uint64_t pushed_handle_ = 0;      // its announcement leaves soon; 0: none
  std::uint32_t pushed_packets_ = 0;
};

}  // namespace shmemx::ethernet
