// How many frames the transport ethernet sends, when, and what it counts, over a simulated segment.
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "ethernet_link.hpp"

BOOST_AUTO_TEST_SUITE(ethernet_flow)

using namespace ethernet_test;
using shmemx::ethernet::content_bytes_of;
using shmemx::ethernet::EthernetHeader;
using shmemx::ethernet::FrameHeader;
using shmemx::ethernet::FrameKind;
using shmemx::ethernet::kMediumBytes;
using shmemx::ethernet::ReplayWindow;
using shmemx::ethernet::SendWindow;
using shmemx::transport::Header;
using shmemx::transport::Sent;
using shmemx::transport::Urgency;
using transport_test::pattern;

namespace {

constexpr Header kFixed{1, 0, 0, 0};

Sent send(Segment& segment, int from, int to, Bytes payload) {
  return segment[from].send(to, kFixed, {}, payload, nullptr, Urgency::now);
}
bool got(Segment& segment, int pe, std::size_t n) {
  return segment.run_until([&] { return segment.sink(pe).messages.size() >= n; });
}
void make_contact(Segment& segment, int one, int other) {
  const std::size_t before = segment.sink(other).messages.size();
  BOOST_REQUIRE(send(segment, one, other, pattern(8, 0)) == Sent::yes);
  BOOST_REQUIRE(got(segment, other, before + 1));
  BOOST_REQUIRE(segment.run_until([&] { return !segment[one].find(other)->out.is_in_flight(); }));
}

FrameHeader header_of(const Frame& frame) {
  FrameHeader header;
  std::memcpy(&header, frame.data() + sizeof(EthernetHeader), sizeof header);
  return header;
}
std::size_t target_of(const Frame& frame) { return std::to_integer<std::size_t>(frame[5]); }
std::size_t n_of(const Segment& segment, FrameKind kind) {
  return static_cast<std::size_t>(std::count_if(segment.record.begin(), segment.record.end(),
                                                [&](const Frame& frame) { return header_of(frame).kind == kind; }));
}

// Each of `senders` sends `n` messages to PE 0, as fast as they are taken.
void check_fan_in(Segment& segment, int senders, std::size_t bytes, unsigned n) {
  std::vector<unsigned> sent(static_cast<std::size_t>(senders) + 1);
  const std::size_t before = segment.sink(0).messages.size();
  const auto all = static_cast<std::size_t>(senders) * n;
  BOOST_REQUIRE(segment.run_until([&] {
    for (int pe = 1; pe <= senders; ++pe) {
      unsigned& count = sent[static_cast<std::size_t>(pe)];
      while (count < n && send(segment, pe, 0, pattern(bytes, count)) != Sent::no) ++count;
    }
    return segment.sink(0).messages.size() == before + all;
  }));
}

constexpr std::size_t kLargeBytes = std::size_t{256} << 10;

// A first large message, of which the peer requests all blocks.
void let_request(Segment& segment) {
  BOOST_REQUIRE(send(segment, 0, 1, pattern(kLargeBytes, 0)) == Sent::yes);
  BOOST_REQUIRE(got(segment, 1, 1));
  BOOST_REQUIRE(segment.run_until([&] { return segment[0].find(1)->loans.is_empty(); }));
}

// A payload of 64 packets that is pulled, with the time of the test. The first `pushed` come without a request.
struct Pulling {
  static constexpr std::size_t kPacketBytes = 1424;
  static constexpr std::uint32_t kPackets = 64;

  std::vector<std::byte> place = std::vector<std::byte>(kPackets * kPacketBytes);
  shmemx::transport::InboundMessage message;
  shmemx::ethernet::PacketBudget budget{1024, 0};
  shmemx::ethernet::RoundTrip round_trip{1'000'000};
  shmemx::ethernet::Pulls pulls{{kPacketBytes, 32, 4, 32}, budget};
  std::uint64_t now_ns = 1'000'000'000;
  std::vector<std::uint32_t> numbers;  // of the first request of each block
  std::uint32_t pushed;

