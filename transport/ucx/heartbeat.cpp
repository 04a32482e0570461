#include "transport/ucx/heartbeat.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>

#include "base/clock.hpp"

namespace shmemx::ucx {
namespace {

constexpr std::uint64_t kShortestRoundNs = 1'000'000;

timespec as_timespec(std::uint64_t ns) noexcept {
  return {static_cast<time_t>(ns / 1'000'000'000U), static_cast<long>(ns % 1'000'000'000U)};
}

bool watch(int epoll, int fd) noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

Result<Heartbeat> Heartbeat::open(int watched, std::uint32_t silence_ms) {
  Heartbeat heartbeat;
  heartbeat.epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  heartbeat.timer_ = UniqueFd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!heartbeat.epoll_.valid() || !heartbeat.timer_.valid() || !watch(heartbeat.epoll_.get(), watched) ||
      !watch(heartbeat.epoll_.get(), heartbeat.timer_.get())) {
    return system_error("make a descriptor to sleep on");
  }
  heartbeat.round_ns_ = std::max(std::uint64_t{silence_ms} * 1'000'000U / 8, kShortestRoundNs);
  heartbeat.next_ns_ = now_ns() + heartbeat.round_ns_;
  return heartbeat;
}

bool Heartbeat::is_over() noexcept {
  const std::uint64_t now = now_ns();
  if (now < next_ns_) return false;
  next_ns_ = now + round_ns_;
  if (is_set_) {
    const itimerspec off{};
    ::timerfd_settime(timer_.get(), 0, &off, nullptr);  // no longer readable
    is_set_ = false;
  }
  return true;
}

void Heartbeat::wake_me() noexcept {
  if (is_set_) return;
  const itimerspec once{{}, as_timespec(next_ns_)};
  is_set_ = ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &once, nullptr) == 0;
}

}  // namespace shmemx::ucx
