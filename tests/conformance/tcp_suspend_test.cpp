// Connections that close while both PEs go on, and open again with the next message.
#include <dirent.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>

#include "../unit/support/child.hpp"
#include "acted_pe.hpp"
#include "numbered_traffic.hpp"
#include "transport/common/descriptors.hpp"
#include "transport/tcp/tcp_transport.hpp"

BOOST_AUTO_TEST_SUITE(tcp_suspend)

using namespace transport_test;
using shmemx::tcp::TcpTransport;

namespace {

bool suspend(Endpoints& job, int from, int to) {
  return static_cast<TcpTransport&>(job[from]).parts().suspension.suspend(to);
}
bool is_suspended(Endpoints& job, int at, int pe) {
  return job[at].describe(pe).find("not connected until the next message") != std::string::npos;
}
bool is_connected(Endpoints& job, int at, int pe) { return job[at].describe(pe).find(" -> ") != std::string::npos; }

bool arrives(Endpoints& job, int from, int to) {
  const std::size_t before = job.sink(to).messages.size();
  return job.send({.from = from, .to = to, .header = pattern(4, 0)}) &&
         job.poll_until([&] { return job.sink(to).messages.size() == before + 1; });
}

int open_descriptors() {
  int count = 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

bool set_limit(rlim_t soft, rlim_t hard) {
  const rlimit limit{soft, hard};
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_idle_connection_closes_on_both_sides_and_opens_again) {
  Endpoints job("tcp");
  BOOST_REQUIRE(arrives(job, 0, 1));
  const int before = open_descriptors();
  for (const int from : {0, 1, 0}) {
    BOOST_REQUIRE(suspend(job, from, 1 - from));
    BOOST_CHECK(job.poll_until([&] { return is_suspended(job, 0, 1) && is_suspended(job, 1, 0); }));
    BOOST_CHECK_EQUAL(open_descriptors(), before - 2);
    BOOST_CHECK(!suspend(job, from, 1 - from));  // there is none
    BOOST_CHECK(arrives(job, 1, 0));
    BOOST_CHECK(arrives(job, 0, 1));
    BOOST_CHECK_EQUAL(open_descriptors(), before);
  }
  check_no_losses(job);
}

BOOST_AUTO_TEST_CASE(both_sides_may_suspend_it_at_once) {
  Endpoints job("tcp");
  BOOST_REQUIRE(arrives(job, 0, 1));
  for (unsigned round = 0; round < 20; ++round) {
    BOOST_REQUIRE(suspend(job, 0, 1));
    BOOST_REQUIRE(suspend(job, 1, 0));
    if (round % 2 == 0) BOOST_CHECK(job.poll_until([&] { return is_suspended(job, 0, 1) && is_suspended(job, 1, 0); }));
    BOOST_CHECK(arrives(job, static_cast<int>(round / 2 % 2), 1 - static_cast<int>(round / 2 % 2)));
  }
  check_no_losses(job);
}

// Messages of both sides are under way when one suspends the connection, and more follow before the other closes it.
BOOST_AUTO_TEST_CASE(messages_that_meet_the_suspend_frame_arrive_once_and_in_order) {
  Endpoints job("tcp");
  BOOST_REQUIRE(arrives(job, 0, 1) && arrives(job, 1, 0));
  job.sink(0).messages.clear();
  job.sink(1).messages.clear();
  unsigned next = 0;
  for (int round = 0; round < 50; ++round) {
    post(job, 0, 1, next);
    post(job, 1, 0, next, round % 5 == 0 ? kLongBytes : 0);
    suspend(job, 0, 1);
    post(job, 0, 1, next + 1, round % 3 == 0 ? kLongBytes : 0);
    post(job, 1, 0, next + 1);
    if (round % 4 == 0) suspend(job, 1, 0);
    next += 2;
    BOOST_REQUIRE(
        job.poll_until([&] { return job.sink(0).messages.size() == next && job.sink(1).messages.size() == next; }));
  }
  for (const int pe : {0, 1}) {
    for (unsigned i = 0; i < next; ++i) BOOST_REQUIRE_EQUAL(number_of(job.sink(pe).messages[i]), i);
  }
  check_no_losses(job);
}

// PE 1 has more to send than the kernel takes, so it closes the connection and makes another one.
BOOST_AUTO_TEST_CASE(a_side_with_unsent_messages_connects_again) {
  Endpoints job("tcp");
  BOOST_REQUIRE(arrives(job, 0, 1) && arrives(job, 1, 0));
  std::vector<std::byte> data(std::size_t{24} << 20);
  shmemx::transport::Outgoing outgoing;
  const Header fixed{1, 0, 4, 0};
  BOOST_REQUIRE(job[1].send(0, fixed, pattern(4, 0), data, &outgoing, Urgency::now) == Sent::later);
  BOOST_CHECK(!suspend(job, 1, 0));  // it is not idle
  BOOST_REQUIRE(suspend(job, 0, 1));
  post(job, 0, 1, 7);  // waits for the next connection
  BOOST_CHECK(job.poll_until([&] { return job.sink(1).messages.size() == 2 && job.sink(0).messages.size() == 2; }));
  BOOST_CHECK_EQUAL(number_of(job.sink(1).messages.back()), 7u);
  BOOST_CHECK(outgoing.done);
  BOOST_CHECK(is_connected(job, 0, 1) && is_connected(job, 1, 0));
  check_no_losses(job);
}

// One that was begun before its connection broke may be completed on the next one.
BOOST_AUTO_TEST_CASE(a_suspend_frame_of_a_former_connection_means_nothing) {
  using shmemx::tcp::FrameKind;
  Endpoints job("tcp", {.n = 2});
  ActedPe acted(job);
  post(job, 0, 1, 0);
  const shmemx::UniqueFd fd = acted.accept_and_begin();
  for (const std::uint64_t number : {0, 7, 2}) {
    ActedPe::send_frame(fd, {0, FrameKind::suspend, 0, std::bit_cast<Header>(number)});
    ActedPe::send_frame(fd, {0, FrameKind::message, 0, {1, 0, 4, 0}}, {number_bytes(7)});
  }
  BOOST_CHECK(job.poll_until([&] { return job.sink(0).messages.size() == 3 || !job.sink(0).losses.empty(); }, 1));
  BOOST_CHECK(is_connected(job, 0, 1));
  check_no_losses(job);
  acted.leave();
}

BOOST_AUTO_TEST_CASE(the_end_of_the_job_meets_the_suspend_frame) {
  for (const bool busy : {false, true}) {
    Endpoints job("tcp");
    BOOST_REQUIRE(arrives(job, 0, 1) && arrives(job, 1, 0));
    std::vector<std::byte> data(std::size_t{16} << 20);
    shmemx::transport::Outgoing outgoing;
    const Header fixed{1, 0, 4, 0};
    if (busy) BOOST_REQUIRE(job[1].send(0, fixed, pattern(4, 0), data, &outgoing, Urgency::now) == Sent::later);
    BOOST_REQUIRE(suspend(job, 0, 1));
    post(job, 0, 1, 7);
    job.sink(0).on_message = [](const Message&) { BOOST_ERROR("a message during close()"); };
    std::jthread other([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) job[1].poll(-1);
    });
    job[0].close(10'000);
    other.request_stop();
    other.join();
    BOOST_CHECK(job.poll_until([&] { return job.sink(1).messages.size() == 2; }, 0));
    for (int i = 0; i < 100; ++i) job[1].poll(-1);
    check_no_losses(job);
  }
}

// All pairs send messages of all kinds, while connections are suspended at random.
BOOST_AUTO_TEST_CASE(nothing_is_lost_or_doubled_at_random) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  RandomTraffic traffic(seed);
  unsigned suspended = 0;
  traffic.run([&](int from, int to) {
    if (traffic.pick(3) != 0) return false;
    suspended += suspend(traffic.job, from, to) ? 1 : 0;
    return true;
  });
  BOOST_CHECK_GT(suspended, 100u);
}

BOOST_AUTO_TEST_CASE(the_soft_limit_is_raised_before_connections_close) {
  const auto end = shmemx::unit::in_child([] {
    if (!set_limit(64, 256)) return 1;
    if (shmemx::transport::is_limit_near(40)) return 2;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur != 64) return 3;  // not before it is needed
    if (shmemx::transport::is_limit_near(57)) return 4;
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur != 256) return 5;
    if (!shmemx::transport::is_limit_near(230)) return 6;
    return 0;
  });
  BOOST_CHECK_EQUAL(end.status, 0);
}