  explicit Pulling(std::uint32_t pushed_packets = 0) : pushed(pushed_packets) {
    message.payload_bytes = place.size();
    message.place = place.data();
    pulls.begin(1, message, pushed, now_ns);
    while (const auto request = pulls.next_request(now_ns, round_trip)) numbers.push_back(request->what.number);
  }
  std::uint32_t number_of(std::uint32_t index) const { return index < pushed ? 0 : numbers[(index - pushed) / 32]; }
  void take(std::uint32_t first, std::uint32_t last) {
    const std::vector<std::byte> packet(kPacketBytes);
    shmemx::transport::InboundMessage* done = nullptr;
    for (std::uint32_t index = first; index <= last; ++index)
      pulls.take({.number = 1, .index = index, .request = number_of(index)}, packet, now_ns, round_trip, done);
  }
};

// Of the first block.
void check_packet_is_requested_again(Pulling& pulling, unsigned index) {
  const auto again = pulling.pulls.next_request(pulling.now_ns, pulling.round_trip);
  BOOST_REQUIRE(again);
  BOOST_CHECK(again->is_repeated);
  BOOST_CHECK_EQUAL(again->what.first, 0U);
  BOOST_CHECK_EQUAL(again->what.wanted, std::uint64_t{1} << index);
}

}  // namespace

// Where others fill the queues of the network, packets take longer than the acknowledgements before did.
BOOST_AUTO_TEST_CASE(a_pull_waits_as_long_as_its_packets_take) {
  Pulling pulling;
  pulling.now_ns += 2'000'000;
  while (pulling.pulls.next_request(pulling.now_ns, pulling.round_trip)) {
  }
  pulling.now_ns += 18'000'000;
  pulling.take(0, 62);
  pulling.now_ns += 10'000'000;
  BOOST_CHECK(!pulling.pulls.next_request(pulling.now_ns, pulling.round_trip));
  pulling.now_ns += 200'000'000;
  BOOST_CHECK(pulling.pulls.next_request(pulling.now_ns, pulling.round_trip));
}

// The packets behind a lost one tell at once.
BOOST_AUTO_TEST_CASE(a_packet_that_others_overtake_is_requested_at_once) {
  Pulling pulling;
  pulling.take(0, 6);
  pulling.take(8, 33);
  BOOST_CHECK(!pulling.pulls.next_request(pulling.now_ns, pulling.round_trip));
  pulling.take(34, 34);
  check_packet_is_requested_again(pulling, 7);
  BOOST_CHECK(!pulling.pulls.next_request(pulling.now_ns, pulling.round_trip));
}

