// Wakes a thread of another PE of the node that sleeps on the networks, where the futex of its doorbell does not reach
// it: a datagram to a socket in the abstract namespace, which leaves no name behind.
#pragma once

#include <cstdint>

#include "base/unique_fd.hpp"

namespace shmemx::progress {

class WakeSocket {
 public:
  // Returns false if the system has no such socket for this process.
  bool open() noexcept;
  int descriptor() const noexcept { return socket_.get(); }  // readable after send_wake_up()
  std::uint64_t name() const noexcept { return name_; }      // 0: not open
  void drain() noexcept;                                     // not readable any more

 private:
  UniqueFd socket_;
  std::uint64_t name_ = 0;
};

// Returns false if no socket of that name can be reached, as from another network namespace.
bool send_wake_up(std::uint64_t name) noexcept;

}  // namespace shmemx::progress
