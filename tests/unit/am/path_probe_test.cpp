#include "am/path_probe.hpp"

#include <array>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <thread>

#include "../../support/fake_transport.hpp"

BOOST_AUTO_TEST_SUITE(am_path_probe)

namespace {

using namespace shmemx;
using am::kPathProbe;
using am::kPathProbeReply;
using am::PathProbe;

using test_support::FakeTransport;
using test_support::SentMessage;

constexpr std::uint32_t kNever = 1'000'000;

struct Fixture {
  explicit Fixture(std::uint32_t limit_ms = kNever, bool resumes = true) {
    a.can.resumes = b.can.resumes = resumes;
    const std::array<transport::Transport*, 3> networks{&a, &b, &c};
    probe.open(
        {networks, route.data(), [](int pe) { return kPaths[static_cast<std::size_t>(pe)]; }, route.size(), limit_ms});
  }
  bool is_lost(int pe, unsigned network) { return probe.is_lost(pe, network, cause = "it is cut"); }

  bool receive(int pe, unsigned network, am::HandlerId kind, transport::Bytes content = {}) {
    return probe.receive(pe, network, kind, content, cause);
  }

  // Sends what is behind at once. Returns how many messages the PEs said they had.
  std::vector<std::uint64_t> resume() {
    std::vector<std::uint64_t> counts;
    probe.resume([&](int, std::uint64_t received, bool) {
      counts.push_back(received);
      return true;
    });
    return counts;
  }

