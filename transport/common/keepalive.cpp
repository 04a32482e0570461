#include "transport/common/keepalive.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>

namespace shmemx::transport {
namespace {

constexpr std::uint64_t kShortestRoundNs = 1'000'000;
constexpr std::uint64_t kRoundsOfSilence = 8;

timespec as_timespec(std::uint64_t ns) noexcept {
  return {static_cast<time_t>(ns / 1'000'000'000U), static_cast<long>(ns % 1'000'000'000U)};
}

bool watch(int epoll, int fd) noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

Keepalive::Keepalive(std::uint32_t silence_ms, std::uint64_t now_ns) noexcept
    : round_ns_(std::max(std::uint64_t{silence_ms} * 1'000'000U / kRoundsOfSilence, kShortestRoundNs)),
      round_end_ns_(now_ns + round_ns_) {}

bool Keepalive::is_round_over(std::uint64_t now_ns) noexcept {
  if (now_ns < round_end_ns_) return false;
  round_end_ns_ = now_ns + round_ns_;
  return true;
}

Keepalive::Action Keepalive::end_round(Peer& peer) noexcept {
  ++peer.silent_rounds;
  if (peer.silent_rounds >= kRoundsUntilLost) return Action::lose;
  return peer.silent_rounds == kRoundsUntilPing ? Action::ping : Action::none;
}

Result<KeepaliveTimer> KeepaliveTimer::open(int network_fd) {
  KeepaliveTimer timer;
  timer.epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  timer.timer_ = UniqueFd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer.epoll_.valid() || !timer.timer_.valid() || !watch(timer.epoll_.get(), network_fd) ||
      !watch(timer.epoll_.get(), timer.timer_.get())) {
    return system_error("make a descriptor to sleep on");
  }
  return timer;
}

void KeepaliveTimer::set(std::uint64_t when_ns) noexcept {
  if (is_set_) return;
  const itimerspec once{{}, as_timespec(when_ns)};
  is_set_ = ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &once, nullptr) == 0;
}

void KeepaliveTimer::clear() noexcept {
  if (!is_set_) return;
  const itimerspec off{};
  ::timerfd_settime(timer_.get(), 0, &off, nullptr);
  is_set_ = false;
}

}  // namespace shmemx::transport
