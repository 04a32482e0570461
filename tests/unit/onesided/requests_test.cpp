#include "onesided/requests.hpp"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/child.hpp"

namespace {

using namespace shmemx;
using onesided::OpenCount;
using onesided::Placement;
using onesided::Requests;
using onesided::Ticket;

constexpr Placement kNowhere{nullptr, 8, 8, 1};

std::unique_ptr<Requests> make_table() { return std::make_unique<Requests>(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(onesided_requests)

BOOST_AUTO_TEST_CASE(an_answer_finds_its_question_once) {
  const auto table = make_table();
  OpenCount open{0};
  std::byte place[8];
  const Ticket ticket = table->open({place, 8, 8, 1}, 3, {&open, 0});
  BOOST_CHECK_EQUAL(open.load(), 1u);
  BOOST_CHECK(table->find(ticket, 2) == nullptr);  // another PE answers
  BOOST_CHECK(table->find(ticket + 1, 3) == nullptr);
  BOOST_CHECK(table->find(ticket + onesided::kMaxRequests, 3) == nullptr);  // another generation
  const onesided::Request* const request = table->find(ticket, 3);
  BOOST_REQUIRE(request != nullptr);
  BOOST_CHECK(request->placement.at == place);
  table->close(ticket);
  BOOST_CHECK_EQUAL(open.load(), 0u);
  BOOST_CHECK(table->find(ticket, 3) == nullptr);
  const Ticket next = table->open(kNowhere, 3, {&open, 0});
  BOOST_CHECK_NE(next, ticket);
  BOOST_CHECK(table->find(ticket, 3) == nullptr);
  table->close(next);
}

BOOST_AUTO_TEST_CASE(the_table_fills_up_and_empties) {
  const auto table = make_table();
  OpenCount open{0};
  for (int round = 0; round < 3; ++round) {
    std::vector<Ticket> tickets;
    while (!table->is_full()) tickets.push_back(table->open(kNowhere, 1, {&open, 0}));
    BOOST_CHECK_EQUAL(tickets.size(), onesided::kMaxRequests);
    BOOST_CHECK_EQUAL(std::set<Ticket>(tickets.begin(), tickets.end()).size(), onesided::kMaxRequests);
    BOOST_CHECK_EQUAL(open.load(), onesided::kMaxRequests);
    for (const Ticket ticket : tickets) table->close(ticket);
    BOOST_CHECK_EQUAL(open.load(), 0u);
  }
}

BOOST_AUTO_TEST_CASE(contexts_and_pes_are_told_apart) {
  const auto table = make_table();
  OpenCount first{0}, second{0}, waiting{0};
  const Ticket a = table->open(kNowhere, 0, {&first, 1});
  const Ticket b = table->open(kNowhere, 4, {&second, 2});
  const Ticket c = table->open(kNowhere, 5, {&waiting, 0});
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
  BOOST_CHECK_EQUAL(first.load() + second.load() + waiting.load(), 0u);
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
