// The transport ethernet over several simulated networks, whose links are cut and joined.
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>

#include "ethernet_link.hpp"

BOOST_AUTO_TEST_SUITE(ethernet_paths)

using namespace ethernet_test;
using shmemx::ethernet::Path;
using shmemx::ethernet::Paths;
using shmemx::transport::Outgoing;
using shmemx::transport::Sent;
using shmemx::transport::Urgency;
using transport_test::pattern;

namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::size_t kSizes[] = {8, 300, 5000, 40'000, 200'000, 1, 17'000};
std::size_t size_of(unsigned i) { return kSizes[i % std::size(kSizes)]; }

Segment::Options two_networks(double loss = 0, unsigned seed = 1) {
  return {.networks = 2, .faults = {.loss = loss}, .silence_ms = 5000, .seed = seed};
}

// Streams in both directions, of messages that differ. They leave time between two messages: what the tests find does
// not depend on the load, but how long they take does.
struct Streams {
  static constexpr unsigned kSteps = 4;  // from one message to the next
  Segment& segment;
  unsigned sent[2] = {};
  unsigned checked[2] = {};
  unsigned steps = 0;

  void push() {
    check_arrived();
    if (steps++ % kSteps != 0) return;
    for (const int from : {0, 1}) {
      const unsigned i = sent[from];
      if (i - arrived(1 - from) > 20) continue;
      if (segment[from].send(1 - from, {7, 0, 0, 0}, {}, pattern(size_of(i), i), nullptr, Urgency::now) != Sent::no)
        ++sent[from];
    }
  }
  unsigned arrived(int pe) const { return static_cast<unsigned>(segment.sink(pe).messages.size()); }
  void run_for(std::uint64_t ns) {
    for (const std::uint64_t end = Segment::now() + ns; Segment::now() < end;) {
      push();
      segment.step();
    }
  }
  // Runs until both PEs have received something new. Returns how long it took.
  std::uint64_t time_to_progress() {
    const std::uint64_t begin = Segment::now();
    const unsigned before[] = {arrived(0), arrived(1)};
    BOOST_REQUIRE(segment.run_until([&] {
      push();
      return arrived(0) > before[0] + 21 && arrived(1) > before[1] + 21;
    }));
    return Segment::now() - begin;
  }
  // The next messages have arrived, in order and unchanged. Their payloads are freed: those of a long stream are GBs.
  void check_arrived() {
    for (const int pe : {0, 1}) {
      for (; checked[pe] < arrived(pe); ++checked[pe]) {
        std::vector<std::byte>& payload = segment.sink(pe).messages[checked[pe]].payload;
        BOOST_REQUIRE_EQUAL(payload.size(), size_of(checked[pe]));
        BOOST_REQUIRE(test_support::has_pattern(payload.data(), payload.size(), checked[pe]));
        payload = {};
      }
    }
  }
  // Each message has arrived once, in order and unchanged.
  void check() {
    BOOST_REQUIRE(segment.run_until([&] { return arrived(0) == sent[1] && arrived(1) == sent[0]; }));
    check_arrived();
    for (const int pe : {0, 1}) {
      BOOST_CHECK(segment.sink(pe).in_order);
      BOOST_CHECK(segment.sink(pe).losses.empty());
    }
  }
};

Path path_of(Segment& segment, int from, int to) { return segment[from].find(to)->paths.current(); }
bool is_path(Path path, int own, int peers) { return path.own == own && path.peers == peers; }

}  // namespace

BOOST_AUTO_TEST_CASE(paths_are_tried_in_turn) {
  Paths paths(2, 2, 1000);
  BOOST_CHECK_EQUAL(paths.size(), 4U);
  BOOST_CHECK(is_path(paths.current(), 0, 0));
  for (const Path next : {Path{1, 1}, Path{0, 1}, Path{1, 0}}) {
    BOOST_CHECK(paths.leave(0));
    BOOST_CHECK(paths.current() == next);
  }
  BOOST_CHECK(!paths.leave(0));  // the next round
  BOOST_CHECK(is_path(paths.current(), 0, 0));
  // First those over which the peer was heard, and last those whose interface fails.
  paths.note_heard({0, 1}, 5);
  BOOST_CHECK(paths.leave(0));
  BOOST_CHECK(is_path(paths.current(), 0, 1));
  paths.round_trip().heard();  // so that all others may work again
  for (const Path next : {Path{0, 0}, Path{1, 1}, Path{1, 0}}) {
    BOOST_CHECK(paths.leave(2));
    BOOST_CHECK(paths.current() == next);
  }
  Paths one(1, 1, 1000);
  BOOST_CHECK(!one.leave(1));
  BOOST_CHECK(is_path(one.current(), 0, 0));
}