// A sender that does not wait for its payload may leave the library at once, and nobody answers for it then.
BOOST_AUTO_TEST_CASE(a_medium_message_needs_its_sender_no_more) {
  for (const std::uint16_t mtu : {std::uint16_t{1500}, std::uint16_t{9000}}) {
    Segment segment({.mtus = {mtu}});
    make_contact(segment, 0, 1);
    for (const std::size_t bytes : {std::size_t{16} << 10, std::size_t{40'000}, kMediumBytes}) {
      const std::size_t before = segment.sink(1).messages.size();
      const std::uint64_t resent = segment[0].counts().resent;
      BOOST_REQUIRE(send(segment, 0, 1, pattern(bytes, 1)) == Sent::yes);
      segment.frozen = 0;
      for (int i = 0; i < 2; ++i) segment.step();
      BOOST_REQUIRE_EQUAL(segment.sink(1).messages.size(), before + 1);
      BOOST_CHECK(segment.sink(1).messages.back().payload == pattern(bytes, 1));
      // It has computed for longer than any resend timer: what has arrived meanwhile is all that it needs.
      for (int i = 0; i < 10'000; ++i) segment.step();
      segment.frozen = -1;
      for (int i = 0; i < 100; ++i) segment.step();
      BOOST_CHECK_EQUAL(segment[0].counts().resent, resent);
    }
  }
}

// What the program changes while it is sent arrives in any of its states, and does not block what follows.
BOOST_AUTO_TEST_CASE(a_payload_that_changes_while_it_is_sent_arrives) {
  for (const std::uint16_t mtu : {std::uint16_t{1500}, std::uint16_t{9000}}) {
    Segment segment({.mtus = {mtu}});
    make_contact(segment, 0, 1);
    std::vector<std::byte> payload = pattern(40'000, 1);
    segment.before_send = [&] {
      for (std::byte& byte : payload) byte ^= std::byte{0x11};
    };
    BOOST_REQUIRE(send(segment, 0, 1, payload) == Sent::yes);
    segment.before_send = {};
    BOOST_REQUIRE(send(segment, 0, 1, pattern(8, 2)) == Sent::yes);
    BOOST_REQUIRE(got(segment, 1, 3));
    BOOST_CHECK_EQUAL(segment.sink(1).messages[1].payload.size(), payload.size());
    BOOST_CHECK(segment.sink(1).messages[2].payload == pattern(8, 2));
    BOOST_CHECK(segment.sink(1).losses.empty());
  }
}

// Frames that are lost are sent again from copies: the program may change the payload as soon as it is sent.
BOOST_AUTO_TEST_CASE(a_medium_message_that_is_lost_is_sent_again_as_it_was) {
  Segment segment({.mtus = {9000}});
  make_contact(segment, 0, 1);
  std::vector<std::byte> payload = pattern(60'000, 1);
  segment.faults.loss = 1;
  BOOST_REQUIRE(send(segment, 0, 1, payload) == Sent::yes);
  segment.faults.loss = 0;
  std::fill(payload.begin(), payload.end(), std::byte{});
  BOOST_REQUIRE(got(segment, 1, 2));
  BOOST_CHECK(segment.sink(1).messages[1].payload == pattern(60'000, 1));
}

BOOST_AUTO_TEST_CASE(a_medium_message_costs_its_frames_and_few_acknowledgements) {
  Segment segment({});
  make_contact(segment, 0, 1);
  segment.is_recording = true;
  BOOST_REQUIRE(send(segment, 0, 1, pattern(kMediumBytes, 1)) == Sent::yes);
  BOOST_REQUIRE(got(segment, 1, 2));
  for (int i = 0; i < 1000; ++i) segment.step();
  const std::size_t most = content_bytes_of(1500) - 16;
  BOOST_CHECK_EQUAL(n_of(segment, FrameKind::records), (kMediumBytes + most - 1) / most);
  BOOST_CHECK_LE(n_of(segment, FrameKind::ack), n_of(segment, FrameKind::records) / 16 + 1);
  BOOST_CHECK_EQUAL(n_of(segment, FrameKind::pull) + n_of(segment, FrameKind::block), 0U);
}

BOOST_AUTO_TEST_CASE(a_large_message_costs_one_frame_for_each_part_and_few_requests) {
  Segment segment({});
  make_contact(segment, 0, 1);
  segment.is_recording = true;
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  BOOST_REQUIRE(send(segment, 0, 1, pattern(kBytes, 1)) == Sent::yes);
  BOOST_REQUIRE(got(segment, 1, 2));
  const std::size_t most = content_bytes_of(1500);
  BOOST_CHECK_EQUAL(n_of(segment, FrameKind::block), (kBytes + most - 1) / most);
  BOOST_CHECK_LE(n_of(segment, FrameKind::pull), n_of(segment, FrameKind::block) / 32 + 1);
  BOOST_CHECK_EQUAL(segment[0].counts().resent + segment[1].counts().resent, 0U);
}

// Once the peer has requested blocks, the first packets of a payload leave with its announcement, each one once.
BOOST_AUTO_TEST_CASE(the_first_packets_of_a_large_message_need_no_request) {
  Segment segment({});
  for (unsigned i = 0; i < 2; ++i) {
    segment.record.clear();
    segment.is_recording = true;
    BOOST_REQUIRE(send(segment, 0, 1, pattern(kLargeBytes, i)) == Sent::yes);
    BOOST_CHECK_EQUAL(n_of(segment, FrameKind::block), i == 0 ? 0U : 32U);
    BOOST_REQUIRE(got(segment, 1, i + 1));
    const std::size_t most = content_bytes_of(1500);
    BOOST_CHECK_EQUAL(n_of(segment, FrameKind::block), (kLargeBytes + most - 1) / most);
    BOOST_REQUIRE(segment.run_until([&] { return segment[0].find(1)->loans.is_empty(); }));
  }
  BOOST_CHECK_EQUAL(segment[0].counts().resent + segment[1].counts().resent, 0U);
}

// They follow an announcement that waits for others, too.
BOOST_AUTO_TEST_CASE(the_first_packets_leave_with_gathered_announcements) {
  Segment segment({});
  let_request(segment);
  segment.is_recording = true;
  for (unsigned i = 1; i < 3; ++i)
    BOOST_REQUIRE(segment[0].send(1, kFixed, {}, pattern(kLargeBytes, i), nullptr, Urgency::gather) == Sent::yes);
  BOOST_CHECK_EQUAL(n_of(segment, FrameKind::block), 0U);
  segment[0].flush();
  BOOST_CHECK_EQUAL(n_of(segment, FrameKind::block), 32U);
  BOOST_REQUIRE(got(segment, 1, 3));
  BOOST_CHECK_EQUAL(segment[0].counts().resent + segment[1].counts().resent, 0U);
}

// Behind a payload that is pulled, packets of a later one would only delay it.
BOOST_AUTO_TEST_CASE(packets_behind_other_payloads_wait_for_requests) {
  Segment segment({});
  let_request(segment);
  BOOST_REQUIRE(send(segment, 0, 1, pattern(kLargeBytes, 1)) == Sent::yes);
  segment.is_recording = true;
  BOOST_REQUIRE(send(segment, 0, 1, pattern(kLargeBytes, 2)) == Sent::yes);
  BOOST_CHECK_EQUAL(n_of(segment, FrameKind::block), 0U);
  BOOST_REQUIRE(got(segment, 1, 3));
}

// Packets that overtake their announcement, or whose announcement is lost, are dropped, and then requested.
BOOST_AUTO_TEST_CASE(packets_before_their_announcement_are_requested) {
  Pulling pulling;
  std::vector<std::byte> place(Pulling::kPacketBytes * 16);
  shmemx::transport::InboundMessage later;
  later.payload_bytes = place.size();
  later.place = place.data();
  shmemx::transport::InboundMessage* done = nullptr;
  const std::vector<std::byte> packet(Pulling::kPacketBytes);
  pulling.pulls.take({.number = 2, .index = 0}, packet, pulling.now_ns, pulling.round_trip, done);
  pulling.pulls.begin(2, later, 16, pulling.now_ns);
  const auto request = pulling.pulls.next_request(pulling.now_ns, pulling.round_trip);
  BOOST_REQUIRE(request);
  BOOST_CHECK_EQUAL(request->handle, 2U);
  BOOST_CHECK_EQUAL(request->what.wanted, 0xffffU);
}

// Those that are lost are requested as soon as later ones are here.
BOOST_AUTO_TEST_CASE(a_packet_without_a_request_that_others_overtake_is_requested) {
  Pulling pulling(8);
  pulling.take(0, 6);
  pulling.take(8, 10);
  check_packet_is_requested_again(pulling, 7);
}

// All send at once what they may: the ring holds it.
BOOST_AUTO_TEST_CASE(many_senders_do_not_overflow_a_ring) {
  constexpr int kSenders = 8;
  for (const std::size_t bytes : {std::size_t{1000}, std::size_t{30'000}, std::size_t{200'000}}) {
    Segment segment({.n = kSenders + 1, .ring_frames = 256});
    for (int pe = 1; pe <= kSenders; ++pe) make_contact(segment, pe, 0);
    for (int pe = 1; pe <= kSenders; ++pe) make_contact(segment, 0, pe);
    check_fan_in(segment, kSenders, bytes, 60);
    BOOST_TEST_CONTEXT("messages of " << bytes << " bytes") BOOST_CHECK_EQUAL(segment.overflows, 0U);
    for (int pe = 0; pe <= kSenders; ++pe) BOOST_CHECK_EQUAL(segment[pe].counts().resent, 0U);
  }
}

BOOST_AUTO_TEST_CASE(one_sender_may_use_the_whole_window) {
  Segment segment({});
  make_contact(segment, 0, 1);
  BOOST_REQUIRE(send(segment, 0, 1, pattern(kMediumBytes, 1)) == Sent::yes);
  BOOST_REQUIRE(send(segment, 0, 1, pattern(kMediumBytes, 2)) == Sent::yes);
  segment.is_recording = true;
  segment.frozen = 0;
  for (int i = 0; i < 10; ++i) segment.step();
  BOOST_CHECK_EQUAL(segment[0].counts().sent, 1 + SendWindow::kMostInFlight);
  segment.frozen = -1;
  BOOST_CHECK(got(segment, 1, 3));
}

BOOST_AUTO_TEST_CASE(dropped_frames_are_counted_by_cause) {
  Segment segment({});
  segment.is_recording = true;
  make_contact(segment, 0, 1);
  const Frame good = segment.record.front();
  const auto changed = [&](std::size_t at) {
    Frame frame = good;
    frame[sizeof(EthernetHeader) + at] ^= std::byte{0x40};
    return frame;
  };
  const auto before = segment[1].counts();
  segment.deliver(Frame(good.begin(), good.begin() + sizeof(EthernetHeader) + 20));
  segment.deliver(Frame(good.begin(), good.end() - 1));
  BOOST_CHECK_EQUAL(segment[1].counts().truncated - before.truncated, 2U);
  segment.deliver(changed(offsetof(FrameHeader, port)));
  segment.deliver(changed(offsetof(FrameHeader, source)));
  BOOST_CHECK_EQUAL(segment[1].counts().foreign - before.foreign, 2U);
  segment.deliver(changed(offsetof(FrameHeader, proof)));
  segment.deliver(changed(sizeof(FrameHeader)));
  BOOST_CHECK_EQUAL(segment[1].counts().forged - before.forged, 2U);
  segment.deliver(good);
  BOOST_CHECK_EQUAL(segment[1].counts().duplicates - before.duplicates, 1U);
  BOOST_CHECK_EQUAL(segment[1].counts().refused() - before.refused(), 6U);
  BOOST_CHECK_EQUAL(segment[1].counts().received - before.received, 1U);
  BOOST_CHECK_EQUAL(segment[1].counts().stale, 0U);
}

BOOST_AUTO_TEST_CASE(serials_are_taken_once_in_any_order) {
  using Verdict = ReplayWindow::Verdict;
  ReplayWindow seen;
  BOOST_CHECK(seen.admit(0) == Verdict::repeated);
  BOOST_CHECK(seen.admit(1) == Verdict::newest);
  BOOST_CHECK(seen.admit(1) == Verdict::repeated);
  BOOST_CHECK(seen.admit(70) == Verdict::newest);
  for (std::uint64_t serial = 2; serial < 70; ++serial) {
    BOOST_REQUIRE(seen.admit(serial) == Verdict::late);
    BOOST_REQUIRE(seen.admit(serial) == Verdict::repeated);
  }
  std::uint64_t highest = 10'000;
  for (std::uint64_t step : {std::uint64_t{64}, ReplayWindow::kTolerance, std::uint64_t{1} << 40}) {
    highest += step + 1;
    BOOST_REQUIRE(seen.admit(highest) == Verdict::newest);
    BOOST_CHECK(seen.admit(highest - 1) == Verdict::late);
    BOOST_CHECK(seen.admit(highest - 1) == Verdict::repeated);
    BOOST_CHECK(seen.admit(highest - ReplayWindow::kTolerance) == Verdict::repeated);
  }
}

// A frame that is overheard and sent again for ever is no sign of life.
BOOST_AUTO_TEST_CASE(a_replayed_frame_does_not_keep_a_dead_peer_alive) {
  Segment segment({.silence_ms = 500});
  segment.is_recording = true;
  make_contact(segment, 0, 1);
  make_contact(segment, 1, 0);
  const std::vector<Frame> overheard = segment.record;
  segment.is_recording = false;
  segment.frozen = 1;
  segment.faults.loss = 1;
  std::size_t next = 0;
  BOOST_CHECK(segment.run_until(
      [&] {
        const Frame& frame = overheard[next++ % overheard.size()];
        if (target_of(frame) == 0) segment.deliver(frame);
        return !segment.sink(0).losses.empty();
      },
      50'000));
}

BOOST_AUTO_TEST_CASE(a_replayed_request_sends_nothing) {
  Segment segment({});
  segment.is_recording = true;
  make_contact(segment, 0, 1);
  BOOST_REQUIRE(send(segment, 0, 1, pattern(std::size_t{4} << 20, 1)) == Sent::yes);
  BOOST_REQUIRE(segment.run_until([&] { return n_of(segment, FrameKind::block) > 40; }));
  const std::vector<Frame> overheard = segment.record;
  const auto before = segment[0].counts();
  std::size_t replayed = 0;
  for (const Frame& frame : overheard) {
    if (target_of(frame) != 0 || segment.is_on_wire(frame)) continue;
    segment.deliver(frame);
    ++replayed;
  }
  BOOST_CHECK_GT(replayed, 2U);
  BOOST_CHECK_EQUAL(segment[0].counts().sent, before.sent);
  BOOST_CHECK_EQUAL(segment[0].counts().duplicates - before.duplicates, replayed);
  BOOST_CHECK(got(segment, 1, 2));
}

// The first frames of a peer told of a window that holds no more.
BOOST_AUTO_TEST_CASE(a_replayed_frame_installs_no_old_window) {
  Segment segment({});
  segment.is_recording = true;
  make_contact(segment, 1, 0);
  make_contact(segment, 0, 1);
  make_contact(segment, 1, 0);
  const auto narrow = std::find_if(segment.record.begin(), segment.record.end(), [](const Frame& frame) {
    return target_of(frame) == 0 && header_of(frame).window == SendWindow::kFirstInFlight;
  });
  BOOST_REQUIRE(narrow != segment.record.end());
  const Frame overheard = *narrow;
  segment.deliver(overheard);
  const std::uint64_t before = segment[0].counts().sent;
  segment.frozen = 1;
  for (int i = 0; i < 2; ++i) BOOST_REQUIRE(send(segment, 0, 1, pattern(kMediumBytes, 1)) == Sent::yes);
  BOOST_CHECK_EQUAL(segment[0].counts().sent - before, SendWindow::kMostInFlight);
}

BOOST_AUTO_TEST_CASE(a_peer_that_ends_without_a_shutdown_is_lost_at_once) {
  Segment segment({.n = 3, .silence_ms = 60'000});
  make_contact(segment, 1, 0);
  make_contact(segment, 2, 0);
  segment.end(1);
  BOOST_REQUIRE(segment.run_until([&] { return !segment.sink(0).losses.empty(); }, 10));
  BOOST_CHECK_EQUAL(segment.sink(0).losses.size(), 1U);
  make_contact(segment, 0, 2);
}

// No packet of a payload that is pulled arrives, so what is sent behind it has to wait.
BOOST_AUTO_TEST_CASE(little_waits_behind_a_payload_whatever_is_sent) {
  Segment segment({.silence_ms = 600'000});
  make_contact(segment, 0, 1);
  segment.faults.largest = 1200;
  const auto payload = pattern(200'000, 1);
  BOOST_REQUIRE(send(segment, 0, 1, payload) == Sent::yes);
  std::size_t n = 0;
  for (int step = 0; step < 20'000; ++step) {
    while (send(segment, 0, 1, pattern(800, static_cast<unsigned>(n))) != Sent::no) ++n;
    segment.step();
  }
  BOOST_CHECK_GT(n * 800, shmemx::transport::InboundQueue::kMostWaiting / 2);
  BOOST_CHECK_LT(n * 800, 2 * shmemx::transport::InboundQueue::kMostWaiting);
  segment.faults.largest = 0;
  BOOST_REQUIRE(got(segment, 1, n + 2));
  BOOST_CHECK(segment.sink(1).messages[1].payload == payload);
  for (std::size_t i = 0; i < n; i += 100)
    BOOST_CHECK(segment.sink(1).messages[i + 2].payload == pattern(800, static_cast<unsigned>(i)));
}

BOOST_AUTO_TEST_SUITE_END()
