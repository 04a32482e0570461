// Sockets with the options that this transport needs, and an epoll instance that watches them.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "transport/common/network_fd.hpp"
#include "transport/tcp/address.hpp"

namespace shmemx::tcp {

using transport::NetworkFd;

// Opens a non-blocking socket that listens on every address of this machine, on a port that the kernel chooses.
Result<NetworkFd> open_listener(std::uint16_t& port);

// Opens a non-blocking socket. Returns an invalid descriptor, with errno set, if that fails.
NetworkFd open_socket(bool is_v6) noexcept;

// Sets the options of a connection that carries messages.
void tune(int fd, std::uint32_t timeout_ms, std::uint32_t silence_ms) noexcept;

// Returns how many bytes the other side has not acknowledged.
int unacknowledged_bytes(int fd) noexcept;

// Returns whether the other side has acknowledged nothing for a moment, although something was sent to it again, or
// the kernel has asked it for a sign of life. `timeout_ms`: as for tune().
bool is_silent(int fd, std::uint32_t timeout_ms) noexcept;
// Returns the time since anything came from the other side, an acknowledgement or data.
std::uint64_t unheard_ns(int fd) noexcept;

// From now on the connection receives nothing more, so nothing is acknowledged that is not read. close() resets it.
void stop_receiving(int fd) noexcept;

// Fills in the ends of a connection, without the interface. Returns false, and changes nothing, if it has none.
bool ends_of(int fd, Path& path) noexcept;
// Fills in the address of this machine that a socket uses. Returns false if it has none.
bool near_end_of(int fd, Address& near) noexcept;

// Describes a connection: "eth0 10.0.0.1 -> 10.0.0.2:4711".
std::string connection_text(int fd);

// Returns the C library's text of an errno.
std::string error_text(int error);

// An event of the transport's epoll instance carries a tag: the kind of descriptor, and its PE or its number.
enum class EventKind : std::uint32_t { listener, timer, wake, connection, dial, peer };
constexpr std::uint64_t event_tag(EventKind kind, int number) noexcept {
  return static_cast<std::uint64_t>(kind) << 32 | static_cast<std::uint32_t>(number);
}
bool watch(int epoll, int fd, std::uint32_t events, std::uint64_t tag) noexcept;
void unwatch(int epoll, int fd) noexcept;
// Removes the descriptor from the epoll instance and closes it. If a forked child has a copy, closing alone would leave
// it there, readable for ever.
void close_watched(int epoll, NetworkFd& fd) noexcept;
bool rewatch(int epoll, int fd, std::uint32_t events, std::uint64_t tag) noexcept;

}  // namespace shmemx::tcp
