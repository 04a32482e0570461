#include "netswitch.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <queue>
#include <random>

namespace vhosts {
namespace {

using Address = std::array<unsigned char, ETH_ALEN>;
// The kernel's virtio_net_hdr describes missing checksums and segmentation of a frame; its header is not valid C++.
constexpr std::size_t kPrefixBytes = 10;
constexpr int kBurst = 64;                // frames read from a port before the next port
constexpr std::size_t kMaxHeld = 20'000;  // a full switch drops frames

struct Frame {
  double due;
  unsigned long number;  // keeps the order of frames that are due at once
  std::size_t from;
  std::string bytes;
};
struct Later {
  bool operator()(const Frame& a, const Frame& b) const { return a.due != b.due ? a.due > b.due : a.number > b.number; }
};

Fd open_port(const std::string& name) {
  Fd socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) throw NotAllowed("raw sockets are not allowed, which loss and delay need");
  const int one = 1, buffer_bytes = 16 << 20;
  check(::setsockopt(socket.get(), SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one), "PACKET_VNET_HDR");
  check(::setsockopt(socket.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one), "PACKET_IGNORE_OUTGOING");
  for (const int which : {SO_RCVBUFFORCE, SO_SNDBUFFORCE}) {
    ::setsockopt(socket.get(), SOL_SOCKET, which, &buffer_bytes, sizeof buffer_bytes);  // refused to plain users
  }
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(::if_nametoindex(name.c_str()));
  packet_mreq all{};
  all.mr_ifindex = address.sll_ifindex;
  all.mr_type = PACKET_MR_PROMISC;
  check(::setsockopt(socket.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all), "promiscuous mode");
  check(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind to " + name);
  return socket;
}

class Switch {
 public:
  Switch(const Impairment& impairment, int hosts) : rules_(impairment), random_(impairment.seed) {
    for (int i = 0; i < hosts; ++i) ports_.push_back(open_port(port_name(i)));
  }
  [[noreturn]] void run();

 private:
  bool happens(double percent) { return percent > 0 && chance_(random_) * 100 < percent; }
  void take(std::size_t port);
  void hold(std::size_t port, const std::string& bytes);
  void change_bit(std::string& bytes);
  void send_due();
  void forward(const Frame& frame);
  timespec wait_time() const;

  Impairment rules_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> chance_{0, 1};
  std::vector<Fd> ports_;
  std::map<Address, std::size_t> learned_;
  std::priority_queue<Frame, std::vector<Frame>, Later> held_;
  unsigned long count_ = 0;
};

Address address_at(const std::string& bytes, std::size_t offset) {
  Address address;
  std::memcpy(address.data(), bytes.data() + kPrefixBytes + offset, address.size());
  return address;
}

// Behind the addresses, so that the frame reaches its host.
void Switch::change_bit(std::string& bytes) {
  const std::size_t first = kPrefixBytes + ETH_HLEN;
  if (bytes.size() <= first) return;
  const std::size_t bit = random_() % ((bytes.size() - first) * 8);
  bytes[first + bit / 8] = static_cast<char>(bytes[first + bit / 8] ^ (1 << bit % 8));
}

void Switch::hold(std::size_t port, const std::string& bytes) {
  if (held_.size() >= kMaxHeld) return;
  double delay_us = rules_.delay_us + rules_.jitter_us * (2 * chance_(random_) - 1);
  if (happens(rules_.reorder)) {  // overtakes earlier frames, or is overtaken by later ones
    constexpr double kLateUs = 300;
    delay_us = rules_.delay_us > 0 ? 0 : kLateUs;
  }
  held_.push({now_seconds() + 1e-6 * std::max(0.0, delay_us), count_++, port, bytes});
}

void Switch::take(std::size_t port) {
  static char buffer[80'000];
  for (int i = 0; i < kBurst; ++i) {
    const ssize_t n = ::recv(ports_[port].get(), buffer, sizeof buffer, 0);
    if (n < static_cast<ssize_t>(kPrefixBytes + ETH_HLEN)) return;
    std::string bytes(buffer, static_cast<std::size_t>(n));
    learned_[address_at(bytes, ETH_ALEN)] = port;
    if (happens(rules_.loss)) continue;
    if (happens(rules_.corrupt)) change_bit(bytes);
    hold(port, bytes);
    if (happens(rules_.duplicate)) hold(port, bytes);
  }
}

void Switch::forward(const Frame& frame) {
  const auto known = learned_.find(address_at(frame.bytes, 0));
  for (std::size_t port = 0; port < ports_.size(); ++port) {
    if (port == frame.from || (known != learned_.end() && known->second != port)) continue;
    // A full queue or a link that is down loses the frame.
    (void)!::send(ports_[port].get(), frame.bytes.data(), frame.bytes.size(), 0);
  }
}

void Switch::send_due() {
  while (!held_.empty() && held_.top().due <= now_seconds()) {
    forward(held_.top());
    held_.pop();
  }
}

timespec Switch::wait_time() const {
  const double seconds = held_.empty() ? 1.0 : std::clamp(held_.top().due - now_seconds(), 0.0, 1.0);
  return {static_cast<time_t>(seconds), static_cast<long>(std::fmod(seconds, 1.0) * 1e9)};
}

void Switch::run() {
  std::vector<pollfd> ready;
  for (const Fd& port : ports_) ready.push_back({port.get(), POLLIN, 0});
  for (;;) {
    const timespec wait = wait_time();
    ::ppoll(ready.data(), ready.size(), &wait, nullptr);
    for (std::size_t port = 0; port < ready.size(); ++port) {
      if ((ready[port].revents & POLLIN) != 0) take(port);
      if ((ready[port].revents & POLLERR) != 0) {  // a link went down; reading the error clears it
        int error = 0;
        socklen_t bytes = sizeof error;
        ::getsockopt(ports_[port].get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
      }
    }
    send_due();
  }
}

}  // namespace

pid_t start_switch(const Impairment& impairment, int hosts) {
  Switch network(impairment, hosts);  // opened here, so that errors are reported and frames are queued in the sockets
  const pid_t parent = ::getpid();
  const pid_t pid = check(::fork(), "fork");
  if (pid > 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) _exit(1);
  network.run();
}

}  // namespace vhosts
