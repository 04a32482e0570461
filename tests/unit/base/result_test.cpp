#include "base/result.hpp"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>

BOOST_AUTO_TEST_SUITE(base_result)

namespace {

using namespace shmemx;

Result<std::unique_ptr<int>> number_or_error(int number) {
  if (number < 0) return Error{Errc::invalid_argument, 0, "negative"};
  return std::make_unique<int>(number);
}

Result<int> doubled(int number) {
  SHMEMX_TRY_ASSIGN(first, number_or_error(number));
  SHMEMX_TRY_ASSIGN(second, number_or_error(*first));  // twice in one function: the names must not clash
  return *first + *second;
}

Status checked(int number, bool& reached) {
  if (number < 0) return Error{Errc::protocol, 7, "refused"};
  reached = true;
  return {};
}

Status passed_on(int number, bool& reached) {
  bool inner = false;
  SHMEMX_TRY(checked(number, inner));
  reached = inner;
  return {};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_result_holds_a_value_or_an_error) {
  auto good = number_or_error(5);
  BOOST_REQUIRE(good);
  BOOST_CHECK(good.has_value());
  BOOST_CHECK_EQUAL(**good, 5);
  const auto bad = number_or_error(-1);
  BOOST_REQUIRE(!bad);
  BOOST_CHECK(bad.error().code == Errc::invalid_argument);
  BOOST_CHECK_EQUAL(bad.error().text, "negative");
}

BOOST_AUTO_TEST_CASE(try_assign_takes_the_value_or_returns_the_error_as_it_is) {
  auto good = doubled(21);
  BOOST_REQUIRE(good);
  BOOST_CHECK_EQUAL(*good, 42);
  const auto bad = doubled(-21);
  BOOST_REQUIRE(!bad);
  BOOST_CHECK_EQUAL(bad.error().text, "negative");
}

BOOST_AUTO_TEST_CASE(try_goes_on_or_returns_the_error_as_it_is) {
  bool reached = false;
  BOOST_CHECK(passed_on(1, reached));
  BOOST_CHECK(reached);
  reached = false;
  const Status bad = passed_on(-1, reached);
  BOOST_REQUIRE(!bad);
  BOOST_CHECK(!reached);
  BOOST_CHECK(bad.error().code == Errc::protocol);
  BOOST_CHECK_EQUAL(bad.error().system_errno, 7);
}

BOOST_AUTO_TEST_CASE(a_system_error_keeps_errno) {
  errno = ENOSPC;
  const Error error = system_error("write the page");
  BOOST_CHECK(error.code == Errc::system);
  BOOST_CHECK_EQUAL(error.system_errno, ENOSPC);
  BOOST_CHECK_EQUAL(error.text, "write the page");
}

BOOST_AUTO_TEST_SUITE_END()
