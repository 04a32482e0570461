#include "transport/tcp/poller.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>

#include "transport/tcp/connector.hpp"
#include "transport/tcp/resume.hpp"
#include "transport/tcp/sender.hpp"

namespace shmemx::tcp {

namespace {

// Intervals of the timer: for overdue connections; for payloads in use while all threads sleep.
constexpr long kTimerNs = 25'000'000;
constexpr long kLendingNs = 1'000'000;
constexpr std::uint32_t kIdleLooks = 8;  // in the time-out

}  // namespace

Status Poller::open() {
  epoll_ = NetworkFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.valid()) return system_error("create an epoll descriptor");
  timer_ = NetworkFd(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!timer_.valid()) return system_error("create a timer");
  if (!watch(epoll_.get(), timer_.get(), EPOLLIN, event_tag(EventKind::timer, 0))) return system_error("watch a timer");
  wake_fd_ = NetworkFd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake_fd_.valid()) return system_error("create an event descriptor");
  if (!watch(epoll_.get(), wake_fd_.get(), EPOLLIN, event_tag(EventKind::wake, 0)))
    return system_error("watch an event");
  return {};
}

void Poller::expect_input(const Connection& peer) noexcept {
  rewatch(epoll_.get(), peer.fd(), EPOLLIN, event_tag(EventKind::peer, peer.pe));
}

void Poller::add(const Connection& peer) noexcept {
  watch_all();
  expect_input(peer);
}

void Poller::watch_all() noexcept {
  reads_ = 0;
  if (is_watching_) return;
  is_watching_ = true;
  std::uint64_t times = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_fd_.get(), &times, sizeof times);
  for (const Peer* const peer : parts_.peers.up()) {
    if (peer->is_open()) watch(epoll_.get(), peer->fd(), EPOLLIN, event_tag(EventKind::peer, peer->pe));
  }
}

void Poller::unwatch_all() noexcept {
  reads_ = 0;
  if (any_blocked() || !has_few()) return;
  is_watching_ = false;
  for (const Peer* const peer : parts_.peers.up()) unwatch(epoll_.get(), peer->fd());
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_fd_.get(), &one, sizeof one);
}

void Poller::block(Connection& peer) noexcept {
  peer.set_blocked(true);
  ++blocked_;
  watch_all();
  rewatch(epoll_.get(), peer.fd(), EPOLLIN | EPOLLOUT, event_tag(EventKind::peer, peer.pe));
}

void Poller::unblock(Connection& peer) noexcept {
  if (!peer.is_blocked()) return;
  peer.set_blocked(false);
  --blocked_;
}

bool Poller::take_timer() noexcept {
  std::uint64_t times = 0;
  return ::read(timer_.get(), &times, sizeof times) >= 0;
}

long Poller::wanted_interval(bool is_sleeping) const noexcept {
  if (is_sleeping && parts_.sender.is_lending()) return kLendingNs;
  if (parts_.connector.needs_timer()) return kTimerNs;
  if (parts_.sender.has_unacknowledged()) return Resume::kLinksNs;
  if (parts_.peers.up().empty() || parts_.peers.is_closing()) return 0;
  return std::max(long{parts_.setup.timeout_ms} * 1'000'000 / kIdleLooks, Resume::kLinksNs);
}

void Poller::update_timer(bool is_sleeping) noexcept {
  const long interval_ns = wanted_interval(is_sleeping);
  if (interval_ns == timer_ns_) return;
  itimerspec time{};
  constexpr long kNsPerS = 1'000'000'000;
  time.it_interval = {interval_ns / kNsPerS, interval_ns % kNsPerS};
  time.it_value = time.it_interval;
  ::timerfd_settime(timer_.get(), 0, &time, nullptr);
  timer_ns_ = interval_ns;
}

}  // namespace shmemx::tcp
