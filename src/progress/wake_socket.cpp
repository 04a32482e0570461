#include "progress/wake_socket.hpp"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdio>
#include <span>
#include <utility>

#include "base/random_bytes.hpp"

namespace shmemx::progress {
namespace {

struct Address {
  sockaddr_un un{};
  socklen_t bytes = 0;
};

// The name is random: there may be PEs of the node in another network namespace, which has names of its own.
Address address_of(std::uint64_t name) {
  Address address;
  address.un.sun_family = AF_UNIX;
  const int n = std::snprintf(address.un.sun_path + 1, sizeof address.un.sun_path - 1, "shmemx-wake-%016" PRIx64, name);
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
  return address;
}

UniqueFd make_socket() { return UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

const sockaddr* generic(const Address& address) { return reinterpret_cast<const sockaddr*>(&address.un); }

}  // namespace

bool WakeSocket::open() noexcept {
  UniqueFd made = make_socket();
  std::uint64_t name = 0;
  if (!made.valid() || !fill_random(std::as_writable_bytes(std::span(&name, 1))) || name == 0) return false;
  const Address address = address_of(name);
  if (::bind(made.get(), generic(address), address.bytes) != 0) return false;
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
  const Address address = address_of(name);
  const char byte = 0;
  return ::sendto(socket, &byte, sizeof byte, MSG_NOSIGNAL, generic(address), address.bytes) >= 0 || errno == EAGAIN;
}

}  // namespace shmemx::progress
