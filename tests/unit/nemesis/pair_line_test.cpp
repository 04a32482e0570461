// Messages of a pair that alternate, in the line that both share.
#include "nemesis/pair_line.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "fake_node.hpp"
#include "support/child.hpp"

BOOST_AUTO_TEST_SUITE(nemesis_pair_line)

namespace {

using namespace shmemx;
using namespace shmemx::nemesis;
using namespace queue_test;

// Both know that the other one uses its box.
void announce(Node& node, std::size_t first, std::size_t second) {
  BOOST_CHECK(node[first].send(static_cast<int>(second), 8) && node[second].poll());
  BOOST_CHECK(node[second].send(static_cast<int>(first), 8) && node[first].poll());
}

}  // namespace

BOOST_AUTO_TEST_CASE(messages_that_alternate_take_turns_in_one_line) {
  Node node(3);
  announce(node, 1, 2);
  const PairLine& line = node.memory.parts.line(1, 2);
  for (std::uint32_t round = 1; round <= 10; ++round) {
    const std::size_t bytes = round % 2 == 0 ? 0 : kLinePayloadBytes - sizeof(std::uint64_t);
    BOOST_CHECK(node[1].send(2, bytes));
    BOOST_CHECK_EQUAL(line.turn.load(), 2 * round - 1);
    BOOST_CHECK(node[2].channel.has_messages() && !node[1].channel.has_messages());
    BOOST_CHECK(node[2].poll_box(1) && !node[2].poll());
    BOOST_CHECK(node[2].send(1, bytes));
    BOOST_CHECK_EQUAL(line.turn.load(), 2 * round);
    BOOST_CHECK(!node[2].poll() && node[1].poll_box(2));
  }
  BOOST_CHECK_EQUAL(node[1].bad + node[2].bad, 0U);
  BOOST_CHECK(node[1].channel.has_executed(2, 11) && node[2].channel.has_executed(1, 11));
  BOOST_CHECK(node[1].send(2, kLinePayloadBytes));  // does not fit
  BOOST_CHECK_EQUAL(line.turn.load(), 20U);
  BOOST_CHECK(node[2].poll_box(1));
}

BOOST_AUTO_TEST_CASE(a_pause_shrinks_by_one_step_and_grows_by_several_within_bounds) {
  BOOST_CHECK_EQUAL(pause_of(0), kLongestPause);
  PauseSteps steps = 0;
  for (int i = 0; i < 1000; ++i) steps = next_steps(steps, true);
  BOOST_CHECK_EQUAL(steps, kMostPauseSteps);
  BOOST_CHECK_LE(pause_of(steps), kLongestPause);
  BOOST_CHECK_EQUAL(next_steps(steps, false), kMostPauseSteps - kStepsBack);
  BOOST_CHECK_EQUAL(next_steps(1, false), 0);
  BOOST_CHECK_EQUAL(next_steps(0, false), 0);
  BOOST_CHECK_EQUAL(next_steps(next_steps(kStepsBack, true), false), 1);
}

