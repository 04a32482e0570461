#include "public_windows/handle_table.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(public_windows_handle_table)

using shmemx::public_windows::HandleTable;

BOOST_AUTO_TEST_CASE(only_live_handles_are_found) {
  static auto* const table = new HandleTable<int, 1>;  // lives as long as the process, like the library's
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
  static auto* const table = new HandleTable<char, 0>;  // lives as long as the process, like the library's
  std::uint32_t count = 0;
  while (table->add([](char&) {}) != 0) ++count;
  BOOST_TEST(count == (HandleTable<char, 0>::kMaxObjects));
}

BOOST_AUTO_TEST_SUITE_END()