BOOST_AUTO_TEST_CASE(a_cut_link_costs_a_delay) {
  for (const double loss : {0.0, 0.05}) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      Segment segment(two_networks(loss, seed));
      Streams streams{segment};
      streams.run_for(20 * kMs);
      for (const auto& [pe, network] : {std::pair{1, 0U}, {1, 1U}, {0, 0U}, {0, 1U}}) {
        segment.set_link(pe, network, false);
        BOOST_CHECK_LT(streams.time_to_progress(), 300 * kMs);
        segment.set_link(pe, network, true);
        streams.run_for(10 * kMs);
      }
      streams.check();
    }
  }
}

// One network works at any time. Links are cut and joined at any times.
BOOST_AUTO_TEST_CASE(links_that_are_cut_at_any_time_cost_a_delay) {
  for (unsigned seed = 1; seed <= 2; ++seed) {
    Segment segment(two_networks(0, seed));
    std::mt19937 random(seed);
    Streams streams{segment};
    std::uint64_t last = Segment::now(), longest = 0;
    unsigned before[2] = {};
    const auto run_for = [&](std::uint64_t ms) {
      for (const std::uint64_t end = Segment::now() + ms * kMs; Segment::now() < end;) {
        streams.push();
        segment.step();
        if (streams.arrived(0) == before[0] || streams.arrived(1) == before[1]) {
          longest = std::max(longest, Segment::now() - last);
          continue;
        }
        for (const int pe : {0, 1}) before[pe] = streams.arrived(pe);
        last = Segment::now();
      }
    };
    for (int i = 0; i < 6; ++i) {
      const auto pe = static_cast<int>(random() % 2);
      const auto network = static_cast<unsigned>(random() % 2);
      run_for(random() % 40);
      segment.set_link(pe, network, false);
      run_for(random() % 100);
      segment.set_link(pe, network, true);
    }
    streams.check();
    BOOST_CHECK_LT(longest, 200 * kMs);
  }
}

BOOST_AUTO_TEST_CASE(networks_may_have_other_numbers_or_none) {
  // The first link of either PE does not work, so that only a pair of different numbers would; they are not connected.
  Segment segment(two_networks());
  segment.set_link(0, 0, false);
  Streams streams{segment};
  streams.run_for(20 * kMs);
  BOOST_CHECK(is_path(path_of(segment, 0, 1), 1, 1));
  BOOST_CHECK(is_path(path_of(segment, 1, 0), 1, 1));
  streams.check();
}

BOOST_AUTO_TEST_CASE(an_outage_of_all_links_costs_a_delay) {
  Segment segment(two_networks());
  Streams streams{segment};
  streams.run_for(20 * kMs);
  for (const unsigned network : {0U, 1U}) segment.set_link(1, network, false);
  streams.run_for(3000 * kMs);
  segment.set_link(1, 1, true);
  BOOST_CHECK_LT(streams.time_to_progress(), 1000 * kMs);
  streams.check();
}

// Frames of PE `pe` over the first network vanish, those of the other PE arrive.
BOOST_AUTO_TEST_CASE(a_link_may_fail_in_one_direction) {
  for (const int pe : {0, 1}) {
    Segment segment(two_networks());
    Streams streams{segment};
    streams.run_for(20 * kMs);
    segment.set_mute(pe, 0, true);
    BOOST_CHECK_LT(streams.time_to_progress(), 300 * kMs);
    streams.run_for(40 * kMs);
    const std::uint64_t resent = segment[0].counts().resent + segment[1].counts().resent;
    streams.run_for(40 * kMs);
    BOOST_CHECK_LT(segment[0].counts().resent + segment[1].counts().resent - resent, 20U);
    streams.check();
  }
}

BOOST_AUTO_TEST_CASE(an_interface_that_fails_is_left_at_once) {
  Segment segment(two_networks());
  Streams streams{segment};
  streams.run_for(20 * kMs);
  segment.set_error(0, 0, ENETDOWN);
  segment.set_link(0, 0, false);
  segment[0].note_failure(0, ENETDOWN);
  segment[0].run();
  BOOST_CHECK_EQUAL(path_of(segment, 0, 1).own, 1);
  BOOST_CHECK_LT(streams.time_to_progress(), 100 * kMs);
  segment.set_error(0, 0, 0);
  segment.set_link(0, 0, true);
  segment.set_link(0, 1, false);
  BOOST_CHECK_LT(streams.time_to_progress(), 300 * kMs);
  streams.check();
}

