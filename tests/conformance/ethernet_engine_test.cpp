// Messages of the transport ethernet over a simulated segment.
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "ethernet_link.hpp"

BOOST_AUTO_TEST_SUITE(ethernet_engine)

using namespace ethernet_test;
using shmemx::ethernet::SendWindow;
using shmemx::transport::Header;
using shmemx::transport::kPlacedEarly;
using shmemx::transport::Sent;
using shmemx::transport::Urgency;
using transport_test::Message;
using transport_test::pattern;

namespace {

std::vector<std::byte> number(unsigned value) {
  std::vector<std::byte> out(sizeof value);
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

constexpr std::size_t kSizes[] = {0, 8, 300, 1400, 5000, 16'000, 40'000, 33'000, 200'000, 1, 64, 17'000};
std::size_t size_of(unsigned i) { return kSizes[i % std::size(kSizes)]; }

struct Stream {
  int from;
  int to;
  unsigned sent = 0;

  // Sends the next message if it is taken.
  void push(Segment& segment, unsigned n) {
    if (sent == n) return;
    const Header fixed{7, sent % 3 == 0 ? kPlacedEarly : std::uint8_t{0}, 4, 0};
    const auto payload = pattern(size_of(sent), sent);
    const Urgency urgency = sent % 5 == 0 ? Urgency::gather : Urgency::now;
    if (segment[from].send(to, fixed, number(sent), payload, nullptr, urgency) != Sent::no) ++sent;
    if (sent == n) segment[from].flush();
  }
  bool is_complete(Segment& segment, unsigned n) const {
    const auto& messages = segment.sink(to).messages;
    return std::count_if(messages.begin(), messages.end(), [&](const Message& m) { return m.source == from; }) == n;
  }
  void check(Segment& segment) const {
    unsigned next = 0;
    for (const Message& message : segment.sink(to).messages) {
      if (message.source != from) continue;
      BOOST_REQUIRE(message.header == number(next));
      BOOST_REQUIRE(message.payload == pattern(size_of(next), next));
      ++next;
    }
  }
};

// Streams in both directions; all messages arrive once, in order and unchanged.
void check_streams(const Segment::Options& options, unsigned n) {
  Segment segment(options);
  Stream streams[] = {{0, 1}, {1, 0}};
  BOOST_REQUIRE(segment.run_until([&] {
    bool complete = true;
    for (Stream& stream : streams) {
      stream.push(segment, n);
      complete = complete && stream.is_complete(segment, n);
    }
    return complete;
  }));
  for (const Stream& stream : streams) {
    stream.check(segment);
    BOOST_CHECK(segment.sink(stream.to).in_order);
    BOOST_CHECK(segment.sink(stream.to).losses.empty());
  }
  // Nothing is left over: all is acknowledged, and nobody sends any more.
  segment.faults = {};
  BOOST_CHECK(segment.run_until([&] { return segment[0].is_drained() && segment[1].is_drained(); }));
}

bool send_number(Segment& segment, int from, int to, unsigned value) {
  return segment[from].send(to, {1, 0, 4, 0}, number(value), {}, nullptr, Urgency::now) == Sent::yes;
}
bool got(Segment& segment, int pe, std::size_t n) {
  return segment.run_until([&] { return segment.sink(pe).messages.size() >= n; });
}

}  // namespace

BOOST_AUTO_TEST_CASE(messages_of_all_classes_arrive) { check_streams({}, 300); }
BOOST_AUTO_TEST_CASE(large_frames) { check_streams({.mtus = {9000}}, 300); }
BOOST_AUTO_TEST_CASE(the_smallest_frames) { check_streams({.mtus = {640}}, 100); }
BOOST_AUTO_TEST_CASE(hosts_whose_mtu_differs) { check_streams({.mtus = {9000, 1500}}, 300); }
BOOST_AUTO_TEST_CASE(loss) {
  for (const double share : {0.01, 0.05, 0.3}) check_streams({.faults = {.loss = share}, .silence_ms = 20'000}, 150);
}
BOOST_AUTO_TEST_CASE(duplicates) { check_streams({.faults = {.duplicates = 0.3}}, 200); }
BOOST_AUTO_TEST_CASE(reordering) { check_streams({.faults = {.reordered = 0.3}}, 200); }
BOOST_AUTO_TEST_CASE(changed_bits) { check_streams({.faults = {.changed = 0.05}, .silence_ms = 20'000}, 150); }
BOOST_AUTO_TEST_CASE(all_faults_at_once) {
  for (unsigned seed = 1; seed <= 10; ++seed)
    check_streams({.faults = {.loss = 0.05, .duplicates = 0.05, .reordered = 0.1, .changed = 0.02},
                   .silence_ms = 20'000,
                   .seed = seed},
                  60);
}

BOOST_AUTO_TEST_CASE(a_change_anywhere_in_a_frame_is_noticed) {
  Segment segment({});
  segment.is_recording = true;
  BOOST_REQUIRE(send_number(segment, 0, 1, 0));
  const Frame frame = segment.record.front();
  for (std::size_t bit = sizeof(shmemx::ethernet::EthernetHeader) * 8; bit < frame.size() * 8; ++bit) {
    Frame changed = frame;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    segment.deliver(changed);
    BOOST_REQUIRE(segment.sink(1).messages.empty());
  }
  BOOST_CHECK_EQUAL(segment[1].counts().refused(), (frame.size() - sizeof(shmemx::ethernet::EthernetHeader)) * 8);
  segment.deliver(frame);
  BOOST_CHECK_EQUAL(segment.sink(1).messages.size(), 1U);
}

BOOST_AUTO_TEST_CASE(replayed_frames_change_nothing) {
  Segment segment({});
  segment.is_recording = true;
  Stream stream{0, 1};
  constexpr unsigned kMessages = 50;
  BOOST_REQUIRE(segment.run_until([&] {
    stream.push(segment, kMessages);
    return stream.is_complete(segment, kMessages);
  }));
  const std::vector<Frame> recorded = segment.record;
  for (const Frame& frame : recorded) segment.deliver(frame);
  for (int i = 0; i < 100; ++i) segment.step();
  BOOST_CHECK_EQUAL(segment.sink(1).messages.size(), kMessages);
  BOOST_CHECK(segment[1].counts().duplicates != 0);
  BOOST_REQUIRE(send_number(segment, 0, 1, 1));
  BOOST_CHECK(got(segment, 1, kMessages + 1));
}

BOOST_AUTO_TEST_CASE(frames_of_an_earlier_life_are_refused) {
  Segment segment({});
  segment.is_recording = true;
  BOOST_REQUIRE(send_number(segment, 0, 1, 5));
  const Frame earlier = segment.record.front();
  segment.restart(0);
  segment.deliver(earlier);
  BOOST_CHECK(segment.sink(1).messages.empty());
  BOOST_CHECK_EQUAL(segment[1].counts().refused(), 1U);
  BOOST_CHECK_EQUAL(segment[1].counts().stale, 1U);
  BOOST_REQUIRE(send_number(segment, 0, 1, 6));
  BOOST_REQUIRE(got(segment, 1, 1));
  BOOST_CHECK(segment.sink(1).messages.front().header == number(6));
}

BOOST_AUTO_TEST_CASE(a_silence_that_ends_costs_time_only) {
  Segment segment({.silence_ms = 5000});
  BOOST_REQUIRE(send_number(segment, 0, 1, 0));
  BOOST_REQUIRE(got(segment, 1, 1));
  segment.faults.loss = 1;
  const std::uint64_t end = Segment::now() + 2'000'000'000;
  unsigned sent = 1;
  while (Segment::now() < end) {
    if (sent < 40 && send_number(segment, 0, 1, sent)) ++sent;
    segment.step();
  }
  BOOST_CHECK_EQUAL(segment.sink(1).messages.size(), 1U);
  segment.faults.loss = 0;
  BOOST_REQUIRE(got(segment, 1, sent));
  for (unsigned i = 0; i < sent; ++i) BOOST_CHECK(segment.sink(1).messages[i].header == number(i));
  BOOST_CHECK(segment.sink(0).losses.empty());
}

BOOST_AUTO_TEST_CASE(a_silence_that_does_not_end_is_one_loss) {
  Segment segment({.n = 3, .silence_ms = 1000});
  for (const int pe : {1, 2}) BOOST_REQUIRE(send_number(segment, 0, pe, 0));
  for (const int pe : {1, 2}) BOOST_REQUIRE(got(segment, pe, 1));
  std::vector<std::byte> payload = pattern(100'000, 1);
  shmemx::transport::Outgoing outgoing;
  segment.faults.loss = 1;
  BOOST_REQUIRE(segment[0].send(1, {1, 0, 0, 0}, {}, payload, &outgoing, Urgency::now) == Sent::later);
  BOOST_REQUIRE(segment.run_until([&] { return segment.sink(0).losses.size() == 2; }));
  BOOST_CHECK(outgoing.done);
  segment.faults.loss = 0;
  for (int i = 0; i < 1000; ++i) segment.step();
  BOOST_CHECK_EQUAL(segment.sink(0).losses.size(), 2U);
  BOOST_CHECK(segment.sink(0).losses.front().cause.find("no answer for 1 s") != std::string::npos);
  BOOST_CHECK(send_number(segment, 0, 1, 1));  // taken, and dropped
}

BOOST_AUTO_TEST_CASE(an_idle_peer_is_not_lost) {
  Segment segment({.silence_ms = 500});
  BOOST_REQUIRE(send_number(segment, 0, 1, 0));
  BOOST_REQUIRE(got(segment, 1, 1));
  const std::uint64_t end = Segment::now() + 3'000'000'000;
  while (Segment::now() < end) segment.step();
  for (const int pe : {0, 1}) BOOST_CHECK(segment.sink(pe).losses.empty());
}

BOOST_AUTO_TEST_CASE(an_acknowledged_stream_sends_nothing_again) {
  Segment segment({});
  Stream stream{0, 1};
  BOOST_REQUIRE(segment.run_until([&] {
    stream.push(segment, 200);
    return stream.is_complete(segment, 200);
  }));
  BOOST_CHECK_EQUAL(segment[0].counts().resent, 0U);
  BOOST_CHECK_EQUAL(segment[1].counts().resent, 0U);
  BOOST_CHECK_EQUAL(segment[1].counts().duplicates, 0U);
}

BOOST_AUTO_TEST_CASE(losses_halve_the_window_and_acknowledgements_open_it_again) {
  Segment segment({.silence_ms = 20'000});
  Stream stream{0, 1};
  BOOST_REQUIRE(segment.run_until([&] {
    stream.push(segment, 100);
    return stream.is_complete(segment, 100);
  }));
  const unsigned before = segment[0].find(1)->out.congestion_window();
  segment.faults.loss = 0.2;
  BOOST_REQUIRE(segment.run_until([&] {
    stream.push(segment, 130);
    return stream.is_complete(segment, 130);
  }));
  const unsigned after = segment[0].find(1)->out.congestion_window();
  BOOST_CHECK_LE(after, before / 2);
  segment.faults.loss = 0;
  BOOST_REQUIRE(segment.run_until([&] {
    stream.push(segment, 900);
    return stream.is_complete(segment, 900);
  }));
  BOOST_CHECK_GT(segment[0].find(1)->out.congestion_window(), after);
}

// What finds no room in the port's queue leaves later: nothing is lost, nothing sent again, and no window halved.
BOOST_AUTO_TEST_CASE(a_full_queue_loses_nothing) {
  for (const int room : {1, 3, 8}) {
    Segment segment({});
    segment.queue_room = room;
    Stream streams[] = {{0, 1}, {1, 0}};
    constexpr unsigned kMessages = 60;
    BOOST_REQUIRE(segment.run_until([&] {
      for (Stream& stream : streams) stream.push(segment, kMessages);
      return streams[0].is_complete(segment, kMessages) && streams[1].is_complete(segment, kMessages);
    }));
    BOOST_TEST_CONTEXT("room for " << room) for (const Stream& stream : streams) {
      stream.check(segment);
      BOOST_CHECK_EQUAL(segment[stream.from].find(stream.to)->out.congestion_window(), SendWindow::kMostInFlight);
      BOOST_CHECK_EQUAL(segment[stream.from].counts().resent, 0U);
      BOOST_CHECK_EQUAL(segment[stream.from].counts().duplicates, 0U);
    }
  }
}

// A queue that does not move is a network that does not.
BOOST_AUTO_TEST_CASE(a_queue_that_stays_full_is_a_silence) {
  for (const bool ends : {false, true}) {
    Segment segment({.silence_ms = 1000});
    BOOST_REQUIRE(send_number(segment, 0, 1, 0));
    BOOST_REQUIRE(got(segment, 1, 1));
    segment.queue_room = 0;
    for (unsigned i = 1; i < 20; ++i) BOOST_REQUIRE(send_number(segment, 0, 1, i));
    for (int i = 0; i < (ends ? 10'000 : 100'000); ++i) segment.step();
    segment.queue_room = -1;
    if (ends) BOOST_CHECK(got(segment, 1, 20));
    BOOST_CHECK_EQUAL(segment.sink(0).losses.size(), ends ? 0U : 1U);
  }
}

BOOST_AUTO_TEST_CASE(a_shutdown_is_no_loss) {
  Segment segment({.faults = {.loss = 0.2}, .silence_ms = 2000});
  for (unsigned i = 0; i < 20; ++i) BOOST_REQUIRE(send_number(segment, 0, 1, i));
  segment[0].begin_close();
  BOOST_REQUIRE(segment.run_until([&] { return segment[0].is_drained(); }));
  segment[0].end_close();
  segment.end(0);
  const std::uint64_t end = Segment::now() + 5'000'000'000;
  while (Segment::now() < end) segment.step();
  BOOST_CHECK_EQUAL(segment.sink(1).messages.size(), 20U);
  BOOST_CHECK(segment.sink(1).losses.empty());
}

BOOST_AUTO_TEST_SUITE_END()
