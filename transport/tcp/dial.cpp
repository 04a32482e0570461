#include "transport/tcp/dial.hpp"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/clock.hpp"
#include "transport/common/descriptors.hpp"
#include "transport/tcp/socket.hpp"

namespace shmemx::tcp {

using transport::is_limit_near;
using transport::is_one_of_the_last;
using transport::kFewestConnections;
using transport::lacks_descriptors;
using transport::raise_limit;

namespace {

constexpr std::uint64_t kPatience = 250 * kMillisecond;  // at most, before the next address is tried, too
constexpr std::uint64_t kPatienceOfResumed = 80 * kMillisecond;
constexpr std::uint64_t kFirstPause = 50 * kMillisecond;  // after all have failed; doubles each round
constexpr std::uint64_t kLongestPause = 1000 * kMillisecond;
constexpr unsigned kRounds = 5;
constexpr unsigned kRoundsInCrowd = 8;                   // four seconds
constexpr std::uint64_t kSilence = 1000 * kMillisecond;  // of an attempt to follow a broken connection
constexpr std::uint64_t kLongGap =
    500 * kMillisecond;  // between two steps: replies may have arrived unread, so the deadline moves
constexpr char kClosed[] = "whoever answers there has closed the connection";

}  // namespace

Dial::Dial(int pe, Share& share)
    : pe_(pe), share_(&share), deadline_(now_ns() + share.setup->silence_ms * kMillisecond) {}

void Dial::set_candidates(const EndpointAddress& endpoint, std::vector<Candidate> candidates) {
  port_ = endpoint.port;
  attempts_.resize(candidates.size());
  // All addresses are tried in the first half of the time, however many they are.
  rounds_.set_patience(std::min(kPatience, share_->setup->timeout_ms * kMillisecond / (2 * candidates.size() + 1)));
  for (std::size_t i = 0; i < candidates.size(); ++i) attempts_[i].candidate = std::move(candidates[i]);
}

void Dial::add_candidates(std::vector<Candidate> candidates) {
  for (Candidate& one : candidates) {
    const auto is_it = [&one](const Attempt& known) {
      return known.candidate.interface_index == one.interface_index &&
             known.candidate.address.same_host_as(one.address);
    };
    if (std::none_of(attempts_.begin(), attempts_.end(), is_it)) attempts_.emplace_back().candidate = std::move(one);
  }
}

Dial::State Dial::step(std::uint64_t now) noexcept {
  if (looked_ != 0 && now - looked_ > kLongGap) {
    deadline_ += now - looked_;
    resumed_.deadline += now - looked_;
  }
  looked_ = now;
  is_starved_ = false;
  for (Attempt& attempt : attempts_) {
    if (attempt.stage == Stage::connecting) greet(attempt);
    if (attempt.stage == Stage::greeting) read_challenge(attempt);
    if (connected_.fd.valid()) return State::up;
  }
  if (resumed_.connections != 0) give_up_silent(now);
  start_due(now);
  if (is_overdue(now)) {
    for (Attempt& attempt : attempts_) {
      if (attempt.fd.valid()) fail(attempt, ETIMEDOUT, nullptr);
    }
    return State::failed;
  }
  if (is_hopeless()) return State::failed;
  if (any_open() || rounds_.next() < attempts_.size()) return State::trying;
  return next_round(now) ? State::trying : State::failed;
}

// All attempts have failed. Returns false if there is no other round.
bool Dial::next_round(std::uint64_t now) noexcept {
  if (attempts_.empty()) return false;
  const unsigned round = rounds_.round() + 1;
  const bool may_give_up = resumed_.connections == 0 || (resumed_.has_ended && !resumed_.has_other);
  const bool answers = any_was_cut_off() || was_refused();
  if (may_give_up && answers && round >= (any_was_cut_off() ? kRoundsInCrowd : kRounds)) return false;
  const std::uint64_t longest = resumed_.connections == 0 ? kLongestPause : kPatience;
  rounds_.begin(now + std::min(kFirstPause << std::min(round, kRounds), longest));
  return true;
}

void Dial::resume(const Resumed& resumed) {
  constexpr std::uint64_t kNever = ~std::uint64_t{0} / 2;
  resumed_ = resumed;
  if (resumed_.has_other) resumed_.deadline = deadline_ = kNever;
  rounds_.limit_patience(kPatienceOfResumed);
}

// A path may come back at any time, so nothing waits for the kernel to try again after one, three, seven seconds.
void Dial::give_up_silent(std::uint64_t now) noexcept {
  for (Attempt& attempt : attempts_) {
    const std::uint64_t limit =
        attempt.stage == Stage::connecting ? kSilence : share_->setup->silence_ms * kMillisecond;
    if (attempt.fd.valid() && now - attempt.since > limit) fail(attempt, ETIMEDOUT, nullptr);
  }
}

// A machine that replies has time until the deadline of the constructor, since its PE may be busy.
bool Dial::is_overdue(std::uint64_t now) const noexcept {
  const bool replies =
      std::any_of(attempts_.begin(), attempts_.end(), [](const Attempt& one) { return one.stage == Stage::greeting; });
  return now > (resumed_.connections == 0 || replies ? deadline_ : std::min(deadline_, resumed_.deadline));
}

// Returns whether the socket of an attempt leads the way that the former connection took.
bool Dial::is_on_path(const Attempt& attempt) const {
  const Path& path = resumed_.path;
  Address near;
  if (!attempt.candidate.address.same_host_as(path.far) || !near_end_of(attempt.fd.get(), near)) return false;
  return near.same_host_as(path.near) ||
         (!path.interface.empty() && share_->own.interface_with(near) == path.interface);
}

// Returns whether it is the machine of the PE that answers an attempt, as far as can be known.
bool Dial::counts(const Attempt& attempt) const noexcept {
  return resumed_.connections == 0 ? !attempt.candidate.is_own : attempt.is_proven;
}

bool Dial::was_refused() const noexcept {
  return std::any_of(attempts_.begin(), attempts_.end(),
                     [this](const Attempt& one) { return counts(one) && one.error == ECONNREFUSED; });
}

// Returns whether the other PE has ended: nobody listens any more where it was; or this is the end of the job.
bool Dial::is_hopeless() const noexcept {
  if (resumed_.connections == 0) return false;
  if (resumed_.is_closing && (was_refused() || any_was_cut_off())) return true;
  return resumed_.has_ended && !resumed_.has_other && was_refused();
}

void Dial::start_due(std::uint64_t now) noexcept {
  if (!any_open()) rounds_.hurry();
  while (rounds_.next() < attempts_.size() && rounds_.is_due(now)) {
    Attempt& attempt = attempts_[rounds_.next()];
    attempt.since = now;
    is_starved_ = !start(attempt);
    if (is_starved_) return;
    rounds_.note_start(now, attempt.fd.valid());
  }
}

bool Dial::any_open() const noexcept {
  return std::any_of(attempts_.begin(), attempts_.end(), [](const Attempt& one) { return one.fd.valid(); });
}

// Returns true if a peer has closed an attempt: many unauthenticated connections may have displaced it.
bool Dial::any_was_cut_off() const noexcept {
  return std::any_of(attempts_.begin(), attempts_.end(), [this](const Attempt& one) {
    return counts(one) && (one.note == kClosed || one.error == ECONNRESET);
  });
}

// Near the limit of descriptors there is one attempt at a time: the others are for accepting connections, or PEs that
// connect to each other would wait for each other.
bool Dial::may_take(int fd) const noexcept {
  if (!is_limit_near(fd)) return true;
  return share_->attempts == 0 && (share_->connections < kFewestConnections || !is_one_of_the_last(fd));
}

bool Dial::open(Attempt& attempt) noexcept {
  attempt.note = nullptr;
  attempt.got = 0;
  attempt.fd = open_socket(attempt.candidate.address.is_v6);
  if (!attempt.fd.valid() && errno == EMFILE && raise_limit())
    attempt.fd = open_socket(attempt.candidate.address.is_v6);
  attempt.error = attempt.fd.valid() ? 0 : errno;
  if (attempt.fd.valid() && !may_take(attempt.fd.get())) {
    attempt.fd.reset();
    attempt.error = EMFILE;
  }
  if (attempt.fd.valid()) ++share_->attempts;
  return attempt.fd.valid();
}

// Returns false if there is no descriptor for it.
bool Dial::start(Attempt& attempt) noexcept {
  if (!open(attempt)) {
    fail(attempt, attempt.error, nullptr);
    return !lacks_descriptors(attempt.error);
  }
  sockaddr_storage address;
  const socklen_t bytes = to_sockaddr(attempt.candidate, port_, address);
  const bool is_begun =
      ::connect(attempt.fd.get(), reinterpret_cast<const sockaddr*>(&address), bytes) == 0 || errno == EINPROGRESS;
  const int error = errno;
  attempt.is_proven = is_on_path(attempt);
  if (!is_begun) {
    fail(attempt, error, nullptr);
    return true;
  }
  attempt.stage = Stage::connecting;
  if (!watch(share_->epoll, attempt.fd.get(), EPOLLOUT, event_tag(EventKind::dial, pe_))) fail(attempt, errno, nullptr);
  return true;
}

// Sends the hello as soon as the connection is established.
void Dial::greet(Attempt& attempt) noexcept {
  const Hello hello = make_hello(*share_->setup, pe_, resumed_.connections);
  const ssize_t sent = ::send(attempt.fd.get(), &hello, sizeof hello, MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (sent != static_cast<ssize_t>(sizeof hello)) return fail(attempt, sent < 0 ? errno : EIO, nullptr);
  attempt.hello = hello;
  attempt.stage = Stage::greeting;
  rewatch(share_->epoll, attempt.fd.get(), EPOLLIN, event_tag(EventKind::dial, pe_));
}

void Dial::read_challenge(Attempt& attempt) noexcept {
  const ssize_t got = ::recv(attempt.fd.get(), attempt.input + attempt.got, sizeof(Challenge) - attempt.got, 0);
  if (got < 0) {
    if (errno != EAGAIN && errno != EINTR) fail(attempt, errno, nullptr);
    return;
  }
  if (got == 0) return fail(attempt, 0, kClosed);
  attempt.got += static_cast<std::size_t>(got);
  if (attempt.got < sizeof(Challenge)) return;
  Challenge challenge;
  memcpy(&challenge, attempt.input, sizeof challenge);
  if (!is_genuine(*share_->setup, attempt.hello, challenge)) return fail(attempt, 0, "somebody else answers there");
  const Response response = make_response(*share_->setup, attempt.hello, challenge);
  if (::send(attempt.fd.get(), &response, sizeof response, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof response)) {
    return fail(attempt, errno, nullptr);
  }
  connected_ = {std::move(attempt.fd), number_of(attempt.hello, challenge),
                keys_of(*share_->setup, attempt.hello, challenge, true)};
  --share_->attempts;
}

Dial::~Dial() {
  for (Attempt& attempt : attempts_) {
    if (attempt.fd.valid()) --share_->attempts;
    close_watched(share_->epoll, attempt.fd);
  }
  close_watched(share_->epoll, connected_.fd);
}

void Dial::fail(Attempt& attempt, int error, const char* note) noexcept {
  if (attempt.fd.valid()) --share_->attempts;
  close_watched(share_->epoll, attempt.fd);
  attempt.stage = Stage::failed;
  attempt.error = error;
  attempt.note = note;
}

std::string Dial::text_of(const Attempt& attempt) const {
  sockaddr_storage address;
  to_sockaddr(attempt.candidate, port_, address);
  const std::string& interface = attempt.candidate.interface;
  std::string what = "not tried";
  if (attempt.note != nullptr) what = attempt.note;
  if (attempt.error != 0) what = error_text(attempt.error) + " (errno " + std::to_string(attempt.error) + ")";
  return (interface.empty() ? "by routing" : interface) + " -> " + endpoint_text(address) + ": " + what;
}

std::string Dial::table() const {
  std::string out;
  for (const Attempt& attempt : attempts_) out += "\n  " + text_of(attempt);
  return out;
}

std::string Dial::paths() const {
  std::string out;
  for (const Attempt& attempt : attempts_) out += (out.empty() ? "" : ", ") + text_of(attempt);
  return out;
}

}  // namespace shmemx::tcp
