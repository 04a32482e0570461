// Updates of elements of all types by all PEs at once: nothing is lost, pairs stay whole, the order of calls is kept.
#include <array>

#include "element_types.hpp"

using namespace window_test;

namespace {

// All PEs update the same elements of PE 0, aligned and not, in runs that cross the granules of locks.
template <class T>
void check_sums(int type, const T& one, std::size_t shift) {
  constexpr std::size_t kElements = 1100;
  constexpr int kRounds = 20;
  const Windows windows(kElements * sizeof(T) + shift);
  {
    const std::vector<std::byte> zeros = to_bytes(std::vector<T>(kElements, T{}));
    if (me() == 0) std::memcpy(windows.base + shift, zeros.data(), zeros.size());
    shmem_barrier_all();
    const std::vector<std::byte> ones = to_bytes(std::vector<T>(kElements, one));
    std::vector<std::byte> old(ones.size());
    std::byte* const target = windows.address(0) + shift;
    long counter = 0;
    for (int round = 0; round < kRounds; ++round) {
      shmemx_window_accumulate_nbi(windows.at(0), target, ones.data(), kElements, type, SHMEMX_OP_SUM, &counter);
      shmemx_window_fetch_op(windows.at(0), target + 3 * sizeof(T), ones.data(), old.data(), type, SHMEMX_OP_SUM);
      shmemx_window_get_accumulate_nbi(windows.at(0), target, ones.data(), old.data(), kElements, type, SHMEMX_OP_SUM,
                                       &counter);
      shmemx_window_wait(&counter);
    }
    shmem_barrier_all();
    T expected{};
    for (int i = 0; i < 2 * kRounds * pes(); ++i) expected += one;
    T fourth = expected;
    for (int i = 0; i < kRounds * pes(); ++i) fourth += one;
    std::vector<std::byte> now(ones.size());
    CHECK_EQUAL(shmemx_window_get(windows.at(0), now.data(), target, now.size()), SHMEMX_SUCCESS);
    for (std::size_t i = 0; i < kElements; ++i) CHECK(at<T>(now, i) == (i == 3 ? fourth : expected));
  }
}

}  // namespace

PE_TEST(sums_of_all_types_by_all_are_exact) {
  for (const std::size_t shift : {std::size_t{0}, std::size_t{1}, std::size_t{4}}) {
    const Note note("shift " + std::to_string(shift));
    check_sums<std::int8_t>(SHMEMX_INT8, 1, shift);
    check_sums<std::uint16_t>(SHMEMX_UINT16, 1, shift);
    check_sums<std::int64_t>(SHMEMX_INT64, 1, shift);
    check_sums<double>(SHMEMX_DOUBLE, 0.5, shift);
    check_sums<long double>(SHMEMX_LONG_DOUBLE, 0.5L, shift);
    check_sums<std::complex<float>>(SHMEMX_COMPLEX_FLOAT, {1, -1}, shift);
    check_sums<std::complex<double>>(SHMEMX_COMPLEX_DOUBLE, {0.5, -1}, shift);
    check_sums<std::complex<long double>>(SHMEMX_COMPLEX_LONG_DOUBLE, {1, 2}, shift);
  }
}

// Value and index of a pair stay together, whoever wins.
PE_TEST(pairs_stay_whole) {
  constexpr int kRounds = 200;
  using Pair = PairOf<double, int>;
  const Windows windows(sizeof(Pair));
  Pair start{};
  start.value = -1;
  if (me() == 0) std::memcpy(windows.base, &start, sizeof start);
  shmem_barrier_all();
  for (int i = 0; i < kRounds; ++i) {
    Pair mine{};
    mine.value = i * pes() + me();
    mine.index = i * pes() + me();
    Pair seen{};
    CHECK_EQUAL(shmemx_window_fetch_op(windows.at(0), windows.address(0), &mine, &seen, SHMEMX_DOUBLE_INT,
                                       i % 2 == 0 ? SHMEMX_OP_MAXLOC : SHMEMX_OP_REPLACE),
                SHMEMX_SUCCESS);
    CHECK(seen.value == -1 || seen.value == seen.index);
  }
  shmem_barrier_all();
}

// Updates of one PE at one place are executed in the order of the calls, of whatever kind and length.
PE_TEST(updates_keep_their_order) {
  constexpr std::size_t kElements = 3000;
  const Windows windows(pes() * kElements * sizeof(std::uint64_t));
  std::byte* const target = windows.address(right()) + static_cast<std::size_t>(me()) * kElements * 8;
  std::vector<std::uint64_t> fetched(kElements);
  std::vector<std::vector<std::uint64_t>> kept;
  std::array<std::uint64_t, 3> singles{};
  long counter = 0;
  for (std::uint64_t round = 1; round <= 30; ++round) {
    kept.emplace_back(round % 3 == 0 ? kElements : 2, round);
    const auto& values = kept.back();
    shmemx_window_accumulate_nbi(windows.at(right()), target, values.data(), values.size(), SHMEMX_UINT64,
                                 SHMEMX_OP_REPLACE, &counter);
    shmemx_window_fetch_op_nbi(windows.at(right()), target, nullptr, singles.data(), SHMEMX_UINT64, SHMEMX_OP_NO_OP,
                               &counter);
    const std::uint64_t two = 2;
    shmemx_window_accumulate_nbi(windows.at(right()), target, &two, 1, SHMEMX_UINT64, SHMEMX_OP_PROD, &counter);
    shmemx_window_get_accumulate_nbi(windows.at(right()), target, nullptr, fetched.data(), kElements, SHMEMX_UINT64,
                                     SHMEMX_OP_NO_OP, &counter);
    const std::uint64_t twice = 2 * round;
    const std::uint64_t next = 3 * round;
    shmemx_window_compare_swap_nbi(windows.at(right()), target, &twice, &next, singles.data() + 1, SHMEMX_UINT64,
                                   &counter);
    shmemx_window_fetch_op(windows.at(right()), target, nullptr, singles.data() + 2, SHMEMX_UINT64, SHMEMX_OP_NO_OP);
    shmemx_window_wait(&counter);
    CHECK_EQUAL(singles[0], round);
    CHECK_EQUAL(fetched[0], twice);
    CHECK_EQUAL(fetched[1], round);
    CHECK_EQUAL(singles[1], twice);
    CHECK_EQUAL(singles[2], next);
  }
}
