#include "transport/tcp/acceptor.hpp"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/clock.hpp"
#include "transport/common/descriptors.hpp"
#include "transport/tcp/socket.hpp"

namespace shmemx::tcp {

using transport::has_descriptor;
using transport::is_limit_near;
using transport::lacks_descriptors;

namespace {

constexpr int kAcceptsAtOnce = 16;
constexpr std::uint64_t kHelloNs = 5'000'000'000;  // time for the hello to be complete
constexpr std::uint64_t kPromptNs = 500'000'000;   // the same, while there are no descriptors
constexpr std::uint64_t kHeldNs = 1'000'000'000;   // time for this PE's own connection, which has precedence
// From its hello on, the time in which a PE is believed to connect. It includes kHeldNs, and is short, since meanwhile
// this PE does not connect itself.
constexpr std::uint64_t kBelievedNs = 1'500'000'000;

}  // namespace

Status Acceptor::open(int epoll) {
  epoll_ = epoll;
  SHMEMX_TRY_ASSIGN(listener, open_listener(port_));
  listener_ = std::move(listener);
  if (!watch(epoll_, listener_.get(), EPOLLIN, event_tag(EventKind::listener, 0)))
    return system_error("watch a socket");
  return {};
}

void Acceptor::accept_some() noexcept {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    if (!may_accept() && pause_listening()) return;
    NetworkFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd.valid()) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      is_cautious_ |= lacks_descriptors(errno);
      if (lacks_descriptors(errno) && (errno != EMFILE || !has_descriptor()) && pause_listening()) return;
      continue;  // this connection has ended meanwhile
    }
    if (unauthenticated_ >= kMaxUnauthenticated) drop_oldest_unauthenticated();
    if (!watch(epoll_, fd.get(), EPOLLIN, event_tag(EventKind::connection, fd.get()))) continue;
    is_cautious_ = is_cautious_ || is_limit_near(fd.get());
    connections_.push_back({.fd = std::move(fd), .since = now_ns()});
    ++unauthenticated_;
    if (!advance(connections_.back())) drop(std::prev(connections_.end()));
  }
}

// Once the limit was near, each connection is accepted only if it leaves the program its descriptors.
bool Acceptor::may_accept() noexcept { return !is_cautious_ || has_descriptor() || !owner_->no_descriptors(); }

// Stops listening if there are no descriptors. Returns false if a connection could be dropped instead: one that has had
// time for its hello.
bool Acceptor::pause_listening() noexcept {
  const bool has_old = std::any_of(connections_.begin(), connections_.end(), [](const Connection& one) {
    return one.stage == Connection::Stage::hello && now_ns() - one.since > kPromptNs;
  });
  if (has_old && drop_oldest_unauthenticated()) return false;
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, listener_.get(), nullptr);
  paused_ = true;
  owner_->no_descriptors();
  return true;
}

bool Acceptor::drop_oldest_unauthenticated() noexcept {
  const auto oldest = std::find_if(connections_.begin(), connections_.end(),
                                   [](const Connection& one) { return one.stage == Connection::Stage::hello; });
  if (oldest == connections_.end()) return false;
  drop(oldest);
  return true;
}

void Acceptor::drop(Connections::iterator connection) noexcept {
  const bool was_known = connection->stage != Connection::Stage::hello;
  const int pe = static_cast<int>(connection->hello.from);
  if (!was_known) --unauthenticated_;
  close_watched(epoll_, connection->fd);
  connections_.erase(connection);
  if (was_known) owner_->left(pe);
}

void Acceptor::on_event(int fd) noexcept {
  const auto connection = std::find_if(connections_.begin(), connections_.end(),
                                       [fd](const Connection& one) { return one.fd.get() == fd; });
  if (connection != connections_.end() && !advance(*connection)) drop(connection);
}

