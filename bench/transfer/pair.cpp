#include "pair.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "worker.hpp"

namespace shmemx::bench {
namespace {

constexpr int kPoliteMs = 300;  // for handlers of SIGTERM that remove files of a library

void close_fd(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

struct Pipe {
  int ends[2];
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) throw system_refusal("pipe2");
  }
};

}  // namespace

Pair::Pair(const MechanismInfo& info, const Site& site) {
  if (info.make == nullptr) {
    why_ = info.missing;
    return;
  }
  void* memory = mmap(nullptr, sizeof(PairBlock), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw system_refusal("mmap");
  block_ = static_cast<PairBlock*>(memory);
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) throw system_refusal("socketpair");
  start(info, site, true, sockets[0]);
  start(info, site, false, sockets[1]);
  close(sockets[0]);
  close(sockets[1]);
  alive_ = true;
}

Pair::~Pair() {
  if (alive_) {
    Order order{};
    order.command = Command::finish;
    carry_out(order, 5000);
  }
  end();
  if (block_ != nullptr) munmap(block_, sizeof(PairBlock));
}

void Pair::start(const MechanismInfo& info, const Site& site, bool local, int socket) {
  const int self = local ? 0 : 1;
  Pipe orders;
  Pipe replies;
  const pid_t pid = fork();
  if (pid < 0) throw system_refusal("fork");
  if (pid == 0) {
    close(orders.ends[1]);
    close(replies.ends[0]);
    for (const int other : {0, 1}) {
      close_fd(orders_[other]);
      close_fd(replies_[other]);
    }
    run_worker({block_, site.arena, &info, local, socket, orders.ends[0], replies.ends[1], site.cpus[self],
                site.crowded, site.working_set_bytes});
  }
  close(orders.ends[0]);
  close(replies.ends[1]);
  pids_[self] = pid;
  orders_[self] = orders.ends[1];
  replies_[self] = replies.ends[0];
}

bool Pair::carry_out(const Order& order, int limit_ms) {
  if (!alive_) return false;
  for (const int fd : orders_)
    if (write(fd, &order, sizeof order) != static_cast<ssize_t>(sizeof order)) why_ = "a process has ended";
  if (why_.empty() && await_replies(limit_ms)) {
    if (order.command == Command::finish) alive_ = false;
    return true;
  }
  alive_ = false;
  end();
  return false;
}

bool Pair::await_replies(int limit_ms) {
  const std::int64_t deadline = now_ns() + std::int64_t{limit_ms} * 1'000'000;
  pollfd waiting[2] = {{replies_[0], POLLIN, 0}, {replies_[1], POLLIN, 0}};
  bool good = true;
  for (int open = 2; open > 0;) {
    const std::int64_t left_ms = (deadline - now_ns()) / 1'000'000;
    if (left_ms <= 0 || poll(waiting, 2, static_cast<int>(std::min<std::int64_t>(left_ms, 1000))) < 0) {
      if (left_ms > 0) continue;
      why_ = "no answer within " + std::to_string(limit_ms) + " ms";
      return false;
    }
    for (pollfd& one : waiting) {
      if (one.fd < 0 || one.revents == 0) continue;
      char reply = 0;
      if (read(one.fd, &reply, 1) != 1 || reply != kDone) good = false;
      if (reply == 0) {
        why_ = "a process died";
        return false;
      }
      one.fd = -1;
      --open;
    }
  }
  if (!good) why_ = reason();
  return good;
}

// If both failed, returns the reason of the one that did not merely wait for the other.
std::string Pair::reason() const {
  const std::string local = block_->outcome[0].why;
  const std::string remote = block_->outcome[1].why;
  if (local.empty()) return remote;
  if (remote.empty() || remote.find("gave up") != std::string::npos) return local;
  return local.find("gave up") != std::string::npos ? remote : local;
}

void Pair::end() {
  for (int& fd : orders_) close_fd(fd);
  for (pid_t& pid : pids_) end_process(pid);
  for (int& fd : replies_) close_fd(fd);
}

// Ends a process. One that was finished or has failed ends by itself.
void Pair::end_process(pid_t& pid) {
  if (pid < 0) return;
  const std::int64_t begin = now_ns();
  bool asked = false;
  for (;;) {
    if (waitpid(pid, nullptr, WNOHANG) == pid) break;
    const std::int64_t ms = (now_ns() - begin) / 1'000'000;
    if (ms > kPoliteMs && !asked) {
      kill(pid, SIGTERM);
      asked = true;
    }
    if (ms > 2 * kPoliteMs) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
      break;
    }
    sleep_ms(2);
  }
  pid = -1;
}

}  // namespace shmemx::bench
