#include "progress/wake_socket.hpp"

#include <errno.h>
#include <inttypes.h>
#include <sys/socket.h>

#include <span>
#include <utility>

#include "base/abstract_address.hpp"
#include "base/random_bytes.hpp"

namespace shmemx::progress {
namespace {

// The name is random: there may be PEs of the node in another network namespace, which has names of its own.
AbstractAddress address_of(std::uint64_t name) { return AbstractAddress("shmemx-wake-%016" PRIx64, name); }

UniqueFd make_socket() { return UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

}  // namespace

bool WakeSocket::open() noexcept {
  UniqueFd made = make_socket();
  std::uint64_t name = 0;
  if (!made.valid() || !fill_random(std::as_writable_bytes(std::span(&name, 1))) || name == 0) return false;
  const AbstractAddress address = address_of(name);
  if (::bind(made.get(), address.get(), address.bytes()) != 0) return false;
  socket_ = std::move(made);
  name_ = name;
  return true;
}

void WakeSocket::drain() noexcept {
  char byte;
  while (::recv(socket_.get(), &byte, sizeof byte, 0) >= 0) {
  }
}

// Where the queue of the socket is full, it is readable. The sending socket stays open: threads may use it
// while the process exits.
bool send_wake_up(std::uint64_t name) noexcept {
  static const int socket = make_socket().release();
  const AbstractAddress address = address_of(name);
  const char byte = 0;
  return ::sendto(socket, &byte, sizeof byte, MSG_NOSIGNAL, address.get(), address.bytes()) >= 0 || errno == EAGAIN;
}

}  // namespace shmemx::progress
