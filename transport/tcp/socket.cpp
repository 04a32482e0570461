#include "transport/tcp/socket.hpp"

#include <linux/filter.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

#include "transport/tcp/own_addresses.hpp"

namespace shmemx::tcp {

namespace {

constexpr int kBacklog = 4096;
constexpr std::uint32_t kSilentMs = 250;  // without an acknowledgement, and the kernel has sent again

void set(int fd, int level, int option, int value) noexcept { ::setsockopt(fd, level, option, &value, sizeof value); }

Result<NetworkFd> bind_and_listen(NetworkFd fd, const sockaddr* address, socklen_t bytes) {
  if (::bind(fd.get(), address, bytes) != 0) return system_error("bind a TCP socket");
  if (::listen(fd.get(), kBacklog) != 0) return system_error("listen on a TCP socket");
  return fd;
}

Result<NetworkFd> listen_v6() {
  NetworkFd fd = open_socket(true);
  if (!fd.valid()) return system_error("open an IPv6 socket");
  set(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);  // accepts IPv4 as well
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  return bind_and_listen(std::move(fd), reinterpret_cast<const sockaddr*>(&any), sizeof any);
}

Result<NetworkFd> listen_v4() {
  NetworkFd fd = open_socket(false);
  if (!fd.valid()) return system_error("open an IPv4 socket");
  sockaddr_in any{};
  any.sin_family = AF_INET;
  return bind_and_listen(std::move(fd), reinterpret_cast<const sockaddr*>(&any), sizeof any);
}

}  // namespace

Result<NetworkFd> open_listener(std::uint16_t& port) {
  Result<NetworkFd> fd = listen_v6();
  if (!fd) fd = listen_v4();
  if (!fd) return fd;
  sockaddr_storage bound{};
  socklen_t bytes = sizeof bound;
  if (::getsockname(fd->get(), reinterpret_cast<sockaddr*>(&bound), &bytes) != 0)
    return system_error("name a TCP socket");
  port = ntohs(bound.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(bound).sin_port
                                          : reinterpret_cast<const sockaddr_in6&>(bound).sin6_port);
  return fd;
}

NetworkFd open_socket(bool is_v6) noexcept {
  return NetworkFd(::socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

namespace {

// After so long without a sign of life the kernel asks for one.
int idle_seconds(std::uint32_t timeout_ms) noexcept { return std::max(1, static_cast<int>(timeout_ms / 3000)); }

}  // namespace

void tune(int fd, std::uint32_t timeout_ms, std::uint32_t silence_ms) noexcept {
  // The kernel fits the sizes of its buffers to the connection. Fixed sizes were never faster.
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  // Not the system's default: pacing, as BBR does it, halves the throughput over short distances.
  for (const char* name : {"cubic", "reno"}) {
    if (::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, static_cast<socklen_t>(strlen(name))) == 0) break;
  }
  // Against cut links and dead machines: the kernel notices that sent data are not acknowledged, or, if nothing was
  // sent, that its keepalive probes get no reply. A PE that does not read looks to the kernel like one that does not
  // acknowledge.
  const int seconds = std::max(1, static_cast<int>(timeout_ms / 1000));
  set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(std::max(timeout_ms, silence_ms)));
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle_seconds(timeout_ms));
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, seconds / 6));
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

int unacknowledged_bytes(int fd) noexcept {
  int bytes = 0;
  return ::ioctl(fd, SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

namespace {

tcp_info info_of(int fd) noexcept {
  tcp_info info{};
  socklen_t bytes = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return {};
  return info;
}

std::uint32_t unheard_ms(const tcp_info& info) noexcept {
  return std::min(info.tcpi_last_ack_recv, info.tcpi_last_data_recv);
}

}  // namespace

bool is_silent(int fd, std::uint32_t timeout_ms) noexcept {
  const tcp_info info = info_of(fd);
  if (info.tcpi_unacked != 0) return info.tcpi_retransmits != 0 && info.tcpi_last_ack_recv > kSilentMs;
  const auto idle_ms = static_cast<std::uint32_t>(idle_seconds(timeout_ms)) * 1000;
  return info.tcpi_probes != 0 && unheard_ms(info) > idle_ms + kSilentMs;
}

std::uint64_t unheard_ns(int fd) noexcept { return std::uint64_t{unheard_ms(info_of(fd))} * 1'000'000; }

void stop_receiving(int fd) noexcept {
  sock_filter drop_all = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program{1, &drop_all};
  ::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
  const linger at_once{1, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

namespace {

std::string interface_with(const sockaddr_storage& near) {
  const Address own = from_sockaddr(reinterpret_cast<const sockaddr*>(&near));
  for (const LocalAddress& local : local_addresses()) {
    if (local.address.same_host_as(own)) return local.interface;
  }
  return {};
}

}  // namespace

bool near_end_of(int fd, Address& near) noexcept {
  sockaddr_storage bound{};
  socklen_t bytes = sizeof bound;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &bytes) != 0) return false;
  near = from_sockaddr(reinterpret_cast<const sockaddr*>(&bound));
  return true;
}

bool ends_of(int fd, Path& path) noexcept {
  sockaddr_storage far{};
  socklen_t bytes = sizeof far;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&far), &bytes) != 0 || !near_end_of(fd, path.near)) return false;
  path.far = from_sockaddr(reinterpret_cast<const sockaddr*>(&far));
  return true;
}

[[gnu::cold]] std::string connection_text(int fd) {
  sockaddr_storage near{};
  sockaddr_storage far{};
  socklen_t near_bytes = sizeof near;
  socklen_t far_bytes = sizeof far;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&near), &near_bytes) != 0 ||
      ::getpeername(fd, reinterpret_cast<sockaddr*>(&far), &far_bytes) != 0) {
    return "a closed connection";
  }
  const std::string interface = interface_with(near);
  const Address own = from_sockaddr(reinterpret_cast<const sockaddr*>(&near));
  return (interface.empty() ? "?" : interface) + " " + own.text() + " -> " + endpoint_text(far);
}

std::string error_text(int error) {
  char buffer[128];
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
  return ::strerror_r(error, buffer, sizeof buffer);
#else
  return ::strerror_r(error, buffer, sizeof buffer) == 0 ? buffer : "error " + std::to_string(error);
#endif
}

bool watch(int epoll, int fd, std::uint32_t events, std::uint64_t tag) noexcept {
  epoll_event event{events, {}};
  event.data.u64 = tag;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

void unwatch(int epoll, int fd) noexcept { ::epoll_ctl(epoll, EPOLL_CTL_DEL, fd, nullptr); }

void close_watched(int epoll, NetworkFd& fd) noexcept {
  if (!fd.valid()) return;
  unwatch(epoll, fd.get());
  fd.reset();
}

bool rewatch(int epoll, int fd, std::uint32_t events, std::uint64_t tag) noexcept {
  epoll_event event{events, {}};
  event.data.u64 = tag;
  return ::epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) == 0;
}

}  // namespace shmemx::tcp