  // PE 0 is this one; 1 has one path only; 2 has the first and the last; 3 to 6 have all.
  static constexpr unsigned kA = 0, kB = 1, kC = 2;
  std::array<std::uint8_t, 7> route{am::kNodeRoute};
  static constexpr std::array<std::uint8_t, 7> kPaths{0, 2, 5, 7, 7, 7, 7};
  FakeTransport a{"a"}, b{"b"}, c{"c"};
  PathProbe probe;
  std::string cause;
};

using Sent = std::vector<SentMessage>;
using Counts = std::vector<std::uint64_t>;

// What a PE says: how many messages it has had, and over which network it has lost this PE.
struct Note {
  am::PathNote note{};
  Note(std::uint64_t received, const char* lost) {
    note.received = received;
    std::strncpy(note.lost_over[0], lost, sizeof note.lost_over[0]);
  }
  transport::Bytes bytes() const { return std::as_bytes(std::span(&note, 1)); }
};
Note note_in(const FakeTransport& network) {
  Note note(0, "");
  std::memcpy(&note.note, network.contents.back().data(), sizeof note.note);
  return note;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_only_path_needs_no_probe) {
  Fixture f;
  BOOST_CHECK(f.probe.has_path(1));
  BOOST_CHECK_EQUAL(f.route[1], Fixture::kB);
  BOOST_CHECK(f.b.sent.empty());
  BOOST_CHECK(f.is_lost(1, Fixture::kB));
  BOOST_CHECK_EQUAL(f.cause, "it is cut");
}

BOOST_AUTO_TEST_CASE(without_choice_a_loss_is_the_end) {
  FakeTransport only("only");
  transport::Transport* const networks[] = {&only};
  std::uint8_t route[] = {am::kNodeRoute, 0};
  PathProbe probe;
  probe.open({networks, route, [](int) { return std::uint8_t{1}; }, 2, kNever});
  std::string cause = "it is cut";
  BOOST_CHECK(probe.has_path(1));
  BOOST_CHECK(probe.is_lost(1, 0, cause));
}

BOOST_AUTO_TEST_CASE(one_request_and_its_reply) {
  Fixture f;
  BOOST_CHECK(!f.probe.has_path(3));
  BOOST_CHECK(!f.probe.has_path(3));
  BOOST_CHECK((f.a.sent == Sent{{3, kPathProbe}}));
  f.receive(3, Fixture::kB, kPathProbeReply);  // over another network than the request
  BOOST_CHECK(!f.probe.has_path(3));
  f.receive(3, Fixture::kA, kPathProbeReply);
  BOOST_CHECK(f.probe.has_path(3));
  BOOST_CHECK_EQUAL(f.route[3], Fixture::kA);
  BOOST_CHECK(f.is_lost(3, Fixture::kA));
}

BOOST_AUTO_TEST_CASE(a_late_reply_counts) {
  Fixture f(1);
  BOOST_CHECK(!f.probe.has_path(3));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  f.probe.progress();
  BOOST_CHECK_EQUAL(f.route[3], Fixture::kB);
  f.receive(3, Fixture::kC, kPathProbeReply);  // no request has left over it
  BOOST_CHECK(!f.probe.has_path(3));
  f.receive(3, Fixture::kA, kPathProbeReply);
  BOOST_CHECK(f.probe.has_path(3));
  BOOST_CHECK_EQUAL(f.route[3], Fixture::kA);
  f.receive(3, Fixture::kB, kPathProbeReply);  // too late: messages are under way over the other
  BOOST_CHECK_EQUAL(f.route[3], Fixture::kA);
}

// A network loses a PE once only: it would never say so again.
BOOST_AUTO_TEST_CASE(a_network_that_has_lost_a_pe_is_not_probed) {
  Fixture f;
  BOOST_CHECK(!f.probe.has_path(3));
  BOOST_CHECK(!f.is_lost(3, Fixture::kC));
  BOOST_CHECK(!f.is_lost(3, Fixture::kA));
  BOOST_CHECK(f.is_lost(3, Fixture::kB));
  BOOST_CHECK_EQUAL(f.cause, "c: it is cut; a: it is cut; b: it is cut");
  BOOST_CHECK(f.c.sent.empty());
}

BOOST_AUTO_TEST_CASE(a_full_network_is_probed_again) {
  Fixture f;
  f.a.is_full = true;
  BOOST_CHECK(!f.probe.has_path(3));
  f.receive(4, Fixture::kA, kPathProbe);
  f.probe.progress();
  BOOST_CHECK(f.a.sent.empty());
  f.a.is_full = false;
  f.probe.progress();
  f.probe.progress();
  BOOST_CHECK((f.a.sent == Sent{{4, kPathProbeReply}, {3, kPathProbe}}));
}

BOOST_AUTO_TEST_CASE(requests_are_answered_over_the_network_that_brought_them) {
  Fixture f;
  f.receive(3, Fixture::kC, kPathProbe);
  BOOST_CHECK((f.c.sent == Sent{{3, kPathProbeReply}}));
  BOOST_CHECK(!f.probe.has_path(3));  // that one leads here, which says nothing about the other direction
}

BOOST_AUTO_TEST_CASE(the_next_network_takes_over_and_the_cause_names_all) {
  Fixture f;
  BOOST_CHECK(!f.probe.has_path(2));
  BOOST_CHECK(!f.is_lost(2, Fixture::kA));
  BOOST_CHECK_EQUAL(f.route[2], Fixture::kC);  // the one between does not lead there
  BOOST_CHECK((f.c.sent == Sent{{2, kPathProbe}}));
  BOOST_CHECK(f.b.sent.empty());
  BOOST_CHECK(!f.probe.has_path(2));
  BOOST_CHECK(f.is_lost(2, Fixture::kC));
  BOOST_CHECK_EQUAL(f.cause, "a: it is cut; c: it is cut");
}

BOOST_AUTO_TEST_CASE(a_silent_network_is_replaced_but_for_the_last) {
  Fixture f(1);
  BOOST_CHECK(!f.probe.has_path(2));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  f.probe.progress();
  BOOST_CHECK((f.c.sent == Sent{{2, kPathProbe}}));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  f.probe.progress();
  BOOST_CHECK_EQUAL(f.route[2], Fixture::kC);
  f.receive(2, Fixture::kC, kPathProbeReply);
  BOOST_CHECK(f.probe.has_path(2));
}

BOOST_AUTO_TEST_CASE(a_network_that_nobody_uses_may_lose_the_pe) {
  Fixture f;
  f.probe.has_path(3);
  f.receive(3, Fixture::kA, kPathProbeReply);
  BOOST_CHECK(!f.is_lost(3, Fixture::kB));
  f.probe.note_message(3, Fixture::kB, true);  // the other side does use it
  BOOST_CHECK(f.is_lost(3, Fixture::kB));
}

// A PE that has sent a probe only may have found another path; one that has sent messages is gone.
BOOST_AUTO_TEST_CASE(a_pe_that_has_received_nothing) {
  Fixture f;
  f.receive(3, Fixture::kA, kPathProbe);
  f.a.sent.clear();
  BOOST_CHECK(!f.is_lost(3, Fixture::kA));
  BOOST_CHECK((f.b.sent == Sent{{3, kPathProbe}}));  // is it still there?
  f.receive(4, Fixture::kC, kPathProbe);
  BOOST_CHECK(!f.is_lost(4, Fixture::kC));
  BOOST_CHECK((f.a.sent == Sent{{4, kPathProbe}}));
  f.probe.note_message(5, Fixture::kA, true);
  BOOST_CHECK(f.is_lost(5, Fixture::kA));
}

BOOST_AUTO_TEST_CASE(a_network_that_leads_nowhere_is_left_out) {
  Fixture f;
  for (const int pe : {3, 4}) {
    BOOST_CHECK(!f.probe.has_path(pe));
    BOOST_CHECK(!f.is_lost(pe, Fixture::kA));
  }
  f.a.sent.clear();
  f.b.sent.clear();
  BOOST_CHECK(!f.probe.has_path(5));
  BOOST_CHECK(f.a.sent.empty());
  BOOST_CHECK((f.b.sent == Sent{{5, kPathProbe}}));
  f.receive(3, Fixture::kB, kPathProbeReply);
  for (const int pe : {4, 5}) BOOST_CHECK(!f.is_lost(pe, Fixture::kB));
  BOOST_CHECK(!f.probe.has_path(6));
  BOOST_CHECK_EQUAL(f.route[6], Fixture::kB);  // that one has led somewhere
}

BOOST_AUTO_TEST_CASE(the_next_network_follows_one_that_fails_with_messages_under_way) {
  Fixture f(kNever, false);
  f.probe.has_path(3);
  f.receive(3, Fixture::kA, kPathProbeReply);
  BOOST_CHECK(f.probe.needs_kept(3));
  f.probe.note_message(3, Fixture::kA, true);
  f.probe.note_message(3, Fixture::kA, false);  // not numbered
  f.a.is_quiet = false;
  BOOST_CHECK(!f.is_lost(3, Fixture::kA));
  BOOST_CHECK(!f.probe.is_open(3));
  BOOST_CHECK((f.b.sent == Sent{{3, kPathProbe}}));
  BOOST_CHECK_EQUAL(note_in(f.b).note.received, 1u);
  BOOST_CHECK_EQUAL(note_in(f.b).note.lost_over[0], "a");
  f.receive(3, Fixture::kB, kPathProbeReply, Note(5, "").bytes());
  BOOST_CHECK(f.resume().empty());  // the first one still uses memory
  BOOST_CHECK(f.a.is_abandoned && f.probe.is_busy() && !f.probe.has_path(3));
  f.a.is_quiet = true;
  BOOST_CHECK(f.resume() == Counts{5});
  BOOST_CHECK(f.probe.has_path(3) && f.probe.has_followed(3) && !f.probe.is_busy());
  BOOST_CHECK_EQUAL(f.route[3], Fixture::kB);
  BOOST_CHECK(!f.is_lost(3, Fixture::kB));  // and so again
  f.receive(3, Fixture::kC, kPathProbeReply, Note(7, "").bytes());
  BOOST_CHECK(f.resume() == Counts{7});
  BOOST_CHECK(!f.probe.needs_kept(3));  // no other one is left
  BOOST_CHECK(f.is_lost(3, Fixture::kC));
  BOOST_CHECK_EQUAL(f.cause, "a: it is cut; b: it is cut; c: it is cut");
}

BOOST_AUTO_TEST_CASE(a_pe_gives_up_the_network_that_the_other_side_has_lost) {
  Fixture f(kNever, false);
  f.probe.has_path(3);
  f.receive(3, Fixture::kA, kPathProbeReply);
  f.probe.note_message(3, Fixture::kA, true);
  f.a.is_quiet = false;
  BOOST_CHECK(f.receive(3, Fixture::kB, kPathProbe, Note(2, "a").bytes()));
  BOOST_CHECK(!f.probe.is_open(3));
  BOOST_CHECK((f.b.sent == Sent{{3, kPathProbe}}));  // no reply while messages may arrive over the other one
  f.a.is_quiet = true;
  f.probe.progress();
  BOOST_CHECK((f.b.sent == Sent{{3, kPathProbe}, {3, kPathProbeReply}}));
  BOOST_CHECK_EQUAL(note_in(f.b).note.received, 1u);
  BOOST_CHECK(!f.is_lost(3, Fixture::kA));  // known already
  f.receive(3, Fixture::kB, kPathProbeReply, Note(2, "a").bytes());
  BOOST_CHECK(f.resume() == Counts{2});
  BOOST_CHECK(f.probe.has_path(3));
}

// This PE sends over the second network, the other one over the first.
BOOST_AUTO_TEST_CASE(the_loss_of_a_network_that_only_the_other_side_uses_is_reported) {
  Fixture f(kNever, false);
  BOOST_CHECK(!f.probe.has_path(3));
  BOOST_CHECK(!f.is_lost(3, Fixture::kC));
  f.receive(3, Fixture::kA, kPathProbeReply);
  f.a.sent.clear();
  f.probe.note_message(3, Fixture::kB, true);
  BOOST_CHECK(!f.is_lost(3, Fixture::kB));
  BOOST_CHECK((f.a.sent == Sent{{3, kPathProbe}}));
  BOOST_CHECK(f.probe.is_open(3));
  f.receive(3, Fixture::kA, kPathProbeReply, Note(9, "").bytes());
  BOOST_CHECK(f.resume().empty());  // nothing of this direction was lost
  BOOST_CHECK(f.probe.has_path(3));
}

BOOST_AUTO_TEST_CASE(a_network_that_resumes_has_no_successor) {
  Fixture f;
  f.probe.has_path(3);
  f.receive(3, Fixture::kA, kPathProbeReply);
  BOOST_CHECK(!f.probe.needs_kept(3));
  BOOST_CHECK(f.is_lost(3, Fixture::kA));
}

BOOST_AUTO_TEST_SUITE_END()
