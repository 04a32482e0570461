#include "am/reply_queue.hpp"

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <set>
#include <vector>

BOOST_AUTO_TEST_SUITE(am_reply_queue)

namespace {

using namespace shmemx;
using am::Bytes;
using am::OutgoingMessage;
using am::ReplyQueue;

// A network of PEs that take messages or do not, and what they have taken.
struct Targets {
  struct Taken {
    int pe;
    std::uint64_t number;
    bool operator==(const Taken&) const = default;
  };

  std::set<int> stalled;
  std::size_t room = ~std::size_t{0};  // messages that all of them together still take
  std::vector<Taken> taken;
  std::vector<const std::byte*> payloads;

  bool operator()(const OutgoingMessage& reply) {
    if (room == 0 || stalled.contains(reply.pe)) return false;
    --room;
    std::uint64_t number = 0;
    std::memcpy(&number, reply.header.data(), sizeof number);
    taken.push_back({reply.pe, number});
    payloads.push_back(reply.payload.data());
    return true;
  }
};

struct Fixture {
  explicit Fixture(std::size_t limit_bytes = std::size_t{1} << 20) : queue(limit_bytes) {}

  // The header lives for the call only, as that of a handler.
  bool send(int pe, std::uint64_t number, Bytes payload = {}, bool lasting = false) {
    std::uint64_t header = number;
    const OutgoingMessage reply{.pe = pe,
                                .handler = am::kReply,
                                .header = std::as_bytes(std::span(&header, 1)),
                                .payload = payload,
                                .lifetime = {.until_flush = lasting}};
    const bool accepted = queue.send(reply, targets);
    header = ~std::uint64_t{0};
    return accepted;
  }
  bool send_kept() { return queue.send_kept(targets); }

  Targets targets;
  ReplyQueue queue;
};

using Taken = std::vector<Targets::Taken>;

}  // namespace

BOOST_AUTO_TEST_CASE(a_message_leaves_at_once_where_there_is_room) {
  Fixture f;
  BOOST_CHECK(f.send(3, 1));
  BOOST_CHECK((f.targets.taken == Taken{{3, 1}}));
  BOOST_CHECK(f.queue.is_empty());
  BOOST_CHECK_EQUAL(f.queue.bytes(), 0u);
  BOOST_CHECK(!f.send_kept());
}

BOOST_AUTO_TEST_CASE(messages_to_one_pe_keep_their_order) {
  Fixture f;
  f.targets.stalled = {1};
  BOOST_CHECK(f.send(1, 1));
  BOOST_CHECK(f.send(1, 2));
  f.targets.stalled.clear();
  BOOST_CHECK(f.send(1, 3));  // there would be room, but two others wait
  BOOST_CHECK(f.targets.taken.empty());
  BOOST_CHECK(f.send_kept());
  BOOST_CHECK((f.targets.taken == Taken{{1, 1}, {1, 2}, {1, 3}}));
  BOOST_CHECK(f.queue.is_empty());
}

BOOST_AUTO_TEST_CASE(a_stalled_target_holds_up_no_other_one) {
  Fixture f;
  f.targets.stalled = {1, 2};
  for (std::uint64_t i = 1; i <= 3; ++i) {
    for (int pe = 0; pe < 4; ++pe) BOOST_CHECK(f.send(pe, i));
  }
  BOOST_CHECK((f.targets.taken == Taken{{0, 1}, {3, 1}, {0, 2}, {3, 2}, {0, 3}, {3, 3}}));
  f.targets.taken.clear();
  BOOST_CHECK(!f.send_kept());
  f.targets.stalled = {1};
  BOOST_CHECK(f.send_kept());
  BOOST_CHECK((f.targets.taken == Taken{{2, 1}, {2, 2}, {2, 3}}));
  BOOST_CHECK(!f.queue.is_empty());
}

BOOST_AUTO_TEST_CASE(a_list_that_is_sent_in_part_keeps_its_order) {
  Fixture f;
  f.targets.room = 0;
  for (std::uint64_t i = 1; i <= 4; ++i) BOOST_CHECK(f.send(5, i));
  f.targets.room = 2;
  BOOST_CHECK(f.send_kept());
  BOOST_CHECK(f.send(5, 5));
  f.targets.room = 3;
  BOOST_CHECK(f.send_kept());
  BOOST_CHECK((f.targets.taken == Taken{{5, 1}, {5, 2}, {5, 3}, {5, 4}, {5, 5}}));
}

BOOST_AUTO_TEST_CASE(the_bound_is_kept_and_reported) {
  Fixture f(4096);
  f.targets.stalled = {1};
  std::uint64_t accepted = 0;
  while (f.send(1, accepted + 1)) ++accepted;
  BOOST_CHECK_GT(accepted, 1u);
  BOOST_CHECK_LE(f.queue.bytes(), f.queue.limit_bytes());
  BOOST_CHECK(f.send(2, 1));  // needs no memory
  f.targets.stalled.clear();
  BOOST_CHECK(f.send_kept());
  BOOST_CHECK_EQUAL(f.targets.taken.size(), accepted + 1);
  BOOST_CHECK_EQUAL(f.queue.bytes(), 0u);
  BOOST_CHECK(f.send(1, 100));  // there is room again
}

// As a program does that sends by itself while replies of its handlers wait.
BOOST_AUTO_TEST_CASE(direct_sends_may_overtake_but_replies_stay_in_order) {
  Fixture f;
  f.targets.stalled = {1};
  BOOST_CHECK(f.send(1, 1));
  f.targets.stalled.clear();
  std::uint64_t number = 100;
  const OutgoingMessage direct{.pe = 1, .handler = am::kActive, .header = std::as_bytes(std::span(&number, 1))};
  BOOST_CHECK(f.targets(direct));
  BOOST_CHECK(f.send(1, 2));
  BOOST_CHECK(f.send_kept());
  number = 101;
  BOOST_CHECK(f.targets(direct));
  BOOST_CHECK((f.targets.taken == Taken{{1, 100}, {1, 1}, {1, 2}, {1, 101}}));
}

BOOST_AUTO_TEST_CASE(a_payload_is_copied_unless_it_lasts) {
  Fixture f;
  f.targets.stalled = {1};
  const std::vector<std::byte> payload(1000, std::byte{7});
  BOOST_CHECK(f.send(1, 1, payload, true));
  const std::size_t bytes = f.queue.bytes();
  BOOST_CHECK_LT(bytes, payload.size());
  BOOST_CHECK(f.send(1, 2, payload));
  BOOST_CHECK_EQUAL(f.queue.bytes(), 2 * bytes + payload.size());
  f.targets.stalled.clear();
  BOOST_CHECK(f.send_kept());
  BOOST_REQUIRE_EQUAL(f.targets.payloads.size(), 2u);
  BOOST_CHECK(f.targets.payloads[0] == payload.data());
  BOOST_CHECK(f.targets.payloads[1] != payload.data());
}

BOOST_AUTO_TEST_CASE(it_tells_whose_messages_wait) {
  Fixture f;
  BOOST_CHECK(!f.queue.holds(am::kReply));
  f.targets.stalled = {1};
  BOOST_CHECK(f.send(1, 1));
  BOOST_CHECK(f.queue.holds(am::kReply));
  BOOST_CHECK(!f.queue.holds(am::kPut));
}

BOOST_AUTO_TEST_SUITE_END()