// A look long after the message was written tells nothing; one that comes as soon as the pause has ended does.
BOOST_AUTO_TEST_CASE(first_looks_in_vain_make_the_pause_longer_again) {
  if (kLongestPause == 0) return;  // no counter of cycles here
  Node node(2);
  announce(node, 0, 1);
  ShmPeer& peer = node[0].peers[1];
  const auto look = [&](Cycles ago) {
    peer.in_line.written = (now_cycles() - ago) | 1;
    return node[0].channel.poll_box(1, [](const ShmMessage&) { return true; });
  };
  BOOST_CHECK(node[0].send(1, 8));
  peer.in_line.pause_steps = kMostPauseSteps;
  for (int i = 0; i < 100; ++i) BOOST_CHECK(!look(1'000'000'000));
  BOOST_CHECK_EQUAL(peer.in_line.pause_steps, kMostPauseSteps);
  // How long the call itself takes is not known, so ages of all lengths are tried; of some the pause ends in time.
  for (Cycles age = 0; age < 10'000'000 && peer.in_line.pause_steps != 0; age += 16)
    look(pause_of(peer.in_line.pause_steps) - age % 20'000);
  BOOST_CHECK_EQUAL(peer.in_line.pause_steps, 0);
}

BOOST_AUTO_TEST_CASE(turns_wrap) {
  Node node(2);
  announce(node, 0, 1);
  PairLine& line = node.memory.parts.line(0, 1);
  node[0].peers[1].in_line.turn = node[1].peers[0].in_line.turn = 0xfe;
  line.turn.store(0xfe);
  for (int round = 0; round < 3; ++round) {
    BOOST_CHECK(node[0].send(1, 8) && node[1].poll() && node[1].send(0, 8) && node[0].poll());
  }
  BOOST_CHECK_EQUAL(line.turn.load(), 4U);
  BOOST_CHECK_EQUAL(node[0].bad + node[1].bad, 0U);
}

// The other side takes the line only for messages that alternate.
BOOST_AUTO_TEST_CASE(a_stream_uses_the_line_once) {
  Node node(2);
  announce(node, 0, 1);
  const PairLine& line = node.memory.parts.line(0, 1);
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < kBoxSlots + 3; ++i) BOOST_CHECK(node[0].send(1, 8));
    while (node[1].poll()) continue;
    BOOST_CHECK_EQUAL(line.turn.load(), 1U);
  }
  BOOST_CHECK_EQUAL(node[1].received, 1 + 10 * (kBoxSlots + 3));
  BOOST_CHECK_EQUAL(node[1].bad, 0U);
}

BOOST_AUTO_TEST_CASE(a_reply_from_the_handler_leaves_the_request_intact) {
  Node node(2);
  announce(node, 0, 1);
  const std::vector<std::byte> request(kLinePayloadBytes, std::byte{0x11});
  const std::vector<std::byte> reply(kLinePayloadBytes, std::byte{0x22});
  BOOST_CHECK(node[0].channel.try_send_in_box(1, kNumbered, {}, request));
  std::size_t intact = 0;
  BOOST_CHECK(node[1].channel.poll_box(0, [&](const ShmMessage& message) {
    BOOST_CHECK(node[1].channel.try_send_in_box(0, kNumbered, {}, reply));
    for (const std::byte byte : message.payload) intact += byte == std::byte{0x11} ? 1 : 0;
    return true;
  }));
  BOOST_CHECK_EQUAL(intact, kLinePayloadBytes);
  BOOST_CHECK_EQUAL(node.memory.parts.line(0, 1).turn.load(), 2U);
  node[0].let_time_pass();
  const auto take = [&](Bytes payload) { return payload.size() == kLinePayloadBytes && payload[0] == std::byte{0x22}; };
  BOOST_CHECK((node[0].channel.take_next(1, kNumbered, take) == Taken::yes));
}

// Through the line and the box, as a message of its length and handler that the receiver expects.
BOOST_AUTO_TEST_CASE(a_word_is_sent_and_taken_at_once) {
  Node node(2);
  ShmChannel& sender = node[0].channel;
  ShmChannel& receiver = node[1].channel;
  std::uint64_t word = 0;
  const auto send = [&] {
    ++word;
    return sender.send_at_once(1, kNumbered, sizeof word, [&](std::byte* to) { std::memcpy(to, &word, sizeof word); });
  };
  std::uint64_t taken = 0;
  const auto take = [&](const std::byte* payload) {
    std::memcpy(&taken, payload, sizeof taken);
    return true;
  };
  BOOST_CHECK(send() == nullptr);  // it has no box yet
  announce(node, 0, 1);
  PairLine& line = node.memory.parts.line(0, 1);
  const MessageKind kind{kNumbered, 0, sizeof word};
  for (std::uint32_t round = 0; round < 3 * kBoxSlots; ++round) {
    BOOST_CHECK(send() == &sender.doorbell_of(1));
    BOOST_CHECK_EQUAL(line.turn.load(), 1U);  // the first one takes it
    BOOST_CHECK(receiver.take_at_once(0, {kNumbered + 1, 0, sizeof word}, take) == nullptr);
    BOOST_CHECK(receiver.take_at_once(0, {kNumbered, 0, sizeof word + 1}, take) == nullptr);
    BOOST_CHECK(receiver.take_at_once(0, kind, [](const std::byte*) { return false; }) == nullptr);
    BOOST_CHECK(receiver.take_at_once(0, kind, take) == &receiver.doorbell_of(0));
    BOOST_CHECK_EQUAL(taken, word);
    BOOST_CHECK(receiver.take_at_once(0, kind, take) == nullptr);
    BOOST_CHECK(sender.has_executed(1, sender.last_sent(1)));
  }
  for (std::uint32_t i = 0; i < kBoxSlots; ++i) BOOST_CHECK(send() != nullptr);
  BOOST_CHECK(send() == nullptr);  // the box is full
  while (receiver.take_at_once(0, kind, take) != nullptr) continue;
  BOOST_CHECK_EQUAL(taken, word - 1);
  node[0].unflushed.drop([&](int pe) { return sender.drop_if_flushed(pe); });
  BOOST_CHECK(send() == nullptr);  // the PE is to be listed again
  BOOST_CHECK(node[0].send(1, 8) && send() != nullptr);
}

// A side that has written to the line finds what lies in the box, in a pause or behind it, and later the reply.
BOOST_AUTO_TEST_CASE(a_side_that_has_written_takes_from_both) {
  Node node(2);
  announce(node, 0, 1);
  const auto take = [](const std::byte*) { return true; };
  const MessageKind kind{kNumbered, 0, 2 * sizeof(std::uint64_t)};
  const PairLine& line = node.memory.parts.line(0, 1);
  BOOST_CHECK(node[0].send(1, 8));
  BOOST_CHECK_EQUAL(line.turn.load(), 1U);
  BOOST_CHECK(node[1].send(0, 8));  // by the box, as it has not taken what lies in the line
  BOOST_CHECK(node[0].channel.take_at_once(1, kind, take) != nullptr);
  BOOST_CHECK(node[0].channel.take_at_once(1, kind, take) == nullptr);
  BOOST_CHECK(node[1].poll_box(0) && node[1].send(0, 8));
  BOOST_CHECK_EQUAL(line.turn.load(), 2U);
  node[0].let_time_pass();
  BOOST_CHECK(node[0].channel.take_at_once(1, kind, take) != nullptr);
  BOOST_CHECK(node[1].channel.has_executed(0, node[1].channel.last_sent(0)));
}

BOOST_AUTO_TEST_CASE(a_length_that_exceeds_the_line_ends_the_receiver) {
  const auto end = unit::in_child([] {
    Node node(2);
    announce(node, 0, 1);
    node[0].send(1, 8);
    PairLine& line = node.memory.parts.line(0, 1);
    line.head[2] = kNumbered | (kLinePayloadBytes + 1) << 16;
    node[1].poll();
    return 0;
  });
  BOOST_CHECK_NE(end.status, 0);
  BOOST_CHECK_MESSAGE(end.text.find("has 49 bytes, allowed are 48") != std::string::npos, end.text);
}

BOOST_AUTO_TEST_SUITE_END()
