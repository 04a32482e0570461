#include "atomic/direct.hpp"

#include <boost/test/unit_test.hpp>
#include <limits>
#include <thread>
#include <tuple>
#include <vector>

#include "../../support/threads.hpp"

BOOST_AUTO_TEST_SUITE(atomic_direct)

namespace {

namespace atomic = shmemx::atomic;

using test_support::run_on_threads;

using Integers = std::tuple<int, long, long long, unsigned, unsigned long, unsigned long long>;
using All = std::tuple<int, long, long long, unsigned, unsigned long, unsigned long long, float, double>;

constexpr int kThreads = 4;
constexpr int kTurns = 20000;  // the sums stay exact in a float

}  // namespace

BOOST_AUTO_TEST_CASE_TEMPLATE(fetch_set_and_swap_give_and_take_values, T, All) {
  T word = 3;
  BOOST_CHECK_EQUAL(atomic::fetch(&word), T{3});
  atomic::set(&word, std::numeric_limits<T>::max());
  BOOST_CHECK_EQUAL(word, std::numeric_limits<T>::max());
  BOOST_CHECK_EQUAL(atomic::swap(&word, std::numeric_limits<T>::lowest()), std::numeric_limits<T>::max());
  BOOST_CHECK_EQUAL(word, std::numeric_limits<T>::lowest());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(additions_give_the_old_value, T, All) {
  T word = 40;
  BOOST_CHECK_EQUAL(atomic::fetch_add(&word, T{2}), T{40});
  atomic::add(&word, T{1});
  BOOST_CHECK_EQUAL(word, T{43});
  BOOST_CHECK_EQUAL(atomic::fetch_add(&word, static_cast<T>(-3)), T{43});
  BOOST_CHECK_EQUAL(word, T{40});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(integers_wrap, T, Integers) {
  T word = std::numeric_limits<T>::max();
  BOOST_CHECK_EQUAL(atomic::fetch_add(&word, T{1}), std::numeric_limits<T>::max());
  BOOST_CHECK_EQUAL(word, std::numeric_limits<T>::min());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(compare_swap_stores_only_when_equal, T, Integers) {
  T word = 5;
  BOOST_CHECK_EQUAL(atomic::compare_swap(&word, T{4}, T{9}), T{5});
  BOOST_CHECK_EQUAL(word, T{5});
  BOOST_CHECK_EQUAL(atomic::compare_swap(&word, T{5}, T{9}), T{5});
  BOOST_CHECK_EQUAL(word, T{9});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(bitwise_operations_give_the_old_value, T, Integers) {
  T word = 0b1100;
  BOOST_CHECK_EQUAL(atomic::fetch_and(&word, T{0b1010}), T{0b1100});
  BOOST_CHECK_EQUAL(atomic::fetch_or(&word, T{0b0001}), T{0b1000});
  BOOST_CHECK_EQUAL(atomic::fetch_xor(&word, T{0b1111}), T{0b1001});
  BOOST_CHECK_EQUAL(word, T{0b0110});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(no_addition_of_any_thread_is_lost, T, All) {
  T word = 0;
  run_on_threads(kThreads, [&](int) {
    for (int i = 0; i < kTurns; ++i) atomic::add(&word, T{1});
  });
  BOOST_CHECK_EQUAL(word, static_cast<T>(kThreads * kTurns));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(old_values_of_concurrent_additions_are_all_different, T, All) {
  T word = 0;
  std::vector<int> seen(kThreads * 1000);  // each element is written by the thread that got its number
  run_on_threads(kThreads, [&](int) {
    for (int i = 0; i < 1000; ++i) ++seen[static_cast<std::size_t>(atomic::fetch_add(&word, T{1}))];
  });
  for (const int count : seen) BOOST_REQUIRE_EQUAL(count, 1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(swapped_values_are_neither_lost_nor_doubled, T, All) {
  T word = 0;
  std::vector<int> seen(kThreads * 1000 + 1);
  run_on_threads(kThreads, [&](int thread) {
    for (int i = 0; i < 1000; ++i) {
      const T old = atomic::swap(&word, static_cast<T>(1 + thread * 1000 + i));
      ++seen[static_cast<std::size_t>(old)];
    }
  });
  ++seen[static_cast<std::size_t>(word)];
  for (const int count : seen) BOOST_REQUIRE_EQUAL(count, 1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(bits_of_several_threads_do_not_disturb_each_other, T, Integers) {
  T word = 0;
  bool undisturbed[kThreads] = {};
  run_on_threads(kThreads, [&](int thread) {
    const T bit = static_cast<T>(T{1} << thread);
    bool good = true;
    for (int i = 0; i < kTurns; ++i) {
      good = (atomic::fetch_or(&word, bit) & bit) == 0 && good;
      good = (atomic::fetch_and(&word, static_cast<T>(~bit)) & bit) != 0 && good;
      good = (atomic::fetch_xor(&word, bit) & bit) == 0 && good;
      good = (atomic::fetch_xor(&word, bit) & bit) != 0 && good;
    }
    undisturbed[thread] = good;
  });
  for (const bool good : undisturbed) BOOST_CHECK(good);
  BOOST_CHECK_EQUAL(word, T{0});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_lock_of_compare_swap_excludes, T, Integers) {
  T lock = 0;
  long counter = 0;  // not atomic: the lock orders accesses
  run_on_threads(kThreads, [&](int thread) {
    for (int i = 0; i < 2000; ++i) {
      while (atomic::compare_swap(&lock, T{0}, static_cast<T>(thread + 1)) != T{0}) std::this_thread::yield();
      ++counter;
      atomic::set(&lock, T{0});
    }
  });
  BOOST_CHECK_EQUAL(counter, kThreads * 2000);
}

BOOST_AUTO_TEST_SUITE_END()
