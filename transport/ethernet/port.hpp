// What sends frames over one interface: the packet socket, or a simulated link in tests.
#pragma once

#include <span>

#include "transport/ethernet/frame.hpp"

namespace shmemx::ethernet {

// A frame to send, from its Ethernet header on, in two pieces; the second may be empty.
struct OutgoingFrame {
  Bytes head;
  Bytes rest;
};

class Port {
 public:
  // Sends frames. Returns how many it has taken. The others find its queue full and have to be passed once more later.
  // It may lose any that it has taken.
  virtual std::size_t send(std::span<const OutgoingFrame> frames) noexcept = 0;

  // Returns why it loses all frames at present, as errno; 0: it does not.
  int error() const noexcept { return error_; }

 protected:
  ~Port() = default;

  int error_ = 0;
};

}  // namespace shmemx::ethernet
