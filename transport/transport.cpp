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

}  // namespace shmemx::transport