// All endpoints are in this process. Each pair would need two descriptors.
BOOST_AUTO_TEST_CASE(all_talk_to_all_with_few_descriptors) {
  constexpr int kPes = 20;
  const auto end = shmemx::unit::in_child([] {
    Endpoints job("tcp", {.n = kPes});
    const auto limit = static_cast<rlim_t>(open_descriptors()) + 100;
    if (!set_limit(limit, limit)) return 1;
    for (int round = 0; round < 3; ++round) {
      for (int from = 0; from < kPes; ++from) {
        for (int to = 0; to < kPes; ++to) {
          const Header fixed{1, 0, 4, 0};
          if (to != from && job[from].send(to, fixed, pattern(4, 0), {}, nullptr, Urgency::now) != Sent::yes) return 2;
        }
      }
      const auto all_here = [&] {
        for (int pe = 0; pe < kPes; ++pe) {
          if (!job.sink(pe).losses.empty()) return true;
          if (job.sink(pe).messages.size() != static_cast<std::size_t>((round + 1) * (kPes - 1))) return false;
        }
        return true;
      };
      if (!job.poll_until(all_here)) return 3;
      for (int pe = 0; pe < kPes; ++pe) {
        if (job.sink(pe).losses.empty()) continue;
        std::fprintf(stderr, "PE %d has lost PE %d: %s\n", pe, job.sink(pe).losses[0].pe,
                     job.sink(pe).losses[0].cause.c_str());
        return 4;
      }
    }
    return 0;
  });
  BOOST_CHECK_MESSAGE(end.status == 0, "status " << end.status << ": " << end.text);
}

