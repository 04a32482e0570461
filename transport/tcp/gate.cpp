#include "transport/tcp/gate.hpp"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/clock.hpp"
#include "transport/tcp/socket.hpp"

namespace shmemx::tcp {

namespace {

constexpr int kAcceptsAtOnce = 16;
constexpr std::uint64_t kHelloNs = 5'000'000'000;  // for the first message to be complete
constexpr std::uint64_t kHeldNs = 1'000'000'000;   // while the own connection has precedence

}  // namespace

Status Gate::open(int epoll) {
  epoll_ = epoll;
  SHMEMX_TRY_ASSIGN(listener, open_listener(port_));
  listener_ = std::move(listener);
  if (!watch(epoll_, listener_.get(), EPOLLIN, event_tag(EventKind::listener, 0)))
    return system_error("watch a socket");
  return {};
}

void Gate::accept_some() noexcept {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd.valid()) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      if ((errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) && pause_listening()) return;
      continue;  // one that has gone meanwhile
    }
    if (unknown_ >= kMaxUnknown) drop_oldest_unknown();
    if (!watch(epoll_, fd.get(), EPOLLIN, event_tag(EventKind::stranger, fd.get()))) continue;
    strangers_.push_back({.fd = std::move(fd), .since = now_ns()});
    ++unknown_;
    if (!advance(strangers_.back())) drop(std::prev(strangers_.end()));
  }
}

// True when there was nobody to drop instead.
bool Gate::pause_listening() noexcept {
  if (drop_oldest_unknown()) return false;
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, listener_.get(), nullptr);
  paused_ = true;
  return true;
}

bool Gate::drop_oldest_unknown() noexcept {
  const auto oldest = std::find_if(strangers_.begin(), strangers_.end(),
                                   [](const Stranger& one) { return one.stage == Stranger::Stage::hello; });
  if (oldest == strangers_.end()) return false;
  drop(oldest);
  return true;
}

void Gate::drop(Strangers::iterator stranger) noexcept {
  const bool was_known = stranger->stage != Stranger::Stage::hello;
  const int pe = static_cast<int>(stranger->hello.from);
  if (!was_known) --unknown_;
  close_watched(epoll_, stranger->fd);
  strangers_.erase(stranger);
  if (was_known) owner_->left(pe);
}

void Gate::on_event(int fd) noexcept {
  const auto stranger =
      std::find_if(strangers_.begin(), strangers_.end(), [fd](const Stranger& one) { return one.fd.get() == fd; });
  if (stranger != strangers_.end() && !advance(*stranger)) drop(stranger);
}

// False when the stranger is to be dropped.
bool Gate::advance(Stranger& stranger) noexcept {
  if (stranger.stage == Stranger::Stage::held) {  // has nothing to say now, so this is its end
    std::byte byte;
    return ::recv(stranger.fd.get(), &byte, 1, MSG_PEEK) < 0 && (errno == EAGAIN || errno == EINTR);
  }
  const std::size_t wanted = stranger.stage == Stranger::Stage::hello ? sizeof(Hello) : sizeof(Proof);
  const ssize_t got = ::recv(stranger.fd.get(), stranger.input + stranger.got, wanted - stranger.got, 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  stranger.got += static_cast<std::size_t>(got);
  if (stranger.got < wanted) return true;
  stranger.got = 0;
  return stranger.stage == Stranger::Stage::hello ? on_hello(stranger) : on_proof(stranger);
}

bool Gate::on_hello(Stranger& stranger) noexcept {
  Hello hello;
  memcpy(&hello, stranger.input, sizeof hello);
  if (!is_genuine(*setup_, hello)) return false;
  const Answer answer = owner_->may_answer(static_cast<int>(hello.from));
  if (answer == Answer::never) return false;
  make_room_for(hello.from);
  stranger.hello = hello;
  stranger.stage = Stranger::Stage::held;
  --unknown_;
  return answer == Answer::later || send_challenge(stranger);
}

// A message that was overheard can be sent again, as often as one likes.
void Gate::make_room_for(std::uint32_t pe) noexcept {
  const auto of_pe = [pe](const Stranger& one) { return one.stage != Stranger::Stage::hello && one.hello.from == pe; };
  if (std::count_if(strangers_.begin(), strangers_.end(), of_pe) < kMaxOfOnePe) return;
  drop(std::find_if(strangers_.begin(), strangers_.end(), of_pe));
}

bool Gate::send_challenge(Stranger& stranger) noexcept {
  stranger.challenge = make_challenge(*setup_, stranger.hello);
  stranger.stage = Stranger::Stage::proof;
  return ::send(stranger.fd.get(), &stranger.challenge, sizeof stranger.challenge, MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof stranger.challenge);
}

// When the proof holds, the stranger is one no more; its place is dropped by whoever is connected now.
bool Gate::on_proof(Stranger& stranger) noexcept {
  Proof proof;
  memcpy(&proof, stranger.input, sizeof proof);
  if (!is_genuine(*setup_, stranger.hello, stranger.challenge, proof)) return false;
  owner_->arrived(static_cast<int>(stranger.hello.from), std::move(stranger.fd));
  return true;
}

bool Gate::knows(int pe) const noexcept {
  return std::any_of(strangers_.begin(), strangers_.end(), [pe](const Stranger& one) {
    return one.stage != Stranger::Stage::hello && one.hello.from == static_cast<std::uint32_t>(pe);
  });
}

void Gate::answer_held(int pe) noexcept {
  for (auto one = strangers_.begin(); one != strangers_.end();) {
    const auto stranger = one++;
    if (stranger->stage != Stranger::Stage::held || stranger->hello.from != static_cast<std::uint32_t>(pe)) continue;
    if (!send_challenge(*stranger)) drop(stranger);
  }
}

void Gate::forget(int pe) noexcept {
  strangers_.remove_if([pe, this](Stranger& one) {
    if (one.stage == Stranger::Stage::hello || one.hello.from != static_cast<std::uint32_t>(pe)) return false;
    close_watched(epoll_, one.fd);
    return true;
  });
}

void Gate::expire(std::uint64_t now) noexcept {
  if (paused_) paused_ = !watch(epoll_, listener_.get(), EPOLLIN, event_tag(EventKind::listener, 0));
  const std::uint64_t known_ns = std::uint64_t{setup_->silence_ms} * 1'000'000;
  const auto is_overdue = [now, known_ns](const Stranger& one) {
    return now - one.since > (one.stage == Stranger::Stage::hello ? kHelloNs : known_ns);
  };
  // What it has said last may be here and unread: it is looked at once more, then dropped. Either may end others too.
  for (auto one = std::find_if(strangers_.begin(), strangers_.end(), is_overdue); one != strangers_.end();
       one = std::find_if(strangers_.begin(), strangers_.end(), is_overdue)) {
    if (std::exchange(one->had_last_look, true) || !advance(*one)) drop(one);
  }
  const auto waits_long = [now](const Stranger& one) {
    return one.stage == Stranger::Stage::held && now - one.since > kHeldNs;
  };
  // Answering ends the stage, so this comes to an end.
  for (auto one = std::find_if(strangers_.begin(), strangers_.end(), waits_long); one != strangers_.end();
       one = std::find_if(strangers_.begin(), strangers_.end(), waits_long)) {
    owner_->kept_waiting(static_cast<int>(one->hello.from));
  }
}

void Gate::close() noexcept {
  for (Stranger& stranger : strangers_) close_watched(epoll_, stranger.fd);
  strangers_.clear();
  unknown_ = 0;
  listener_.reset();
  paused_ = false;
}

}  // namespace shmemx::tcp
