#include "am/ack_tracker.hpp"

#include <boost/test/unit_test.hpp>
#include <utility>
#include <vector>

BOOST_AUTO_TEST_SUITE(am_ack_tracker)

namespace {

using namespace shmemx;
using am::AckTracker;

struct Fixture {
  Fixture() { acks.open(4); }
  bool send(AckTracker::Scope scope) {
    return acks.send(scope, [this](int pe, nemesis::Number executed) {
      if (pe == full) return false;
      sent.emplace_back(pe, executed);
      return true;
    });
  }
  AckTracker acks;
  int full = -1;
  std::vector<std::pair<int, nemesis::Number>> sent;
};

using Sent = std::vector<std::pair<int, nemesis::Number>>;
constexpr auto kAwaited = AckTracker::Scope::awaited;
constexpr auto kAll = AckTracker::Scope::all;

}  // namespace

BOOST_AUTO_TEST_CASE(a_counted_message_is_acknowledged_once) {
  Fixture f;
  BOOST_CHECK(f.acks.is_empty() && !f.send(kAll));
  BOOST_CHECK(f.acks.note_executed(2, true));
  BOOST_CHECK(!f.acks.note_executed(2, true));  // the same acknowledgement serves both
  BOOST_CHECK_EQUAL(f.acks.executed(2), 2u);
  BOOST_CHECK(f.send(kAwaited));
  BOOST_CHECK((f.sent == Sent{{2, 2}}));
  BOOST_CHECK(f.acks.is_empty() && !f.send(kAll));
  BOOST_CHECK(f.acks.note_executed(2, true));
}

BOOST_AUTO_TEST_CASE(an_acknowledgement_that_is_lost_leaves_once_more) {
  Fixture f;
  f.acks.note_executed(2, true);
  BOOST_CHECK(f.send(kAwaited));
  f.acks.note_lost(2);
  f.acks.note_lost(2);
  BOOST_CHECK(!f.acks.is_empty() && f.send(kAwaited));
  BOOST_CHECK((f.sent == Sent{{2, 1}, {2, 1}}));
  BOOST_CHECK(f.acks.is_empty() && !f.acks.has_any(kAwaited) && !f.send(kAll));
}

// A source that keeps its messages until then waits when its room is used up.
BOOST_AUTO_TEST_CASE(many_uncounted_messages_are_acknowledged_as_one_that_counts) {
  Fixture f;
  f.acks.open(4, {.messages = 3, .bytes = 1000});
  for (int round = 0; round < 2; ++round) {
    BOOST_CHECK(!f.acks.note_executed(2, false, 10) && !f.acks.note_executed(2, false, 10));
    BOOST_CHECK(!f.acks.has_any(kAwaited));
    BOOST_CHECK(f.acks.note_executed(2, false, 10));
    BOOST_CHECK(!f.acks.note_executed(2, false, 10));  // it is on its way
    BOOST_CHECK(f.send(kAwaited));
  }
  BOOST_CHECK(!f.acks.note_executed(2, false, 999));
  BOOST_CHECK(f.acks.note_executed(2, false, 1));
  f.acks.note_acknowledged(2);  // by a message
  BOOST_CHECK(!f.acks.note_executed(2, false, 999));
  BOOST_CHECK((f.sent == Sent{{2, 4}, {2, 8}}));
}

BOOST_AUTO_TEST_CASE(an_uncounted_message_is_acknowledged_with_all_only) {
  Fixture f;
  BOOST_CHECK(!f.acks.note_executed(1, false));
  BOOST_CHECK(f.acks.has_any(kAll) && !f.acks.has_any(kAwaited));
  BOOST_CHECK(!f.send(kAwaited));
  BOOST_CHECK(f.acks.note_executed(3, true));
  BOOST_CHECK(f.send(kAwaited));
  BOOST_CHECK((f.sent == Sent{{3, 1}}));
  BOOST_CHECK(f.send(kAll));
  BOOST_CHECK((f.sent == Sent{{3, 1}, {1, 1}}));
}

BOOST_AUTO_TEST_CASE(a_message_to_the_source_saves_the_acknowledgement) {
  Fixture f;
  f.acks.note_executed(1, true);
  f.acks.note_executed(3, true);
  f.acks.note_acknowledged(1);
  BOOST_CHECK(f.send(kAwaited));
  BOOST_CHECK((f.sent == Sent{{3, 1}}));
  BOOST_CHECK(f.acks.is_empty());
  f.acks.note_acknowledged(1);  // without anything new
  BOOST_CHECK(!f.acks.has_any(kAwaited));
}

BOOST_AUTO_TEST_CASE(sources_without_room_stay) {
  Fixture f;
  f.full = 1;
  f.acks.note_executed(1, true);
  f.acks.note_executed(2, true);
  BOOST_CHECK(f.send(kAll));
  BOOST_CHECK((f.sent == Sent{{2, 1}}));
  BOOST_CHECK(f.acks.any_awaited([](int pe) { return pe == 1; }));
  BOOST_CHECK(!f.acks.any_awaited([](int pe) { return pe == 2; }));
  BOOST_CHECK(f.acks.has_any(kAwaited) && !f.send(kAwaited));
  f.full = -1;
  f.acks.note_executed(3, false);
  BOOST_CHECK(!f.acks.any_awaited([](int pe) { return pe == 3; }));  // nobody waits for uncounted messages
  f.acks.note_executed(1, false);
  BOOST_CHECK(f.send(kAwaited));
  BOOST_CHECK((f.sent == Sent{{2, 1}, {1, 2}}));
}

// Numbers that are equal in their low 16 bits are different PEs.
BOOST_AUTO_TEST_CASE(a_world_of_millions) {
  Fixture f;
  f.acks.open(std::size_t{1} << 22);
  for (const int pe : {5, 65'536 + 5, (1 << 20) + 5}) f.acks.note_executed(pe, true);
  f.acks.note_executed((1 << 20) + 5, true);
  BOOST_CHECK(f.send(kAwaited));
  BOOST_CHECK((f.sent == Sent{{5, 1}, {65'536 + 5, 1}, {(1 << 20) + 5, 2}}));
  BOOST_CHECK(f.acks.is_empty());
}

BOOST_AUTO_TEST_SUITE_END()