// PE numbers have 32 bits, from the handshake to the sink.
BOOST_AUTO_TEST_CASE(a_world_of_millions) {
  struct Book final : shmemx::transport::EndpointAddresses {
    Bytes address_of(int pe) const noexcept override { return bytes_of(addresses.at(pe)); }
    std::map<int, std::string> addresses;
  } book;
  const std::vector<int> pes{5, 65'536 + 5, (1 << 20) + 5};
  std::map<int, Recorder> sinks;
  std::map<int, Setup> setups;
  std::map<int, TransportPtr> jobs;
  for (const int pe : pes) {
    setups[pe] = {.me = pe, .n_pes = 1 << 21, .secret = {1, 2}, .sink = &sinks[pe]};
    auto opened = open_for_test("tcp", setups[pe]);
    BOOST_REQUIRE(opened && opened->transport);
    jobs[pe] = std::move(opened->transport);
    book.addresses[pe] = jobs[pe]->endpoint_address();
    jobs[pe]->set_addresses(book);
  }
  for (const int from : pes) {
    for (const int to : pes) {
      const Header fixed{1, 0, 4, 0};
      if (from != to) BOOST_CHECK(jobs[from]->send(to, fixed, pattern(4, 0), {}, nullptr, Urgency::now) == Sent::yes);
    }
  }
  const auto all_here = [&] {
    bool all = true;
    for (const int pe : pes) {
      jobs[pe]->poll(-1);
      all = all && sinks[pe].messages.size() == 2;
    }
    return all;
  };
  for (int i = 0; i < 1'000'000 && !all_here(); ++i) {
  }
  for (const int pe : pes) {
    BOOST_REQUIRE_EQUAL(sinks[pe].messages.size(), 2u);
    for (const Message& message : sinks[pe].messages)
      BOOST_CHECK(message.source != pe && std::find(pes.begin(), pes.end(), message.source) != pes.end());
    BOOST_CHECK_NE(sinks[pe].messages[0].source, sinks[pe].messages[1].source);
  }
  for (const int pe : pes) jobs[pe]->close(1000);
}

BOOST_AUTO_TEST_SUITE_END()
