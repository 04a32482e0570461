// A packet socket with a receive ring that is mapped: frames are read without a system call. The kernel's filter lets
// only frames for this endpoint's port in.
#pragma once

#include "base/result.hpp"
#include "transport/common/network_fd.hpp"
#include "transport/ethernet/interface.hpp"
#include "transport/ethernet/port.hpp"

namespace shmemx::ethernet {

class PacketSocket final : public Port {
 public:
  PacketSocket() = default;
  ~PacketSocket();
  PacketSocket(const PacketSocket&) = delete;
  PacketSocket& operator=(const PacketSocket&) = delete;

  // `mtu`: of the longest frame that is to be received. Frames for `port` (FrameHeader) are received.
  Status open(const Interface& interface, std::size_t mtu, std::uint32_t port);

  int descriptor() const noexcept { return fd_.get(); }
  std::uint32_t ring_frames() const noexcept { return frames_; }
  // Returns what follows the Ethernet header of the next frame, aligned to 16 bytes; nothing if there is none. It stays
  // until release().
  Bytes receive() noexcept;
  void release() noexcept;
  bool has_frame() const noexcept;
  // Returns the error that the kernel keeps for the socket, 0 if there is none, and clears it: ENETDOWN after the
  // interface was taken down. While there is one, the descriptor is ready although no frame is there.
  int take_error() noexcept;
  // Frames since open() that found no room in the ring.
  std::uint64_t overflowed() const noexcept;

  std::size_t send(std::span<const OutgoingFrame> frames) noexcept override;

 private:
  Status filter(std::uint32_t port);
  Status map_ring(std::size_t mtu);
  std::size_t sent(std::size_t frames) noexcept {
    error_ = 0;
    return frames;
  }
  std::size_t not_sent(std::size_t frames) noexcept;
  std::byte* slot() const noexcept { return slot_; }

  transport::NetworkFd fd_;
  std::byte* ring_ = nullptr;
  std::size_t ring_bytes_ = 0;
  std::size_t frame_bytes_ = 0;  // of the ring
  std::uint32_t frames_ = 0;
  std::byte* slot_ = nullptr;   // the next one
  std::uint32_t in_block_ = 0;  // its number in its block
  std::uint32_t frames_of_block_ = 0;
  mutable std::uint64_t overflowed_ = 0;  // the kernel forgets its count when it is read
};

}  // namespace shmemx::ethernet
