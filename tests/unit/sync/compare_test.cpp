#include "sync/compare.hpp"

#include <boost/test/unit_test.hpp>
#include <limits>
#include <tuple>

BOOST_AUTO_TEST_SUITE(sync_compare)

namespace {

using namespace shmemx::sync;

using Types = std::tuple<short, int, long, long long, unsigned short, unsigned, unsigned long, unsigned long long>;

}  // namespace

BOOST_AUTO_TEST_CASE_TEMPLATE(each_constant_is_its_operator, T, Types) {
  constexpr T kLow = std::numeric_limits<T>::min();
  constexpr T kHigh = std::numeric_limits<T>::max();
  for (const T a : {kLow, T{0}, T{1}, T{2}, static_cast<T>(kHigh - 1), kHigh}) {
    for (const T b : {kLow, T{0}, T{1}, T{2}, static_cast<T>(kHigh - 1), kHigh}) {
      BOOST_CHECK_EQUAL(compares(a, SHMEM_CMP_EQ, b), a == b);
      BOOST_CHECK_EQUAL(compares(a, SHMEM_CMP_NE, b), a != b);
      BOOST_CHECK_EQUAL(compares(a, SHMEM_CMP_GT, b), a > b);
      BOOST_CHECK_EQUAL(compares(a, SHMEM_CMP_GE, b), a >= b);
      BOOST_CHECK_EQUAL(compares(a, SHMEM_CMP_LT, b), a < b);
      BOOST_CHECK_EQUAL(compares(a, SHMEM_CMP_LE, b), a <= b);
    }
  }
}

BOOST_AUTO_TEST_CASE(only_the_six_constants_are_valid) {
  int valid = 0;
  for (int cmp = -1000; cmp <= 1000; ++cmp) valid += valid_comparison(cmp) ? 1 : 0;
  BOOST_CHECK_EQUAL(valid, 6);
  for (const int cmp : {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE}) {
    BOOST_CHECK(valid_comparison(cmp));
  }
  BOOST_CHECK(!valid_comparison(std::numeric_limits<int>::max()));
  BOOST_CHECK(!valid_comparison(std::numeric_limits<int>::min()));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_load_reads_the_value, T, Types) {
  const T word = std::numeric_limits<T>::max();
  BOOST_CHECK_EQUAL(load(&word), word);
}

BOOST_AUTO_TEST_SUITE_END()
