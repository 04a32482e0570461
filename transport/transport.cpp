#include "transport/transport.hpp"

namespace shmemx::transport {

FrameCounts& FrameCounts::operator+=(const FrameCounts& more) noexcept {
  sent += more.sent;
  received += more.received;
  resent += more.resent;
  duplicates += more.duplicates;
  truncated += more.truncated;
  foreign += more.foreign;
  forged += more.forged;
  stale += more.stale;
  overflowed += more.overflowed;
  return *this;
}

std::string silence_text(std::uint64_t ms) {
  const std::string time = ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
  return "no answer for " + time +
         "; if it was stopped, as by a debugger, set SHMEMX_NET_TIMEOUT to the seconds that it may be silent";
}

bool Transport::abandon(int) noexcept { return true; }

// The defaults for a network without RMA; the layers above read Capabilities first.

Result<std::string> Transport::register_memory(std::byte*, std::size_t) { return std::string(); }

void Transport::unregister_memory(std::byte*) noexcept {}

void Transport::forget_key(int, Bytes) noexcept {}

bool Transport::put(int, Bytes, std::uint64_t, Bytes, Completion&) noexcept { return false; }

bool Transport::get(int, Bytes, std::uint64_t, std::span<std::byte>, Completion&) noexcept { return false; }

}  // namespace shmemx::transport
