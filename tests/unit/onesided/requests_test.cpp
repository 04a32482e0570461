#include "onesided/requests.hpp"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/child.hpp"

BOOST_AUTO_TEST_SUITE(onesided_requests)

namespace {

using namespace shmemx;
using onesided::Initiator;
using onesided::Placement;
using onesided::Requests;
using onesided::Ticket;
using onesided::Tracker;

constexpr Placement kNowhere{nullptr, 8, 8, 1};

std::unique_ptr<Requests> make_table() { return std::make_unique<Requests>(); }

}  // namespace

BOOST_AUTO_TEST_CASE(a_reply_finds_its_request_once) {
  const auto table = make_table();
  Tracker open;
  std::byte place[8];
  const Ticket ticket = table->open({place, 8, 8, 1}, 3, {&open});
  BOOST_CHECK_EQUAL(open.open.load(), 1u);
  BOOST_CHECK(table->find(ticket, 2) == nullptr);  // another PE answers
  BOOST_CHECK(table->find(ticket + 1, 3) == nullptr);
  BOOST_CHECK(table->find(ticket + onesided::kMaxRequests, 3) == nullptr);  // another generation
  onesided::Request* const request = table->find(ticket, 3);
  BOOST_REQUIRE(request != nullptr);
  BOOST_CHECK(request->placement.at == place);
  table->close(ticket);
  BOOST_CHECK_EQUAL(open.open.load(), 0u);
  BOOST_CHECK(table->find(ticket, 3) == nullptr);
  const Ticket next = table->open(kNowhere, 3, {&open});
  BOOST_CHECK_NE(next, ticket);
  BOOST_CHECK(table->find(ticket, 3) == nullptr);
  table->close(next);
}

