#include "am/trials.hpp"

#include <array>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "noted_network.hpp"

namespace {

using namespace shmemx;
using am::kPathProbe;
using am::kPathProbeReply;
using am::Trials;

using unit::NotedNetwork;
using unit::SentHead;

constexpr std::uint32_t kNever = 1'000'000;

struct Fixture {
  explicit Fixture(std::uint32_t limit_ms = kNever) {
    const std::array<transport::Transport*, 3> networks{&a, &b, &c};
    trials.open(networks, via.data(), reach.data(), via.size(), limit_ms);
  }
  bool is_lost(int pe, unsigned network) { return trials.is_end(pe, network, cause = "it is cut"); }

  // PE 0 is this one; 1 has one way only; 2 has the first and the last; 3 to 6 have all.
  static constexpr unsigned kA = 0, kB = 1, kC = 2;
  std::array<std::uint8_t, 7> via{0, 2, 1, 1, 1, 1, 1};
  std::array<std::uint8_t, 7> reach{0, 2, 5, 7, 7, 7, 7};
  NotedNetwork a{"a"}, b{"b"}, c{"c"};
  Trials trials;
  std::string cause;
};

using Sent = std::vector<SentHead>;

}  // namespace

BOOST_AUTO_TEST_SUITE(am_trials)

BOOST_AUTO_TEST_CASE(the_only_way_needs_no_trial) {
  Fixture f;
  BOOST_CHECK(f.trials.have_passed(1));
  BOOST_CHECK(f.b.sent.empty());
  BOOST_CHECK(f.is_lost(1, Fixture::kB));
  BOOST_CHECK_EQUAL(f.cause, "it is cut");
}

BOOST_AUTO_TEST_CASE(without_choice_a_loss_is_the_end) {
  NotedNetwork only("only");
  transport::Transport* const networks[] = {&only};
  std::uint8_t via[] = {0, 1};
  const std::uint8_t reach[] = {0, 1};
  Trials trials;
  trials.open(networks, via, reach, 2, kNever);
  std::string cause = "it is cut";
  BOOST_CHECK(trials.have_passed(1));
  BOOST_CHECK(trials.is_end(1, 0, cause));
}

BOOST_AUTO_TEST_CASE(one_question_and_its_answer) {
  Fixture f;
  BOOST_CHECK(!f.trials.have_passed(3));
  BOOST_CHECK(!f.trials.have_passed(3));
  BOOST_CHECK((f.a.sent == Sent{{3, kPathProbe}}));
  f.trials.take(3, Fixture::kB, kPathProbeReply);  // over another network: that is not what was asked
  BOOST_CHECK(!f.trials.have_passed(3));
  f.trials.take(3, Fixture::kA, kPathProbeReply);
  BOOST_CHECK(f.trials.have_passed(3));
  BOOST_CHECK_EQUAL(f.via[3], 1);
  BOOST_CHECK(f.is_lost(3, Fixture::kA));
}

BOOST_AUTO_TEST_CASE(a_late_answer_counts) {
  Fixture f(1);
  BOOST_CHECK(!f.trials.have_passed(3));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  f.trials.go_on();
  BOOST_CHECK_EQUAL(f.via[3], 2);
  f.trials.take(3, Fixture::kC, kPathProbeReply);  // was not asked
  BOOST_CHECK(!f.trials.have_passed(3));
  f.trials.take(3, Fixture::kA, kPathProbeReply);
  BOOST_CHECK(f.trials.have_passed(3));
  BOOST_CHECK_EQUAL(f.via[3], 1);
  f.trials.take(3, Fixture::kB, kPathProbeReply);  // too late: messages are on their way over the other
  BOOST_CHECK_EQUAL(f.via[3], 1);
}

// A network loses a PE once only: it would never say so again.
BOOST_AUTO_TEST_CASE(a_network_that_has_lost_a_pe_is_not_tried) {
  Fixture f;
  BOOST_CHECK(!f.trials.have_passed(3));
  BOOST_CHECK(!f.is_lost(3, Fixture::kC));
  BOOST_CHECK(!f.is_lost(3, Fixture::kA));
  BOOST_CHECK(f.is_lost(3, Fixture::kB));
  BOOST_CHECK_EQUAL(f.cause, "c: it is cut; a: it is cut; b: it is cut");
  BOOST_CHECK(f.c.sent.empty());
}

