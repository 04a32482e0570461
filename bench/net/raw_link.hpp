// A link between two PEs without the library: the reference for the network's own speed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace shmemx::bench {

// The addresses of PE 0. Sent through the symmetric heap.
struct RawAddress {
  static constexpr int kMost = 8;
  std::uint32_t count;
  std::uint32_t addresses[kMost];  // IPv4, in network order
  std::uint16_t port;              // 0: no listener yet
  std::uint8_t mac[6];
  std::uint64_t word;  // the expected first bytes
};

// Never sleeps: sends and receives poll, which is fastest between two processes with a core each.
class RawLink {
 public:
  virtual ~RawLink() = default;

  virtual RawAddress listen() = 0;
  virtual void accept() = 0;  // after listen()
  virtual void connect(const RawAddress& address) = 0;

  virtual void send(std::span<const std::byte> bytes) = 0;
  // Receives at least one and at most `most` bytes.
  virtual std::size_t receive_some(std::span<std::byte> bytes) = 0;
  void receive(std::span<std::byte> bytes) {
    while (!bytes.empty()) bytes = bytes.subspan(receive_some(bytes));
  }
};

}  // namespace shmemx::bench
