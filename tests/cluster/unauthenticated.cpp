// unauthenticated PORT PE SIZE: connects to a PE's port without being a PE of its job. It sends random bytes, a
// well-formed hello with another secret, one byte at a time, and opens ten thousand connections. Fails if it gets any
// reply, or if the PE does not close the connections in time.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <vector>

#include "transport/common/handshake.hpp"

namespace {

using shmemx::transport::Hello;

int failures = 0;
int accepted = 0;
sockaddr_in address{};
std::mt19937 generator(7);

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

void fail(const char* what) {
  if (++failures < 10)
    std::fprintf(stderr, "unauthenticated connection at port %d: %s\n", ntohs(address.sin_port), what);
}

// Returns -1 if the other side has no room now, which is allowed.
int connect_to_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    ++accepted;
    return fd;
  }
  ::close(fd);
  return -1;
}

void send_bytes(int fd, const void* bytes, std::size_t count) { (void)!::send(fd, bytes, count, MSG_NOSIGNAL); }

// Waits until the other side closes the connection. It must not send anything.
void expect_close(int fd, double seconds) {
  const double deadline = now() + seconds;
  for (;;) {
    pollfd ready{fd, POLLIN, 0};
    const int left_ms = static_cast<int>((deadline - now()) * 1000);
    if (left_ms <= 0 || ::poll(&ready, 1, left_ms) == 0) return fail("connection not closed");
    char byte;
    const ssize_t n = ::recv(fd, &byte, 1, 0);
    if (n > 0) return fail("got a reply");
    if (n == 0 || errno != EINTR) return;
  }
}

Hello hello_with_wrong_secret(int to, int size) {
  shmemx::transport::Setup setup;
  setup.me = (to + 1) % size;
  setup.n_pes = size;
  setup.secret[0] = 0x1234;
  setup.secret[1] = 0x5678;
  return shmemx::transport::make_hello(setup, to, 0);
}

constexpr double kLimitSeconds = 30;  // generous: the machine may be loaded

void send_random_bytes() {
  for (int i = 0; i < 100; ++i) {
    const int fd = connect_to_port();
    if (fd < 0) continue;
    std::vector<unsigned char> bytes(sizeof(Hello) + generator() % 4000);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(generator());
    send_bytes(fd, bytes.data(), bytes.size());
    expect_close(fd, kLimitSeconds);
    ::close(fd);
  }
}

void send_wrong_secret(const Hello& hello) {
  for (int i = 0; i < 100; ++i) {
    const int fd = connect_to_port();
    if (fd < 0) continue;
    send_bytes(fd, &hello, sizeof hello);
    expect_close(fd, kLimitSeconds);
    ::close(fd);
  }
}

void send_slowly(const Hello& hello) {
  std::vector<int> slow;
  for (int i = 0; i < 20; ++i) slow.push_back(connect_to_port());
  for (std::size_t at = 0; at + 1 < sizeof hello; ++at) {
    for (const int fd : slow) send_bytes(fd, reinterpret_cast<const char*>(&hello) + at, 1);
    ::usleep(20'000);
  }
  for (const int fd : slow) {
    if (fd < 0) continue;
    expect_close(fd, kLimitSeconds);
    ::close(fd);
  }
}

void open_many_connections() {
  constexpr int kConnections = 10'000;
  constexpr std::size_t kAtOnce = 400;
  std::deque<int> open;
  for (int i = 0; i < kConnections; ++i) {
    const int fd = connect_to_port();
    if (fd >= 0) open.push_back(fd);
    if (open.size() < kAtOnce) continue;
    char byte;
    if (::recv(open.front(), &byte, 1, MSG_DONTWAIT) > 0) fail("got a reply");
    ::close(open.front());
    open.pop_front();
  }
  for (const int fd : open) ::close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(argv[1])));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const Hello hello = hello_with_wrong_secret(std::atoi(argv[2]), std::atoi(argv[3]));
  send_random_bytes();
  send_wrong_secret(hello);
  send_slowly(hello);
  open_many_connections();
  if (accepted < 5000) fail("too few connections were accepted");  // the test would show nothing
  return failures == 0 ? 0 : 1;
}
