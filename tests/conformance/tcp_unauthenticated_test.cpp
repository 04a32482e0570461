// Connections to the port from processes that are not PEs of the job.
#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <boost/test/results_collector.hpp>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <deque>
#include <functional>
#include <span>

#include "../unit/support/child.hpp"
#include "base/clock.hpp"
#include "base/unique_fd.hpp"
#include "endpoints.hpp"
#include "transport/common/handshake.hpp"
#include "transport/tcp/acceptor.hpp"
#include "transport/tcp/address.hpp"
#include "transport/tcp/frame.hpp"
#include "transport/tcp/tcp_transport.hpp"

BOOST_AUTO_TEST_SUITE(tcp_unauthenticated)

using namespace transport_test;
using shmemx::UniqueFd;

namespace {

UniqueFd connect_to(const std::string& packed_address) {
  shmemx::tcp::EndpointAddress endpoint;
  BOOST_REQUIRE(shmemx::tcp::unpack_address(bytes_of(packed_address), endpoint));
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(endpoint.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  BOOST_REQUIRE_EQUAL(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

void say(const UniqueFd& fd, const void* data, std::size_t bytes) {
  ::send(fd.get(), data, bytes, MSG_NOSIGNAL);  // may fail: the PE need not read it
}

// Returns the number of bytes that the other side has sent, 0 if it has closed the connection, -1 if nothing arrived
// yet.
ssize_t answer(const UniqueFd& fd) {
  char buffer[256];
  const ssize_t got = ::recv(fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  return got < 0 && errno != EAGAIN ? 0 : got;
}

bool is_closed(Endpoints& job, const UniqueFd& fd) {
  ssize_t got = -1;
  const bool ended = job.poll_until([&] { return (got = answer(fd)) >= 0; });
  return ended && got == 0;
}

void check_undisturbed(Endpoints& job) {
  static std::uint8_t handler = 0;
  const std::size_t before = job.sink(1).messages.size();
  BOOST_REQUIRE(job.send({.header = pattern(4, 0), .payload = pattern(100, 1), .handler = ++handler}));
  BOOST_REQUIRE(job.poll_until([&] { return job.sink(1).messages.size() == before + 1; }));
  BOOST_CHECK_EQUAL(job.sink(1).messages.back().fixed.handler, handler);
  for (int pe = 0; pe < job.size(); ++pe) BOOST_CHECK(job.sink(pe).losses.empty());
}

Setup job_setup(int me, std::uint64_t secret) { return {.me = me, .n_pes = 3, .secret = {secret, ~secret}}; }

// Somebody who has overheard a hello of `from` to `to`, and repeats it several times a second.
class Replayer {
 public:
  Replayer(Endpoints& job, int from, int to)
      : job_(&job), to_(to), hello_(shmemx::transport::make_hello(job_setup(from, 0x1234), to, 9)) {}
  void act() {
    if (shmemx::now_ns() < next_ns_) return;
    next_ns_ = shmemx::now_ns() + kPauseNs;
    if (open_.size() == kMostOpen) open_.pop_front();
    open_.push_back(connect_to(job_->book().addresses[static_cast<std::size_t>(to_)]));
    say(open_.back(), &hello_, sizeof hello_);
  }

 private:
  static constexpr std::uint64_t kPauseNs = 100'000'000;
  static constexpr std::size_t kMostOpen = 12;
  Endpoints* job_;
  int to_;
  shmemx::transport::Hello hello_;
  std::deque<UniqueFd> open_;
  std::uint64_t next_ns_ = 0;
};

// Polls until `done` returns true, for a few seconds, while they repeat hellos.
bool poll_beside(Endpoints& job, std::span<Replayer> replayers, const std::function<bool()>& done) {
  constexpr std::uint64_t kLongestNs = 8'000'000'000;
  const std::uint64_t end = shmemx::now_ns() + kLongestNs;
  while (!done() && shmemx::now_ns() < end) {
    for (Replayer& one : replayers) one.act();
    job.poll_all();
  }
  return done();
}

}  // namespace

BOOST_AUTO_TEST_CASE(random_bytes_end_the_connection_without_a_reply) {
  Endpoints job("tcp");
  const auto random = pattern(1000, 9);
  for (int i = 0; i < 5; ++i) {
    const UniqueFd fd = connect_to(job.book().addresses[1]);
    say(fd, random.data(), random.size());
    BOOST_CHECK(is_closed(job, fd));
  }
  check_undisturbed(job);
}

BOOST_AUTO_TEST_CASE(a_hello_with_a_wrong_secret_ends_the_connection_without_a_reply) {
  Endpoints job("tcp");
  const auto hello = shmemx::transport::make_hello(job_setup(0, 0x999), 1, 0);
  const UniqueFd fd = connect_to(job.book().addresses[1]);
  say(fd, &hello, sizeof hello);
  BOOST_CHECK(is_closed(job, fd));
  check_undisturbed(job);
}

BOOST_AUTO_TEST_CASE(a_replayed_hello_does_not_authenticate) {
  Endpoints job("tcp");
  const auto hello = shmemx::transport::make_hello(job_setup(2, 0x1234), 1, 0);  // in the name of PE 2
  const UniqueFd fd = connect_to(job.book().addresses[1]);
  say(fd, &hello, sizeof hello);
  ssize_t got = -1;
  BOOST_REQUIRE(job.poll_until([&] { return (got = answer(fd)) >= 0; }));
  BOOST_CHECK_EQUAL(got, static_cast<ssize_t>(sizeof(shmemx::transport::Challenge)));
  const auto random = pattern(1000, 9);
  say(fd, random.data(), random.size());
  BOOST_CHECK(is_closed(job, fd));
  BOOST_CHECK(job.sink(1).messages.empty());
  // The real PE 2 can connect nevertheless.
  BOOST_REQUIRE(job.send({.from = 2, .to = 1, .header = pattern(4, 0)}));
  BOOST_REQUIRE(job.poll_until([&] { return !job.sink(1).messages.empty(); }));
}

BOOST_AUTO_TEST_CASE(replayed_hellos_are_limited_in_number) {
  Endpoints job("tcp");
  const auto hello = shmemx::transport::make_hello(job_setup(2, 0x1234), 1, 0);
  std::vector<UniqueFd> copies;
  for (std::ptrdiff_t i = 0; i <= shmemx::tcp::Acceptor::kMaxOfOnePe; ++i) {
    copies.push_back(connect_to(job.book().addresses[1]));
    say(copies.back(), &hello, sizeof hello);
    BOOST_REQUIRE(job.poll_until([&] { return answer(copies.back()) > 0; }));
  }
  BOOST_CHECK(is_closed(job, copies.front()));
  BOOST_CHECK_EQUAL(answer(copies[1]), -1);
  check_undisturbed(job);
}

// Neither the first connection of two PEs nor the next one after a reset waits for the one that repeats hellos.
BOOST_AUTO_TEST_CASE(replayed_hellos_do_not_keep_pes_from_connecting) {
  for (const int from : {1, 2}) {
    const int to = 3 - from;
    Endpoints job("tcp");
    Replayer replayers[2] = {{job, 1, 2}, {job, 2, 1}};
    for (int i = 0; i < 500; ++i) {
      for (Replayer& one : replayers) one.act();
      job.poll_all();
    }
    BOOST_REQUIRE(job.send({.from = from, .to = to, .header = pattern(4, 0)}));
    BOOST_CHECK(poll_beside(job, replayers, [&] { return job.sink(to).messages.size() == 1; }));
    const std::uint64_t later = shmemx::now_ns() + 2'000'000'000;  // when repeated hellos have become old
    BOOST_CHECK(poll_beside(job, replayers, [later] { return shmemx::now_ns() > later; }));
    BOOST_REQUIRE(static_cast<shmemx::tcp::TcpTransport&>(job[from]).parts().resume.reset(to));
    BOOST_REQUIRE(job.send({.from = from, .to = to, .header = pattern(4, 1)}));
    BOOST_CHECK(poll_beside(job, replayers, [&] { return job.sink(to).messages.size() == 2; }));
    for (int pe = 0; pe < job.size(); ++pe) BOOST_CHECK(job.sink(pe).losses.empty());
  }
}

BOOST_AUTO_TEST_CASE(slow_connections_are_limited_and_delay_no_pe) {
  Endpoints job("tcp");
  const auto hello = shmemx::transport::make_hello(job_setup(0, 0x999), 1, 0);
  std::vector<UniqueFd> slow;
  for (std::size_t i = 0; i < 2 * shmemx::tcp::Acceptor::kMaxUnauthenticated; ++i) {
    slow.push_back(connect_to(job.book().addresses[1]));
    say(slow.back(), &hello, 1);
    job.poll_all();
  }
  // The oldest connections were dropped for the later ones.
  BOOST_CHECK(is_closed(job, slow.front()));
  BOOST_CHECK_EQUAL(answer(slow.back()), -1);
  check_undisturbed(job);
  // A hello that takes too long ends the connection.
  BOOST_CHECK(is_closed(job, slow.back()));
  check_undisturbed(job);
}

BOOST_AUTO_TEST_CASE(ten_thousand_connections_delay_no_pe) {
  Endpoints job("tcp");
  const auto random = pattern(48, 9);
  std::vector<UniqueFd> open(300);
  for (std::size_t i = 0; i < 10'000; ++i) {
    UniqueFd& fd = open[i % open.size()];
    fd = connect_to(job.book().addresses[1]);
    if (i % 3 != 0) say(fd, random.data(), i % 49);
    job.poll_all();
    if (i % 1000 == 0) check_undisturbed(job);
  }
  BOOST_REQUIRE(job.send({.from = 2, .to = 1, .header = pattern(4, 0)}));  // the first message of this pair
  BOOST_REQUIRE(job.poll_until([&] { return job.sink(1).messages.back().source == 2; }));
  check_undisturbed(job);
}

void use_all_descriptors(std::vector<UniqueFd>& used, const UniqueFd& any) {
  for (int fd = 0; (fd = ::dup(any.get())) >= 0;) used.emplace_back(fd);
}

// In a child, since a hard limit cannot be raised again. Returns the number of failed checks.
int connections_without_descriptors() {
  Endpoints job("tcp");
  const UniqueFd waiting = connect_to(job.book().addresses[1]);
  const auto random = pattern(48, 9);
  say(waiting, random.data(), random.size());
  const auto bound = static_cast<rlim_t>(::dup(waiting.get())) + 8;
  const rlimit few{bound, bound};
  BOOST_REQUIRE_EQUAL(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<UniqueFd> used;
  use_all_descriptors(used, waiting);
  for (int i = 0; i < 1000; ++i) job.poll_all();
  BOOST_CHECK_EQUAL(answer(waiting), -1);
  used.clear();
  BOOST_CHECK(is_closed(job, waiting));
  check_undisturbed(job);
  const UniqueFd next = connect_to(job.book().addresses[1]);
  say(next, random.data(), random.size());
  use_all_descriptors(used, next);
  BOOST_CHECK(is_closed(job, next));  // an idle connection has made room
  check_undisturbed(job);
  using namespace boost::unit_test;
  return static_cast<int>(results_collector.results(framework::current_test_case().p_id).p_assertions_failed.get());
}

BOOST_AUTO_TEST_CASE(connections_wait_while_there_are_no_descriptors) {
  const auto end = shmemx::unit::in_child(connections_without_descriptors);
  BOOST_CHECK_MESSAGE(end.status == 0, "status " << end.status << ": " << end.text);
}

// A PE of the job that sends a broken stream is lost, and nothing else happens.
BOOST_AUTO_TEST_CASE(a_broken_frame_of_a_pe_ends_its_connection) {
  Endpoints job("tcp");
  const Setup setup = job_setup(2, 0x1234);
  const auto hello = shmemx::transport::make_hello(setup, 1, 0);
  const UniqueFd fd = connect_to(job.book().addresses[1]);
  say(fd, &hello, sizeof hello);
  shmemx::transport::Challenge challenge{};
  BOOST_REQUIRE(job.poll_until([&] {
    return ::recv(fd.get(), &challenge, sizeof challenge, MSG_DONTWAIT) == static_cast<ssize_t>(sizeof challenge);
  }));
  BOOST_REQUIRE(shmemx::transport::is_genuine(setup, hello, challenge));
  const auto proof = shmemx::transport::make_response(setup, hello, challenge);
  say(fd, &proof, sizeof proof);
  const auto random = pattern(64, 3);
  say(fd, random.data(), random.size());
  BOOST_REQUIRE(job.poll_until([&] { return !job.sink(1).losses.empty(); }));
  BOOST_CHECK_EQUAL(job.sink(1).losses.front().pe, 2);
  BOOST_CHECK(job.sink(1).losses.front().cause.find("it sent a frame") != std::string::npos);
  BOOST_CHECK(job.sink(1).messages.empty());
  shmemx::tcp::FrameHeader frame{};
  BOOST_CHECK_EQUAL(::recv(fd.get(), &frame, sizeof frame, MSG_DONTWAIT), static_cast<ssize_t>(sizeof frame));
  BOOST_CHECK(frame.kind == shmemx::tcp::FrameKind::resume);
  BOOST_CHECK(is_closed(job, fd));
}

BOOST_AUTO_TEST_SUITE_END()