BOOST_AUTO_TEST_CASE(a_full_network_is_asked_again) {
  Fixture f;
  f.a.is_full = true;
  BOOST_CHECK(!f.trials.have_passed(3));
  f.trials.take(4, Fixture::kA, kPathProbe);
  f.trials.go_on();
  BOOST_CHECK(f.a.sent.empty());
  f.a.is_full = false;
  f.trials.go_on();
  f.trials.go_on();
  BOOST_CHECK((f.a.sent == Sent{{4, kPathProbeReply}, {3, kPathProbe}}));
}

BOOST_AUTO_TEST_CASE(questions_are_answered_where_they_came) {
  Fixture f;
  f.trials.take(3, Fixture::kC, kPathProbe);
  BOOST_CHECK((f.c.sent == Sent{{3, kPathProbeReply}}));
  BOOST_CHECK(!f.trials.have_passed(3));  // that one leads here; what leads there is another question
}

BOOST_AUTO_TEST_CASE(the_next_network_takes_over_and_the_last_one_tells_all) {
  Fixture f;
  BOOST_CHECK(!f.trials.have_passed(2));
  BOOST_CHECK(!f.is_lost(2, Fixture::kA));
  BOOST_CHECK_EQUAL(f.via[2], 3);  // the one between does not reach it
  BOOST_CHECK((f.c.sent == Sent{{2, kPathProbe}}));
  BOOST_CHECK(f.b.sent.empty());
  BOOST_CHECK(!f.trials.have_passed(2));
  BOOST_CHECK(f.is_lost(2, Fixture::kC));
  BOOST_CHECK_EQUAL(f.cause, "a: it is cut; c: it is cut");
}

BOOST_AUTO_TEST_CASE(silence_gives_way_to_the_next_but_for_the_last) {
  Fixture f(1);
  BOOST_CHECK(!f.trials.have_passed(2));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  f.trials.go_on();
  BOOST_CHECK((f.c.sent == Sent{{2, kPathProbe}}));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  f.trials.go_on();
  BOOST_CHECK_EQUAL(f.via[2], 3);
  f.trials.take(2, Fixture::kC, kPathProbeReply);
  BOOST_CHECK(f.trials.have_passed(2));
}

BOOST_AUTO_TEST_CASE(what_nobody_uses_may_be_lost) {
  Fixture f;
  f.trials.have_passed(3);
  f.trials.take(3, Fixture::kA, kPathProbeReply);
  BOOST_CHECK(!f.is_lost(3, Fixture::kB));
  f.trials.note(3, Fixture::kB);  // the other side does use it
  BOOST_CHECK(f.is_lost(3, Fixture::kB));
}

// Who has only asked, and who has spoken: the first may have found another way, the second is gone.
BOOST_AUTO_TEST_CASE(a_pe_that_nobody_has_written_to) {
  Fixture f;
  f.trials.take(3, Fixture::kA, kPathProbe);
  f.a.sent.clear();
  BOOST_CHECK(!f.is_lost(3, Fixture::kA));
  BOOST_CHECK((f.b.sent == Sent{{3, kPathProbe}}));  // is it still there?
  f.trials.take(4, Fixture::kC, kPathProbe);
  BOOST_CHECK(!f.is_lost(4, Fixture::kC));
  BOOST_CHECK((f.a.sent == Sent{{4, kPathProbe}}));
  f.trials.note(5, Fixture::kA);
  BOOST_CHECK(f.is_lost(5, Fixture::kA));
}

BOOST_AUTO_TEST_CASE(a_network_that_leads_nowhere_is_left_out) {
  Fixture f;
  for (const int pe : {3, 4}) {
    BOOST_CHECK(!f.trials.have_passed(pe));
    BOOST_CHECK(!f.is_lost(pe, Fixture::kA));
  }
  f.a.sent.clear();
  f.b.sent.clear();
  BOOST_CHECK(!f.trials.have_passed(5));
  BOOST_CHECK(f.a.sent.empty());
  BOOST_CHECK((f.b.sent == Sent{{5, kPathProbe}}));
  f.trials.take(3, Fixture::kB, kPathProbeReply);
  for (const int pe : {4, 5}) BOOST_CHECK(!f.is_lost(pe, Fixture::kB));
  BOOST_CHECK(!f.trials.have_passed(6));
  BOOST_CHECK_EQUAL(f.via[6], 2);  // that one has led somewhere
}

BOOST_AUTO_TEST_SUITE_END()
