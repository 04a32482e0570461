#include "base/loaded_library.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>

BOOST_AUTO_TEST_SUITE(base_loaded_library)

BOOST_AUTO_TEST_CASE(all_routines_are_found_or_none_is_returned) {
  std::size_t (*length)(const char*) = nullptr;
  int (*number)(const char*) = nullptr;
  BOOST_TEST(shmemx::find_routines(RTLD_DEFAULT, "strlen", length, "atoi", number));
  BOOST_TEST(length("four") == 4U);
  BOOST_TEST(number("12") == 12);
  BOOST_TEST(!shmemx::find_routines(RTLD_DEFAULT, "strlen", length, "shmemx_no_such_routine", number));
  BOOST_TEST(number == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
