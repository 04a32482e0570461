// Sockets as this transport wants them.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace shmemx::tcp {

// Listens on every address of this machine, on a port that the kernel chooses; not blocking.
Result<UniqueFd> open_listener(std::uint16_t& port);

// Not blocking, invalid with errno set when there is none.
UniqueFd open_socket(bool is_v6) noexcept;

// For a connection that carries messages.
void tune(int fd, std::uint32_t timeout_ms, std::uint32_t silence_ms) noexcept;

// An error that came in meanwhile, 0 for none.
int pending_error(int fd) noexcept;

// Bytes that the other side has not acknowledged.
int unacknowledged_bytes(int fd) noexcept;

// "eth0 10.0.0.1 -> 10.0.0.2:4711"
std::string connection_text(int fd);

// The text of `error`, as the C library has it.
std::string error_text(int error);

// Events of a transport's epoll say whom they concern.
enum class EventKind : std::uint32_t { listener, timer, bell, stranger, dial, peer };
constexpr std::uint64_t event_tag(EventKind kind, int number) noexcept {
  return static_cast<std::uint64_t>(kind) << 32 | static_cast<std::uint32_t>(number);
}
bool watch(int epoll, int fd, std::uint32_t events, std::uint64_t tag) noexcept;
void unwatch(int epoll, int fd) noexcept;
// A descriptor that a forked child still has stays in an epoll that was not told, and ready for ever.
void close_watched(int epoll, UniqueFd& fd) noexcept;
bool rewatch(int epoll, int fd, std::uint32_t events, std::uint64_t tag) noexcept;

}  // namespace shmemx::tcp
