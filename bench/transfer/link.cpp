#include "link.hpp"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>

namespace shmemx::bench {
namespace {

constexpr std::int64_t kLeadNs = 2000;      // longer than a line takes to the other core
constexpr std::int64_t kToleranceNs = 500;  // later than that, the transfer did not start on both sides together
constexpr int kProbeBatches = 3;
constexpr int kProbeTrips = 16;

// A message of one byte with room for one descriptor.
struct DescriptorMessage {
  char byte = 'f';
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  DescriptorMessage() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
  }
};

}  // namespace

Unavailable system_refusal(const std::string& what) { return Unavailable(what + ": " + std::strerror(errno)); }

void Link::yield_core() {
  if (block_.failed.value.load(std::memory_order_relaxed) != 0)  // only tells that the wait cannot succeed
    throw Unavailable("the other process gave up");
  sched_yield();
}

void Link::give_up(const std::string& why) {
  std::snprintf(outcome().why, sizeof outcome().why, "%s", why.c_str());
  block_.failed.value.store(1, std::memory_order_relaxed);  // the pipe to the coordinator orders the text
}

void Link::meet() { peer_pid_ = exchange(getpid()); }

std::vector<std::byte> Link::exchange(std::span<const std::byte> mine) {
  if (mine.size() > kMailBytes) throw Unavailable("an address or key is longer than the bench has room for");
  PairBlock::Mail& out = block_.mail[self_];
  std::copy(mine.begin(), mine.end(), out.data);
  out.bytes = mine.size();
  barrier();
  const PairBlock::Mail& in = block_.mail[1 - self_];
  std::vector<std::byte> theirs(in.data, in.data + in.bytes);
  barrier();
  return theirs;
}

void Link::send_fd(int fd) {
  DescriptorMessage message;
  cmsghdr* header = CMSG_FIRSTHDR(&message.header);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  if (sendmsg(socket_, &message.header, MSG_NOSIGNAL) != 1) throw system_refusal("send a file descriptor");
}

int Link::receive_fd() {
  DescriptorMessage message;
  ssize_t got = 0;
  wait([&] {
    got = recvmsg(socket_, &message.header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    return got >= 0 || (errno != EAGAIN && errno != EINTR);
  });
  const cmsghdr* header = CMSG_FIRSTHDR(&message.header);
  if (got != 1 || header == nullptr) throw system_refusal("receive a file descriptor");
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return fd;
}

std::int64_t Link::start_together(bool more) {
  barrier();
  std::int64_t start = 0;
  if (local()) {
    start = more ? std::max(now_ns() + kLeadNs, last_start_ + 1) : -(last_start_ + 1);
    block_.start.value.store(start, std::memory_order_release);  // start
  } else {
    wait([&] {
      start = block_.start.value.load(std::memory_order_acquire);  // start
      return start > last_start_ || start == -(last_start_ + 1);
    });
  }
  if (start < 0) {
    last_start_ += 1;  // the negative number stays in the word, and the next one must differ from it
    return 0;
  }
  last_start_ = start;
  std::int64_t now = now_ns();
  while (now < start) now = now_ns();
  if (!local() && now > start + kToleranceNs)
    block_.late.value.store(start, std::memory_order_relaxed);  // the next barrier orders it
  return start;
}

double Link::probe() {
  double best = std::numeric_limits<double>::max();
  barrier();
  for (int batch = 0; batch < kProbeBatches; ++batch) {
    const std::int64_t begin = now_ns();
    for (int i = 0; i < kProbeTrips; ++i) {
      ++trips_;
      if (local()) block_.ping.value.store(trips_, std::memory_order_release);  // probe
      std::atomic<std::int64_t>& word = local() ? block_.pong.value : block_.ping.value;
      wait([&] { return word.load(std::memory_order_acquire) >= trips_; });      // probe
      if (!local()) block_.pong.value.store(trips_, std::memory_order_release);  // probe
    }
    best = std::min(best, static_cast<double>(now_ns() - begin) / (2.0 * kProbeTrips));
  }
  return best;
}

}  // namespace shmemx::bench
