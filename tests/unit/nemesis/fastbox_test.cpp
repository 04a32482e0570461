#include "nemesis/fastbox.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <deque>
#include <memory>
#include <random>

BOOST_AUTO_TEST_SUITE(nemesis_fastbox)

namespace {

using namespace shmemx::nemesis;
using shmemx::kCacheLine;

// One ordered pair: a box beside something that keeps order, as the receive queue does for one source.
struct Pair {
  std::unique_ptr<Fastbox> box = std::make_unique<Fastbox>();
  Consumed consumed{};
  BoxWriter writer;
  BoxReader reader;
  Number known = 0;
  Number sent = 0;
  Number received = 0;
  std::deque<Number> queue;

  explicit Pair(Number start = 0) : known(start), sent(start), received(start) {
    consumed.count.store(start);
    // As if all slots had been used shortly before.
    for (std::size_t i = 0; i < kBoxSlots; ++i) {
      writer.in_slot[i] = start;
      reader.taken[i] = start;
      box->slots[i].number.store(start);
    }
  }

  bool send_in_box() {
    BoxSlot* const slot = writer.try_claim(*box, consumed, known);
    if (slot == nullptr) return false;
    ++sent;
    std::memcpy(slot->payload, &sent, sizeof sent);
    writer.publish(*slot, sent);
    return true;
  }
  void send_in_queue() { queue.push_back(++sent); }

  void count() { consumed.count.store(++received); }
  // False: there is nothing. The message's content is its number.
  bool receive_from_box() {
    BoxSlot* const slot = reader.find(*box, received + 1);
    if (slot == nullptr) return false;
    Number content;
    std::memcpy(&content, slot->payload, sizeof content);
    BOOST_REQUIRE_EQUAL(content, received + 1);
    reader.release(received + 1);
    count();
    return true;
  }
  bool receive_from_queue() {
    if (queue.empty() || queue.front() != received + 1) return false;
    queue.pop_front();
    count();
    return true;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(number_and_start_of_the_content_share_a_line) {
  const BoxSlot slot{};
  BOOST_CHECK_EQUAL(sizeof(BoxSlot), 2 * kCacheLine);
  BOOST_CHECK_EQUAL(alignof(BoxSlot), kCacheLine);
  BOOST_CHECK_EQUAL(offsetof(BoxSlot, number), 0U);
  BOOST_CHECK_EQUAL(offsetof(BoxSlot, payload), 16U);
  BOOST_CHECK_EQUAL(sizeof slot.payload, kBoxPayloadBytes);
  BOOST_CHECK_EQUAL(sizeof(Fastbox), kBoxSlots * sizeof(BoxSlot));
  BOOST_CHECK_EQUAL(sizeof(Consumed), kCacheLine);
}

BOOST_AUTO_TEST_CASE(numbers_compare_across_their_end) {
  BOOST_CHECK(reached(5, 5) && reached(6, 5) && !reached(5, 6));
  BOOST_CHECK(reached(0, 0xffffffff) && reached(100, 0xfffffff0));
  BOOST_CHECK(!reached(0xffffffff, 0) && !reached(0xfffffff0, 100));
}

BOOST_AUTO_TEST_CASE(a_box_of_zeros_holds_no_message) {
  Pair pair;
  for (const Number number : {0U, 1U, 2U, 0xffffffffU}) BOOST_CHECK(pair.reader.find(*pair.box, number) == nullptr);
}

BOOST_AUTO_TEST_CASE(all_slots_take_a_message_and_the_next_has_to_go_elsewhere) {
  for (const Number start : {0U, 0xfffffffeU}) {
    Pair pair(start);
    for (std::size_t i = 0; i < kBoxSlots; ++i) BOOST_CHECK(pair.send_in_box());
    BOOST_CHECK(!pair.send_in_box());
    BOOST_CHECK(pair.receive_from_box());
    BOOST_CHECK(pair.send_in_box());  // learns it from `consumed`
    BOOST_CHECK(!pair.send_in_box());
    for (std::size_t i = 0; i < kBoxSlots; ++i) BOOST_CHECK(pair.receive_from_box());
    BOOST_CHECK(!pair.receive_from_box());
    BOOST_CHECK_EQUAL(pair.received, pair.sent);
  }
}

BOOST_AUTO_TEST_CASE(the_sender_looks_only_when_it_does_not_know_better) {
  Pair pair;
  for (std::size_t i = 0; i < kBoxSlots; ++i) BOOST_CHECK(pair.send_in_box());
  BOOST_CHECK_EQUAL(pair.known, 0U);
  pair.known = kBoxSlots;  // came with a message; `consumed` itself still says 0
  for (std::size_t i = 0; i < kBoxSlots; ++i) BOOST_CHECK(pair.send_in_box());
  BOOST_CHECK_EQUAL(pair.known, kBoxSlots);
}

BOOST_AUTO_TEST_CASE(box_and_queue_keep_one_order) {
  for (const Number start : {0U, 0xffffffffU - 3000U, 0x7fffffffU - 3000U}) {
    Pair pair(start);
    std::minstd_rand random(3);
    int by_box = 0;
    for (int step = 0; step < 20000; ++step) {
      switch (random() % 4) {
        case 0:
          if (pair.send_in_box()) ++by_box;
          break;
        case 1:
          if (pair.sent - pair.received < 12) pair.send_in_queue();
          break;
        // One of both may hold a later message only: then it must not be taken.
        case 2:
          pair.receive_from_box();
          break;
        default:
          pair.receive_from_queue();
          break;
      }
    }
    while (pair.receive_from_box() || pair.receive_from_queue()) continue;
    BOOST_CHECK_EQUAL(pair.received, pair.sent);
    BOOST_CHECK_GT(by_box, 1000);
  }
}

BOOST_AUTO_TEST_CASE(a_message_that_was_taken_is_not_taken_for_one_of_the_same_number) {
  Pair pair;
  BOOST_CHECK(pair.send_in_box());
  BOOST_CHECK(pair.receive_from_box());
  // All slots but the first are skipped: 2^32 - 1 messages went by the queue.
  pair.writer.turn = pair.reader.turn = kBoxSlots;
  pair.sent = pair.received = 0;
  BOOST_CHECK(pair.reader.find(*pair.box, 1) == nullptr);
  // The sender does not put such a message there: the reader would not see it.
  pair.known = 0;
  pair.consumed.count.store(0);
  BOOST_CHECK(!pair.send_in_box());
  // A message later the slot may be used.
  pair.sent = pair.received = pair.known = 1;
  pair.consumed.count.store(1);
  BOOST_CHECK(pair.send_in_box());
  BOOST_CHECK(pair.receive_from_box());
}

BOOST_AUTO_TEST_CASE(a_slot_is_passed_over_while_its_last_message_may_look_like_a_coming_one) {
  Pair pair;
  pair.writer.in_slot[0] = 10;
  Number known = 10 + 0x7fffffffU;
  pair.consumed.count.store(known);
  BOOST_CHECK(pair.writer.try_claim(*pair.box, pair.consumed, known) != nullptr);
  known = 10 + 0x80000000U;
  pair.consumed.count.store(known);
  BOOST_CHECK(pair.writer.try_claim(*pair.box, pair.consumed, known) == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
