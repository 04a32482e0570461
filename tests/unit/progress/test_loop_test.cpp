#include "progress/test_loop.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <vector>

#include "support/waiting.hpp"

BOOST_AUTO_TEST_SUITE(progress_test_loop)

namespace {

using namespace shmemx;
using namespace shmemx::progress;
using unit::WaitingGuard;

const char* tested = "none";
bootstrap::Awaited tested_for;
void note_tests(const char* routine, const bootstrap::Awaited& awaited, std::uint64_t since_ns) {
  BOOST_CHECK_EQUAL(routine == nullptr, since_ns == 0);
  tested = routine;
  tested_for = awaited;
}

unit::WaitSettings settings() {
  unit::WaitSettings policy;
  policy.mode = WaitMode::automatic;
  policy.hooks.on_vain_tests = note_tests;
  return policy;
}

}  // namespace

BOOST_AUTO_TEST_CASE(tests_in_vain_are_noted_until_one_succeeds) {
  unit::WaitSettings policy = settings();
  policy.tests_are_watched = true;
  const WaitingGuard guard(policy);
  tested = "none";
  const std::int16_t word = -3;
  for (std::uint32_t i = 0; i < kFailedTests; ++i) test_failed("shmem_short_test", &word, 1, std::int16_t{5});
  BOOST_CHECK_EQUAL(tested, "shmem_short_test");
  BOOST_CHECK_EQUAL(tested_for.at, reinterpret_cast<std::uintptr_t>(&word));
  BOOST_CHECK_EQUAL(static_cast<std::int16_t>(tested_for.now), -3);
  BOOST_CHECK_EQUAL(tested_for.value, 5U);
  test_succeeded();
  BOOST_CHECK(tested == nullptr);
}

BOOST_AUTO_TEST_CASE(reads_with_the_same_answer_are_noted) {
  const WaitingGuard guard(settings());
  test_succeeded_slow();  // ends the loop of another test
  tested = "none";
  const long word = 7;
  for (std::uint32_t i = 0; i < 10 * kFailedTests; ++i) note_same_answer("shmem_long_g", &word, i, {0, 8, true});
  BOOST_CHECK_EQUAL(tested, "none");
  for (std::uint32_t i = 0; i < kFailedTests; ++i) note_same_answer("shmem_long_g", &word, 7, {0, 8, true});
  BOOST_CHECK_EQUAL(tested, "shmem_long_g");
  BOOST_CHECK_EQUAL(tested_for.now, 7U);
}

BOOST_AUTO_TEST_CASE(reads_of_several_words_in_turn_are_noted) {
  const WaitingGuard guard(settings());
  const long words[3] = {};
  const auto read_in_turn = [&](std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t i = first; i < end; ++i) note_same_answer("shmem_long_g", &words[i % 3], 0, {0, 8, true});
  };
  test_succeeded_slow();  // ends the loop of another test
  tested = "none";
  read_in_turn(0, kFailedTests - 1);
  BOOST_CHECK_EQUAL(tested, "none");
  read_in_turn(kFailedTests - 1, 3 * kFailedTests);
  BOOST_CHECK_EQUAL(tested, "shmem_long_g");
  BOOST_CHECK_EQUAL(tested_for.at, reinterpret_cast<std::uintptr_t>(&words[0]));  // the first one
  note_same_answer("shmem_long_g", &words[1], 5, {0, 8, true});
  BOOST_CHECK(tested == nullptr);
}

BOOST_AUTO_TEST_CASE(reads_of_many_words_are_no_loop) {
  const WaitingGuard guard(settings());
  const std::vector<long> words(4 * kFailedTests);
  test_succeeded_slow();  // ends the loop of another test
  tested = "none";
  for (const long& word : words) note_same_answer("shmem_long_g", &word, 0, {0, 8, true});
  BOOST_CHECK_EQUAL(tested, "none");
}

BOOST_AUTO_TEST_CASE(of_several_tests_in_turn_the_first_one_is_shown) {
  unit::WaitSettings policy = settings();
  policy.tests_are_watched = true;
  const WaitingGuard guard(policy);
  const int words[3] = {};
  failed_tests = 0;
  test_succeeded_slow();  // ends the loop of another test
  tested = "none";
  for (std::uint32_t i = 0; i < 9 * kFailedTests; ++i) test_failed("shmem_int_test", &words[i % 3], 1, 5);
  BOOST_CHECK_EQUAL(tested, "shmem_int_test");
  BOOST_CHECK_EQUAL(tested_for.at, reinterpret_cast<std::uintptr_t>(&words[(kFailedTests - 1) % 3]));
  test_succeeded();
}

BOOST_AUTO_TEST_SUITE_END()
