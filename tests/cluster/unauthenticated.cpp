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

#include "transport/tcp/handshake.hpp"

namespace {

using shmemx::tcp::Hello;

int failures = 0;
int visits = 0;
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
    ++visits;
    return fd;
  }
  ::close(fd);
  return -1;
}

void tell(int fd, const void* bytes, std::size_t count) { (void)!::send(fd, bytes, count, MSG_NOSIGNAL); }

// Waits until the other side closes the connection. It must not send anything.
void expect_dismissal(int fd, double seconds) {
  const double deadline = now() + seconds;
  for (;;) {
    pollfd ready{fd, POLLIN, 0};
    const int left_ms = static_cast<int>((deadline - now()) * 1000);
    if (left_ms <= 0 || ::poll(&ready, 1, left_ms) == 0) return fail("not sent away");
    char byte;
    const ssize_t n = ::recv(fd, &byte, 1, 0);
    if (n > 0) return fail("was answered");
    if (n == 0 || errno != EINTR) return;
  }
}

Hello foreign_greeting(int to, int size) {
  shmemx::transport::Setup setup;
  setup.me = (to + 1) % size;
  setup.n_pes = size;
  setup.secret[0] = 0x1234;
  setup.secret[1] = 0x5678;
  return shmemx::tcp::make_hello(setup, to);
}

constexpr double kPatience = 30;  // generous: the machine may be loaded

void talk_rubbish() {
  for (int i = 0; i < 100; ++i) {
    const int fd = connect_to_port();
    if (fd < 0) continue;
    std::vector<unsigned char> bytes(sizeof(Hello) + generator() % 4000);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(generator());
    tell(fd, bytes.data(), bytes.size());
    expect_dismissal(fd, kPatience);
    ::close(fd);
  }
}

void greet_with_wrong_secret(const Hello& hello) {
  for (int i = 0; i < 100; ++i) {
    const int fd = connect_to_port();
    if (fd < 0) continue;
    tell(fd, &hello, sizeof hello);
    expect_dismissal(fd, kPatience);
    ::close(fd);
  }
}

void drip(const Hello& hello) {
  std::vector<int> slow;
  for (int i = 0; i < 20; ++i) slow.push_back(connect_to_port());
  for (std::size_t at = 0; at + 1 < sizeof hello; ++at) {
    for (const int fd : slow) tell(fd, reinterpret_cast<const char*>(&hello) + at, 1);
    ::usleep(20'000);
  }
  for (const int fd : slow) {
    if (fd < 0) continue;
    expect_dismissal(fd, kPatience);
    ::close(fd);
  }
}

void come_in_crowds() {
  constexpr int kVisits = 10'000;
  constexpr std::size_t kAtOnce = 400;
  std::deque<int> open;
  for (int i = 0; i < kVisits; ++i) {
    const int fd = connect_to_port();
    if (fd >= 0) open.push_back(fd);
    if (open.size() < kAtOnce) continue;
    char byte;
    if (::recv(open.front(), &byte, 1, MSG_DONTWAIT) > 0) fail("was answered");
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
  const Hello hello = foreign_greeting(std::atoi(argv[2]), std::atoi(argv[3]));
  talk_rubbish();
  greet_with_wrong_secret(hello);
  drip(hello);
  come_in_crowds();
  if (visits < 5000) fail("hardly ever reached");  // then the test has shown nothing
  return failures == 0 ? 0 : 1;
}
