// A TCP connection between two PEs without the library: the reference for the network's own speed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace shmemx::bench {

// The addresses of PE 0, which its partner tries one after the other. Sent through the symmetric heap.
struct RawAddress {
  static constexpr int kMost = 8;
  std::uint32_t count;
  std::uint32_t addresses[kMost];  // IPv4, in network order
  std::uint16_t port;              // 0: no listener yet
  std::uint64_t word;              // the expected first bytes
};

// Never sleeps: sends and receives poll, which is fastest between two processes with a core each.
class RawSocket {
 public:
  RawSocket() = default;
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;
  ~RawSocket();

  bool connected() const { return fd_ >= 0; }
  RawAddress listen();
  void accept();  // after listen()
  void connect(const RawAddress& address);

  void send(std::span<const std::byte> bytes);
  void receive(std::span<std::byte> bytes);
  // Receives at least one and at most `most` bytes.
  std::size_t receive_some(std::span<std::byte> bytes);

 private:
  void prepare(int fd);

  int listener_ = -1;
  int fd_ = -1;
  std::uint64_t word_ = 0;
};

}  // namespace shmemx::bench
