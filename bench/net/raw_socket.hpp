// A TCP connection between two PEs without the library: the reference for the network's own speed.
#pragma once

#include "raw_link.hpp"

namespace shmemx::bench {

class RawSocket final : public RawLink {
 public:
  RawSocket() = default;
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;
  ~RawSocket() override;

  RawAddress listen() override;
  void accept() override;
  void connect(const RawAddress& address) override;
  void send(std::span<const std::byte> bytes) override;
  std::size_t receive_some(std::span<std::byte> bytes) override;

 private:
  void prepare(int fd);

  int listener_ = -1;
  int fd_ = -1;
  std::uint64_t word_ = 0;
};

}  // namespace shmemx::bench
