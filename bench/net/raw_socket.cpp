#include "raw_socket.hpp"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "../support/clock.hpp"
#include "../support/job.hpp"

namespace shmemx::bench {
namespace {

constexpr std::int64_t kPatienceNs = 20'000'000'000;
constexpr int kConnectMs = 1000;

// Adds the addresses of the interfaces that are up, or the loopback address if there is no other.
void add_addresses(RawAddress& mine) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) die("getifaddrs");
  for (const ifaddrs* one = all; one != nullptr && mine.count < RawAddress::kMost; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    mine.addresses[mine.count++] = reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr;
  }
  freeifaddrs(all);
  if (mine.count == 0) mine.addresses[mine.count++] = htonl(INADDR_LOOPBACK);
}

bool ready_within(int fd, short events, int milliseconds) {
  pollfd watched{fd, events, 0};
  return ::poll(&watched, 1, milliseconds) == 1;
}

int try_connect(std::uint32_t address, std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) die("socket");
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_addr.s_addr = address;
  there.sin_port = htons(port);
  int code = ::connect(fd, reinterpret_cast<const sockaddr*>(&there), sizeof there);
  if (code != 0 && errno == EINPROGRESS && ready_within(fd, POLLOUT, kConnectMs)) {
    socklen_t length = sizeof code;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &length);
  }
  if (code == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

RawSocket::~RawSocket() {
  if (listener_ >= 0) close(listener_);
  if (fd_ >= 0) close(fd_);
}

// The same options as the library's transport: no delay and no pacing.
void RawSocket::prepare(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  for (const char* name : {"cubic", "reno"}) {
    if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, static_cast<socklen_t>(std::strlen(name))) == 0) break;
  }
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  fd_ = fd;
}

RawAddress RawSocket::listen() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  socklen_t length = sizeof here;
  auto* name = reinterpret_cast<sockaddr*>(&here);
  if (listener_ < 0 || bind(listener_, name, length) != 0 || ::listen(listener_, 4) != 0) die("listen");
  getsockname(listener_, name, &length);
  RawAddress mine{};
  add_addresses(mine);
  mine.port = ntohs(here.sin_port);
  mine.word = word_ = static_cast<std::uint64_t>(now_ns()) << 16 | mine.port;
  return mine;
}

void RawSocket::accept() {
  const std::int64_t late = now_ns() + kPatienceNs;
  while (now_ns() < late) {
    if (!ready_within(listener_, POLLIN, kConnectMs)) continue;
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    std::uint64_t word = 0;
    if (fd < 0) continue;
    if (ready_within(fd, POLLIN, kConnectMs) && recv(fd, &word, sizeof word, 0) == sizeof word && word == word_) {
      prepare(fd);
      return;
    }
    close(fd);
  }
  die("nobody connects for the raw comparison");
}

void RawSocket::connect(const RawAddress& address) {
  for (std::uint32_t i = 0; i < address.count; ++i) {
    const int fd = try_connect(address.addresses[i], address.port);
    if (fd < 0) continue;
    prepare(fd);
    send(std::as_bytes(std::span(&address.word, 1)));
    return;
  }
  die("no address of the other host answers for the raw comparison");
}

void RawSocket::send(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) bytes = bytes.subspan(static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) die("the raw connection broke");
  }
}

std::size_t RawSocket::receive_some(std::span<std::byte> bytes) {
  for (;;) {
    const ssize_t got = ::recv(fd_, bytes.data(), bytes.size(), 0);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) die("the raw connection broke");
  }
}

}  // namespace shmemx::bench
