// Long payloads that one peer pulls from this PE: each under a handle, until the peer has noted that it has all of it.
#pragma once

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
};

}  // namespace shmemx::ethernet
