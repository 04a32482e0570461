#include "access/handle_table.hpp"

#include <boost/test/unit_test.hpp>
#include <memory>

using shmemx::access::HandleTable;

BOOST_AUTO_TEST_SUITE(access_handle_table)

BOOST_AUTO_TEST_CASE(only_live_handles_are_found) {
  const auto table = std::make_unique<HandleTable<int, 1>>();
  BOOST_TEST(table->find(0) == nullptr);
  BOOST_TEST(table->find(1) == nullptr);
  BOOST_TEST(table->find(~std::uint64_t{0}) == nullptr);
  const std::uint64_t first = table->add([](int& value) { value = 5; });
  BOOST_REQUIRE(first != 0U);
  BOOST_TEST(*table->find(first) == 5);
  BOOST_TEST(table->find(first ^ 1) == nullptr);
  BOOST_TEST(table->find(first + (1 << 21)) == nullptr);
  BOOST_TEST(table->remove(first) != nullptr);
  BOOST_TEST(table->remove(first) == nullptr);
  BOOST_TEST(table->find(first) == nullptr);
  BOOST_TEST(table->find(0) == nullptr);  // what an empty slot holds is no handle
  table->recycle(first);
  const std::uint64_t second = table->add([](int& value) { value = 6; });
  BOOST_TEST(second != first);
  BOOST_TEST(table->find(first) == nullptr);
  BOOST_TEST(*table->find(second) == 6);
}

BOOST_AUTO_TEST_CASE(it_fills_up) {
  const auto table = std::make_unique<HandleTable<char, 0>>();
  std::uint32_t count = 0;
  while (table->add([](char&) {}) != 0) ++count;
  BOOST_TEST(count == (HandleTable<char, 0>::kMaxObjects));
}

BOOST_AUTO_TEST_SUITE_END()
