#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "transport/common/reorder_window.hpp"

BOOST_AUTO_TEST_SUITE(common_reorder_window)

using shmemx::transport::ReorderWindow;
using shmemx::transport::Turn;

namespace {

// Passes a numbered message to the window and appends the messages that are then in order to `taken`.
void receive(ReorderWindow<std::string>& window, std::uint64_t number, std::vector<std::string>& taken) {
  const Turn turn = window.turn_of(number);
  if (turn == Turn::early) window.hold(number, std::to_string(number));
  if (turn != Turn::next) return;
  taken.push_back(std::to_string(number));
  window.take_next();
  for (std::string next; window.pop_next(next);) taken.push_back(next);
}

}  // namespace

BOOST_AUTO_TEST_CASE(messages_in_order_are_never_held) {
  ReorderWindow<int> window(4);
  for (std::uint32_t number = 0; number < 10; ++number) {
    BOOST_CHECK(window.turn_of(number) == Turn::next);
    window.take_next();
  }
  BOOST_CHECK(!window.holds_any());
  BOOST_CHECK_EQUAL(window.expected(), 10U);
}

BOOST_AUTO_TEST_CASE(early_messages_wait_for_those_before_them) {
  ReorderWindow<std::string> window(8);
  std::vector<std::string> taken;
  for (const std::uint64_t number : {3U, 1U, 2U, 0U, 5U, 4U}) receive(window, number, taken);
  BOOST_CHECK((taken == std::vector<std::string>{"0", "1", "2", "3", "4", "5"}));
  BOOST_CHECK_EQUAL(window.expected(), 6U);
}

BOOST_AUTO_TEST_CASE(duplicates_are_recognised_held_or_taken) {
  ReorderWindow<std::string> window(8);
  std::vector<std::string> taken;
  receive(window, 0, taken);
  receive(window, 2, taken);
  BOOST_CHECK(window.turn_of(0) == Turn::duplicate);
  BOOST_CHECK(window.turn_of(2) == Turn::duplicate);
  for (const std::uint64_t number : {2U, 0U, 1U, 1U, 2U}) receive(window, number, taken);
  BOOST_CHECK((taken == std::vector<std::string>{"0", "1", "2"}));
}

BOOST_AUTO_TEST_CASE(numbers_beyond_the_window_are_refused) {
  ReorderWindow<int> window(4);
  BOOST_CHECK(window.turn_of(4) == Turn::early);
  BOOST_CHECK(window.turn_of(5) == Turn::too_far);
  window.take_next();
  BOOST_CHECK(window.turn_of(5) == Turn::early);
}

BOOST_AUTO_TEST_CASE(numbers_pass_32_bits) {
  const std::uint64_t start = ~std::uint32_t{0} - 1;
  ReorderWindow<std::string> window(8, start);
  std::vector<std::string> taken;
  for (const std::uint64_t ahead : {2U, 1U, 3U, 0U}) receive(window, start + ahead, taken);
  BOOST_REQUIRE_EQUAL(taken.size(), 4U);
  BOOST_CHECK_EQUAL(taken[2], "4294967296");
  BOOST_CHECK(window.turn_of(start) == Turn::duplicate);
  BOOST_CHECK(window.turn_of(0) == Turn::duplicate);
}

BOOST_AUTO_TEST_CASE(clear_returns_the_held_messages) {
  ReorderWindow<int> window(8);
  window.hold(3, 30);
  window.hold(1, 10);
  std::vector<int> dropped;
  window.clear([&](int item) { dropped.push_back(item); });
  BOOST_CHECK((dropped == std::vector<int>{10, 30}));
  BOOST_CHECK(!window.holds_any());
}

BOOST_AUTO_TEST_SUITE_END()
