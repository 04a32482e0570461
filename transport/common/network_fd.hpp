// Descriptors of networks, which a forked child must not keep: as long as it has a copy, the kernel neither ends the
// connections of a PE that is gone, nor refuses new ones to it.
//
// They are noted in a table that any thread may change while another one forks. So the child needs no lock, and nothing
// that another thread may have left half done.
#pragma once

#include <utility>

#include "base/unique_fd.hpp"

namespace shmemx::transport {

// Notes, or forgets, that a descriptor is a network's.
void note_network_fd(int fd) noexcept;
void forget_network_fd(int fd) noexcept;

// Closes this process's copies of all descriptors of networks. For a child that has just been forked.
// Async-signal-safe.
void close_network_fds_in_child() noexcept;

// A descriptor of a network. Closes itself.
class NetworkFd {
 public:
  NetworkFd() noexcept = default;
  explicit NetworkFd(UniqueFd fd) noexcept : fd_(std::move(fd)) {
    if (valid()) note_network_fd(get());
  }
  explicit NetworkFd(int fd) noexcept : NetworkFd(UniqueFd(fd)) {}
  NetworkFd(NetworkFd&&) noexcept = default;
  NetworkFd& operator=(NetworkFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::move(other.fd_);
    }
    return *this;
  }
  ~NetworkFd() { reset(); }

  int get() const noexcept { return fd_.get(); }
  bool valid() const noexcept { return fd_.valid(); }
  // Forgotten first: the number may be another file's as soon as it is closed.
  void reset() noexcept {
    if (valid()) forget_network_fd(get());
    fd_.reset();
  }

 private:
  UniqueFd fd_;
};

}  // namespace shmemx::transport
