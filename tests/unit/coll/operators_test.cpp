#include "coll/common/operators.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>

BOOST_AUTO_TEST_SUITE(coll_operators)

namespace {

using namespace shmemx::coll;

using Integers = std::tuple<signed char, short, int, long, long long, unsigned char, unsigned short, unsigned,
                            unsigned long, unsigned long long>;
using Floats = std::tuple<float, double, long double>;
using Complexes = std::tuple<std::complex<float>, std::complex<double>>;

// Arithmetic modulo 2^64, cut down to T.
template <class T>
T modulo(std::uint64_t value) {
  return static_cast<T>(value);
}

template <class T>
constexpr T kValues[] = {std::numeric_limits<T>::min(),
                         static_cast<T>(std::numeric_limits<T>::min() + 1),
                         static_cast<T>(-1),
                         0,
                         1,
                         3,
                         static_cast<T>(std::numeric_limits<T>::max() - 1),
                         std::numeric_limits<T>::max()};

}  // namespace

BOOST_AUTO_TEST_CASE_TEMPLATE(integer_sums_and_products_wrap, T, Integers) {
  for (const T a : kValues<T>) {
    for (const T b : kValues<T>) {
      const auto wide_a = static_cast<std::uint64_t>(a);
      const auto wide_b = static_cast<std::uint64_t>(b);
      BOOST_CHECK_EQUAL(Sum::apply(a, b), modulo<T>(wide_a + wide_b));
      BOOST_CHECK_EQUAL(Prod::apply(a, b), modulo<T>(wide_a * wide_b));
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(integer_extremes_and_bits_are_exact, T, Integers) {
  for (const T a : kValues<T>) {
    for (const T b : kValues<T>) {
      BOOST_CHECK_EQUAL(Max::apply(a, b), a > b ? a : b);
      BOOST_CHECK_EQUAL(Min::apply(a, b), a > b ? b : a);
      BOOST_CHECK_EQUAL(And::apply(a, b), static_cast<T>(a & b));
      BOOST_CHECK_EQUAL(Or::apply(a, b), static_cast<T>(a | b));
      BOOST_CHECK_EQUAL(Xor::apply(a, b), static_cast<T>(a ^ b));
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(floating_point_is_that_of_the_machine, T, Floats) {
  const T huge = std::numeric_limits<T>::max();
  BOOST_CHECK_EQUAL(Sum::apply(T{0.5}, T{0.25}), T{0.75});
  BOOST_CHECK_EQUAL(Prod::apply(T{-0.5}, T{0.25}), T{-0.125});
  BOOST_CHECK(std::isinf(Sum::apply(huge, huge)));
  BOOST_CHECK_EQUAL(Max::apply(T{-1}, T{-2}), T{-1});
  BOOST_CHECK_EQUAL(Min::apply(T{-1}, T{-2}), T{-2});
  BOOST_CHECK_EQUAL(Max::apply(-huge, huge), huge);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(complex_numbers_add_and_multiply, T, Complexes) {
  const T a(1, 2);
  const T b(3, -4);
  BOOST_CHECK(Sum::apply(a, b) == T(4, -2));
  BOOST_CHECK(Prod::apply(a, b) == T(11, 2));
}

BOOST_AUTO_TEST_SUITE_END()
