// The endpoint of a peer: what names it in frames to it, and by which its own frames are known.
#pragma once

#include "transport/ethernet/address.hpp"
#include "transport/ethernet/replay_window.hpp"

namespace shmemx::ethernet {

class Endpoint {
 public:
  explicit Endpoint(const EndpointAddress& address) noexcept : address_(address) {}

  const EndpointAddress& address() const noexcept { return address_; }
  // Fills in what names the endpoint in the header of the next frame to it.
  void fill_in(FrameHeader& header) noexcept {
    header.port = address_.port;
    header.serial = ++serial_ & kMostSerial;
  }
  // Notes a frame of the endpoint by its serial.
  ReplayWindow::Verdict admit(const FrameHeader& header) noexcept { return seen_.admit(header.serial); }

 private:
  EndpointAddress address_;
  std::uint64_t serial_ = 0;  // of the last frame to it
  ReplayWindow seen_;
};

}  // namespace shmemx::ethernet