BOOST_AUTO_TEST_CASE(a_world_of_millions) {
  const auto table = make_table();
  Tracker open;
  const Ticket ticket = table->open(kNowhere, (1 << 20) + 5, {&open, 1});
  for (const int pe : {5, 65'536 + 5}) BOOST_CHECK(table->find(ticket, pe) == nullptr && !table->any_open(1, pe));
  BOOST_CHECK(table->find(ticket, (1 << 20) + 5) != nullptr && table->any_open(1, (1 << 20) + 5));
  table->close(ticket);
}

// Threads that start requests all the time must not keep a thread that waits for one from ever starting it.
BOOST_AUTO_TEST_CASE(requests_of_contexts_leave_room_for_callers_that_wait) {
  const auto table = make_table();
  Tracker of_context;
  Tracker of_caller;
  const Initiator nbi{&of_context, 1};
  while (table->has_room(nbi)) table->open(kNowhere, 1, nbi);
  BOOST_CHECK(table->has_room({&of_caller}));
  BOOST_CHECK_GE(of_context.open.load(), onesided::kMaxRequests / 2);
  BOOST_CHECK_LT(of_context.open.load(), onesided::kMaxRequests);
}

BOOST_AUTO_TEST_CASE(the_table_fills_up_and_empties) {
  const auto table = make_table();
  Tracker open;
  for (int round = 0; round < 3; ++round) {
    std::vector<Ticket> tickets;
    while (table->has_room({&open})) tickets.push_back(table->open(kNowhere, 1, {&open}));
    BOOST_CHECK_EQUAL(tickets.size(), onesided::kMaxRequests);
    BOOST_CHECK_EQUAL(std::set<Ticket>(tickets.begin(), tickets.end()).size(), onesided::kMaxRequests);
    BOOST_CHECK_EQUAL(open.open.load(), onesided::kMaxRequests);
    for (const Ticket ticket : tickets) table->close(ticket);
    BOOST_CHECK_EQUAL(open.open.load(), 0u);
  }
}

BOOST_AUTO_TEST_CASE(contexts_and_pes_are_counted_apart) {
  const auto table = make_table();
  Tracker first, second, waiting;
  const Ticket a = table->open(kNowhere, 0, {&first, 1});
  const Ticket b = table->open(kNowhere, 4, {&second, 2});
  const Ticket c = table->open(kNowhere, 5, {&waiting});
  BOOST_CHECK_EQUAL(table->open_of_contexts(), 2u);
  BOOST_CHECK(table->any_open(1, 0));
  BOOST_CHECK(!table->any_open(1, 4));
  BOOST_CHECK(table->any_open(2, 4));
  BOOST_CHECK(!table->any_open(2, 5));
  table->close(a);
  BOOST_CHECK(!table->any_open(1, 0));
  BOOST_CHECK_EQUAL(table->open_of_contexts(), 1u);
  table->close(c);
  BOOST_CHECK_EQUAL(table->open_of_contexts(), 1u);
  table->close(b);
  BOOST_CHECK_EQUAL(table->open_of_contexts(), 0u);
  BOOST_CHECK_EQUAL(first.open.load() + second.open.load() + waiting.open.load(), 0u);
}

BOOST_AUTO_TEST_CASE(a_stale_reply_completes_no_other_request) {
  const auto table = make_table();
  Tracker window, pe;
  long counter = 0;
  const Ticket first = table->open(kNowhere, 3, {&window, 0, true, &pe, &counter});
  table->close(first);
  const Ticket second = table->open(kNowhere, 3, {&window, 0, true, &pe, &counter});
  BOOST_CHECK_EQUAL(first % onesided::kMaxRequests, second % onesided::kMaxRequests);  // the same entry
  BOOST_CHECK(table->find(first, 3) == nullptr);
  BOOST_CHECK(table->find(second, 3) != nullptr);
  BOOST_CHECK_EQUAL(counter, 1);
  table->close(second);
}

BOOST_AUTO_TEST_CASE(windows_pes_and_counters_of_programs_are_counted) {
  const auto table = make_table();
  Tracker window, other, pe;
  long counter = 0;
  const Ticket a = table->open(kNowhere, 3, {&window, 0, true, &pe, &counter});
  const Ticket b = table->open(kNowhere, 3, {&other, 0, true, &pe, nullptr});
  BOOST_CHECK_EQUAL(window.open.load(), 1u);
  BOOST_CHECK_EQUAL(pe.open.load(), 2u);
  BOOST_CHECK_EQUAL(counter, 1);
  BOOST_CHECK_EQUAL(table->open_of_contexts(), 0u);
  Requests::note_error(*table->find(a, 3), 19, {100, 8});
  Requests::note_error(*table->find(b, 3), 20);
  table->close(a);
  BOOST_CHECK_EQUAL(counter, 0);
  BOOST_CHECK_EQUAL(window.open.load(), 0u);
  BOOST_CHECK_EQUAL(pe.open.load(), 1u);
  table->close(b);
  BOOST_CHECK_EQUAL(pe.open.load(), 0u);
  BOOST_CHECK_EQUAL(window.error.load(), 19);
  BOOST_CHECK_EQUAL(other.error.load(), 20);
  BOOST_CHECK_EQUAL(pe.error.load(), 19);  // the first one
  BOOST_CHECK_EQUAL(pe.refused_offset.load(), 100u);
  BOOST_CHECK_EQUAL(pe.refused_bytes.load(), 8u);
}

BOOST_AUTO_TEST_CASE(requests_that_use_memory_are_counted_by_themselves) {
  const auto table = make_table();
  Tracker window, local;
  const Ticket uses = table->open(kNowhere, 3, {&window, 0, true, nullptr, nullptr, &local});
  const Ticket copied = table->open(kNowhere, 3, {&window, 0, true});
  BOOST_CHECK_EQUAL(window.open.load(), 2u);
  BOOST_CHECK_EQUAL(local.open.load(), 1u);
  table->close(uses);
  BOOST_CHECK_EQUAL(local.open.load(), 0u);
  BOOST_CHECK_EQUAL(window.open.load(), 1u);
  table->close(copied);
}

BOOST_AUTO_TEST_CASE(contexts_outside_the_table_count_as_the_default_one) {
  const context::Context elsewhere{};
  BOOST_CHECK_EQUAL(onesided::index_of(elsewhere), context::kDefaultContext);
  BOOST_CHECK_EQUAL(onesided::index_of(context::context_table[17]), 17u);
  BOOST_CHECK_EQUAL(onesided::index_of(context::default_context()), context::kDefaultContext);
}

BOOST_AUTO_TEST_CASE(a_wrong_message_ends_the_job_with_its_source_and_kind) {
  const auto good = unit::in_child([] {
    onesided::check_message("a put", 3, nullptr);
    return 0;
  });
  BOOST_CHECK_EQUAL(good.status, 0);
  const auto wrong = unit::in_child([] {
    onesided::check_message("a put", 3, "has a wrong length");
    return 0;
  });
  BOOST_CHECK_EQUAL(wrong.status, 1);
  BOOST_CHECK_MESSAGE(wrong.text.find("PE 3, a put, has a wrong length") != std::string::npos, wrong.text);
}

BOOST_AUTO_TEST_SUITE_END()