BOOST_AUTO_TEST_CASE(both_use_the_same_path) {
  Segment segment(two_networks());
  Streams streams{segment};
  streams.run_for(20 * kMs);
  segment.set_link(1, 0, false);
  streams.run_for(20 * kMs);
  segment.set_link(1, 0, true);
  streams.run_for(20 * kMs);
  BOOST_CHECK(is_path(path_of(segment, 0, 1), 1, 1));
  BOOST_CHECK(is_path(path_of(segment, 1, 0), 1, 1));
  const std::uint64_t resent = segment[0].counts().resent + segment[1].counts().resent;
  streams.run_for(50 * kMs);
  BOOST_CHECK_EQUAL(segment[0].counts().resent + segment[1].counts().resent, resent);
  streams.check();
}

BOOST_AUTO_TEST_CASE(a_loss_names_the_cause_of_each_path) {
  Segment segment(two_networks());
  Streams streams{segment};
  streams.run_for(20 * kMs);
  segment.set_error(0, 1, ENETDOWN);
  for (const unsigned network : {0U, 1U}) segment.set_link(1, network, false);
  BOOST_REQUIRE(segment.run_until([&] {
    streams.push();
    return !segment.sink(0).losses.empty() && !segment.sink(1).losses.empty();
  }));
  const std::string& cause = segment.sink(0).losses.front().cause;
  BOOST_CHECK_MESSAGE(cause.find("net0 -> 02:00:00:00:00:01: No answer") != std::string::npos, cause);
  BOOST_CHECK_MESSAGE(cause.find("net1 -> 02:00:00:00:01:01: Network is down") != std::string::npos, cause);
}

BOOST_AUTO_TEST_CASE(an_idle_pair_is_not_lost_with_its_link) {
  Segment segment(two_networks());
  Streams streams{segment};
  streams.push();
  BOOST_REQUIRE(segment.run_until([&] { return streams.arrived(0) == 1 && streams.arrived(1) == 1; }));
  segment.set_link(1, 0, false);
  for (const std::uint64_t end = Segment::now() + 20'000 * kMs; Segment::now() < end;) segment.step();
  streams.check();
}

// Returns the steps that long payloads take over networks of these rates, in frames of a step; 0: the link is cut.
std::size_t steps_of_payloads(std::size_t first, std::size_t second) {
  Segment segment(two_networks());
  segment.set_link(1, 1, second != 0);
  segment.set_rate(0, first);
  segment.set_rate(1, second);
  const std::vector<std::byte> payload = pattern(std::size_t{4} << 20, 1);
  std::size_t steps = 0;
  for (std::size_t i = 1; i <= 5; ++i) {
    Outgoing outgoing;
    BOOST_REQUIRE(segment[0].send(1, {7, 0, 0, 0}, {}, payload, &outgoing, Urgency::now) == Sent::later);
    for (; segment.sink(1).messages.size() < i; ++steps) segment.step();
    BOOST_CHECK(segment.sink(1).messages.back().payload == payload);
    BOOST_REQUIRE(segment.run_until([&] { return outgoing.done; }));
    if (i == 1) steps = 0;  // the speeds are found
  }
  BOOST_CHECK(segment.sink(1).losses.empty());
  return steps;
}

BOOST_AUTO_TEST_CASE(long_payloads_use_both_paths) {
  const std::size_t one = steps_of_payloads(2, 0);
  BOOST_CHECK_LT(steps_of_payloads(2, 2) * 17, one * 10);
  BOOST_CHECK_LT(steps_of_payloads(2, 1) * 14, one * 10);
}

BOOST_AUTO_TEST_CASE(a_much_slower_path_is_left_alone) {
  const std::size_t one = steps_of_payloads(8, 0);
  BOOST_CHECK_LT(steps_of_payloads(8, 1) * 100, one * 102);
}

BOOST_AUTO_TEST_CASE(a_path_that_fails_under_a_payload_costs_a_delay) {
  for (const unsigned network : {0U, 1U}) {
    Segment segment(two_networks());
    segment.set_rate(0, 2);
    segment.set_rate(1, 2);
    const std::vector<std::byte> payload = pattern(std::size_t{8} << 20, 1);
    BOOST_REQUIRE(segment[0].send(1, {7, 0, 0, 0}, {}, payload, nullptr, Urgency::now) == Sent::yes);
    for (int i = 0; i < 500; ++i) segment.step();
    segment.set_link(1, network, false);
    BOOST_REQUIRE(segment.run_until([&] { return segment.sink(1).messages.size() == 1; }, 10'000));
    BOOST_CHECK(segment.sink(1).messages.back().payload == payload);
    BOOST_CHECK(segment.sink(1).losses.empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()