// Reads the next message of the handshake. Returns false if the connection is to be dropped.
bool Acceptor::advance(Connection& connection) noexcept {
  if (connection.stage == Connection::Stage::held) {  // sends nothing at this stage, so an event is its end
    std::byte byte;
    return ::recv(connection.fd.get(), &byte, 1, MSG_PEEK) < 0 && (errno == EAGAIN || errno == EINTR);
  }
  const std::size_t wanted = connection.stage == Connection::Stage::hello ? sizeof(Hello) : sizeof(Response);
  const ssize_t got = ::recv(connection.fd.get(), connection.input + connection.got, wanted - connection.got, 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  connection.got += static_cast<std::size_t>(got);
  if (connection.got < wanted) return true;
  connection.got = 0;
  return connection.stage == Connection::Stage::hello ? on_hello(connection) : on_response(connection);
}

bool Acceptor::on_hello(Connection& connection) noexcept {
  Hello hello;
  memcpy(&hello, connection.input, sizeof hello);
  if (!is_genuine(*setup_, hello)) return false;
  const Answer answer = owner_->may_answer(static_cast<int>(hello.from), hello.connections);
  if (answer == Answer::never) return false;
  make_room_for(hello.from);
  first_hellos_.try_emplace(hello.from, now_ns());
  connection.hello = hello;
  connection.stage = Connection::Stage::held;
  --unauthenticated_;
  return answer == Answer::later || send_challenge(connection);
}

// Drops the oldest connection of `pe` if there are too many: anybody can repeat a hello that was overheard.
void Acceptor::make_room_for(std::uint32_t pe) noexcept {
  const auto of_pe = [pe](const Connection& one) {
    return one.stage != Connection::Stage::hello && one.hello.from == pe;
  };
  if (std::count_if(connections_.begin(), connections_.end(), of_pe) < kMaxOfOnePe) return;
  drop(std::find_if(connections_.begin(), connections_.end(), of_pe));
}

bool Acceptor::send_challenge(Connection& connection) noexcept {
  connection.challenge =
      make_challenge(*setup_, connection.hello, owner_->connections_with(static_cast<int>(connection.hello.from)));
  connection.stage = Connection::Stage::response;
  return ::send(connection.fd.get(), &connection.challenge, sizeof connection.challenge, MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof connection.challenge);
}

// Hands the connection to the owner if the response is genuine. The owner then calls forget(), which removes its entry.
bool Acceptor::on_response(Connection& connection) noexcept {
  Response response;
  memcpy(&response, connection.input, sizeof response);
  if (!is_genuine(*setup_, connection.hello, connection.challenge, response)) return false;
  const std::uint64_t number = number_of(connection.hello, connection.challenge);
  if (number <= owner_->connections_with(static_cast<int>(connection.hello.from))) return false;  // another came first
  const ConnectionKeys keys = keys_of(*setup_, connection.hello, connection.challenge, false);
  owner_->arrived(static_cast<int>(connection.hello.from), std::move(connection.fd), number, keys);
  return true;
}

bool Acceptor::is_believed(std::uint32_t pe, std::uint64_t now) const noexcept {
  const auto first = first_hellos_.find(pe);
  return first != first_hellos_.end() && now - first->second < kBelievedNs;
}

bool Acceptor::knows(int pe) const noexcept {
  return holds(pe) && is_believed(static_cast<std::uint32_t>(pe), now_ns());
}

bool Acceptor::holds(int pe) const noexcept {
  return std::any_of(connections_.begin(), connections_.end(), [pe](const Connection& one) {
    return one.stage != Connection::Stage::hello && one.hello.from == static_cast<std::uint32_t>(pe);
  });
}

void Acceptor::answer_held(int pe) noexcept {
  for (auto one = connections_.begin(); one != connections_.end();) {
    const auto connection = one++;
    if (connection->stage != Connection::Stage::held || connection->hello.from != static_cast<std::uint32_t>(pe))
      continue;
    if (!send_challenge(*connection)) drop(connection);
  }
}

void Acceptor::forget(int pe) noexcept {
  first_hellos_.erase(static_cast<std::uint32_t>(pe));
  connections_.remove_if([pe, this](Connection& one) {
    if (one.stage == Connection::Stage::hello || one.hello.from != static_cast<std::uint32_t>(pe)) return false;
    close_watched(epoll_, one.fd);
    return true;
  });
}

void Acceptor::resume() noexcept {
  if (!paused_ || !may_accept()) return;
  paused_ = !watch(epoll_, listener_.get(), EPOLLIN, event_tag(EventKind::listener, 0));
}

void Acceptor::expire(std::uint64_t now) noexcept {
  resume();
  drop_overdue(now);
  answer_overdue(now);
  doubt(now);
}

// Its last message may have arrived unread, so reads once more before dropping a connection. Both may remove other
// entries, too.
void Acceptor::drop_overdue(std::uint64_t now) noexcept {
  const std::uint64_t known_ns = std::uint64_t{setup_->silence_ms} * 1'000'000;
  const auto is_overdue = [now, known_ns](const Connection& one) {
    return now - one.since > (one.stage == Connection::Stage::hello ? kHelloNs : known_ns);
  };
  for (auto one = std::find_if(connections_.begin(), connections_.end(), is_overdue); one != connections_.end();
       one = std::find_if(connections_.begin(), connections_.end(), is_overdue)) {
    if (std::exchange(one->had_last_look, true) || !advance(*one)) drop(one);
  }
}

void Acceptor::answer_overdue(std::uint64_t now) noexcept {
  const auto waits_long = [now](const Connection& one) {
    return one.stage == Connection::Stage::held && now - one.since > kHeldNs;
  };
  // kept_waiting() ends the stage, or the time begins again, so the loop ends.
  for (auto one = std::find_if(connections_.begin(), connections_.end(), waits_long); one != connections_.end();
       one = std::find_if(connections_.begin(), connections_.end(), waits_long)) {
    const std::uint32_t pe = one->hello.from;
    if (owner_->kept_waiting(static_cast<int>(pe))) continue;
    for (Connection& held : connections_) {
      if (held.stage == Connection::Stage::held && held.hello.from == pe) held.since = now;
    }
  }
}

// The owner may have left it to these PEs to connect, and does so itself now.
void Acceptor::doubt(std::uint64_t now) noexcept {
  const auto has_become_old = [this, now](const Connection& one) {
    return one.stage != Connection::Stage::hello && !one.is_old && !is_believed(one.hello.from, now);
  };
  for (auto one = std::find_if(connections_.begin(), connections_.end(), has_become_old); one != connections_.end();
       one = std::find_if(connections_.begin(), connections_.end(), has_become_old)) {
    one->is_old = true;
    owner_->left(static_cast<int>(one->hello.from));
  }
}

void Acceptor::close() noexcept {
  for (Connection& connection : connections_) close_watched(epoll_, connection.fd);
  connections_.clear();
  first_hellos_.clear();
  unauthenticated_ = 0;
  listener_.reset();
  paused_ = false;
}

}  // namespace shmemx::tcp
