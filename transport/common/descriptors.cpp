#include "transport/common/descriptors.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace shmemx::transport {
namespace {

// Left to the program, and to connections that are being made while others close.
rlim_t reserve_below(rlim_t limit) noexcept { return std::clamp<rlim_t>(limit / 8, 8, 128); }

bool is_near(int fd, rlim_t limit) noexcept {
  return limit != RLIM_INFINITY && static_cast<rlim_t>(fd) + reserve_below(limit) >= limit;
}

}  // namespace

bool is_limit_near(int fd) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || !is_near(fd, limit.rlim_cur)) return false;
  return !raise_limit() || ::getrlimit(RLIMIT_NOFILE, &limit) != 0 || is_near(fd, limit.rlim_cur);
}

bool is_one_of_the_last(int fd) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
  return static_cast<rlim_t>(fd) + reserve_below(limit.rlim_cur) / 2 >= limit.rlim_cur && !raise_limit();
}

bool has_descriptor() noexcept {
  const int fd = ::open("/", O_PATH | O_CLOEXEC);
  if (fd < 0) return !lacks_descriptors(errno) || raise_limit();
  ::close(fd);
  return !is_one_of_the_last(fd);
}

bool is_half_used() noexcept {
  const int fd = ::open("/", O_PATH | O_CLOEXEC);
  if (fd < 0) return lacks_descriptors(errno) && !raise_limit();
  ::close(fd);
  const auto is_half = [fd] {
    rlimit limit{};
    return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           static_cast<rlim_t>(fd) >= limit.rlim_cur / 2;
  };
  return is_half() && (!raise_limit() || is_half());
}

std::string why_no_more_connections(const std::string& network, bool has_reserve) {
  if (has_reserve && is_half_used()) return "half of the descriptors are in use (ulimit -n)";
  if (has_descriptor()) return {};  // raises the limit if not
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return "nearly all of the " + std::to_string(limit.rlim_cur) +
         " descriptors are in use; raise their limit (ulimit -n), or let tcp follow, which closes idle connections "
         "(SHMEMX_TRANSPORT=" +
         network + ",tcp)";
}

// Some programs walk over all descriptors below the soft limit, so it is raised when it has to be, and not beyond what
// connections may take.
bool raise_limit() noexcept {
  constexpr rlim_t kMost = rlim_t{1} << 20;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  const rlim_t most = std::min(limit.rlim_max, kMost);
  if (limit.rlim_cur >= most) return false;
  limit.rlim_cur = most;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

bool lacks_descriptors(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

}  // namespace shmemx::transport
