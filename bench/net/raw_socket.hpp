// A TCP connection between two PEs that belongs to the bench alone: what the network gives without a library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace shmemx::bench {

// Where PE 0 listens: what its partner tries, one address after the other. Travels through the symmetric heap.
struct RawAddress {
  static constexpr int kMost = 8;
  std::uint32_t count;
  std::uint32_t addresses[kMost];  // IPv4, in network order
  std::uint16_t port;              // 0: nobody listens yet
  std::uint64_t word;              // what the first bytes must be
};

// Never sleeps: sends and receives poll, as the fastest way there is between two processes that have a core each.
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
  // Takes what there is of the next `most` bytes; at least one.
  std::size_t receive_some(std::span<std::byte> bytes);

 private:
  void prepare(int fd);

  int listener_ = -1;
  int fd_ = -1;
  std::uint64_t word_ = 0;
};

}  // namespace shmemx::bench
