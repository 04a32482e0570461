// Atomic operations and accumulates on windows: compared with a model, and by all PEs at once with exact sums.
#include <bit>
#include <cmath>
#include <limits>

#include "window_support.hpp"

namespace {

using namespace window_test;

template <class T>
constexpr int type_of() {
  if constexpr (std::is_same_v<T, std::int32_t>) return SHMEMX_INT32;
  if constexpr (std::is_same_v<T, std::uint32_t>) return SHMEMX_UINT32;
  if constexpr (std::is_same_v<T, std::int64_t>) return SHMEMX_INT64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return SHMEMX_UINT64;
  if constexpr (std::is_same_v<T, float>) return SHMEMX_FLOAT;
  return SHMEMX_DOUBLE;
}

template <class T>
T model(int op, T old, T operand) {
  switch (op) {
    case SHMEMX_OP_SUM:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) +
                              static_cast<std::make_unsigned_t<T>>(operand));
      else
        return old + operand;
    case SHMEMX_OP_PROD:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) *
                              static_cast<std::make_unsigned_t<T>>(operand));
      else
        return old * operand;
    case SHMEMX_OP_MIN:
      return std::min(old, operand);
    case SHMEMX_OP_MAX:
      return std::max(old, operand);
    case SHMEMX_OP_REPLACE:
      return operand;
    case SHMEMX_OP_NO_OP:
      return old;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == SHMEMX_OP_BAND) return old & operand;
    if (op == SHMEMX_OP_BOR) return old | operand;
    if (op == SHMEMX_OP_BXOR) return old ^ operand;
  }
  return T{};
}

template <class T>
T some_value(Random& random) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(random.next());
  else
    return static_cast<T>(static_cast<std::int64_t>(random.below(2000)) - 1000) / T{8};
}

template <class T>
bool has_operator(int op) {
  return std::is_integral_v<T> || op < SHMEMX_OP_BAND || op > SHMEMX_OP_BXOR;
}

template <class T>
void check_one_element(const Windows& windows, Random& random) {
  const int peer = right();
  T* const target = windows.address<T>(peer, 3);
  T value = some_value<T>(random);
  CHECK_EQUAL(shmemx_window_put(windows.at(peer), target, &value, sizeof value), SHMEMX_SUCCESS);
  for (int op = SHMEMX_OP_SUM; op <= SHMEMX_OP_NO_OP; ++op) {
    const Note note("operator " + std::to_string(op) + ", type " + std::to_string(type_of<T>()));
    const T operand = some_value<T>(random);
    T old{};
    const int code = shmemx_window_fetch_op(windows.at(peer), target, &operand, &old, type_of<T>(), op);
    if (!has_operator<T>(op)) {
      CHECK_EQUAL(code, int{SHMEMX_ERR_ARGUMENT});
      continue;
    }
    CHECK_EQUAL(code, SHMEMX_SUCCESS);
    CHECK_EQUAL(old, value);
    value = model(op, value, operand);
  }
  T now{};
  CHECK_EQUAL(shmemx_window_get(windows.at(peer), &now, target, sizeof now), SHMEMX_SUCCESS);
  CHECK_EQUAL(now, value);
  const T next = some_value<T>(random);
  const T other = static_cast<T>(value + 1);
  T old{};
  const int code = shmemx_window_compare_swap(windows.at(peer), target, &other, &next, &old, type_of<T>());
  CHECK_EQUAL(code, std::is_integral_v<T> ? int{SHMEMX_SUCCESS} : int{SHMEMX_ERR_ARGUMENT});
  if (!std::is_integral_v<T>) return;
  CHECK_EQUAL(old, value);
  CHECK_EQUAL(shmemx_window_compare_swap(windows.at(peer), target, &value, &next, &old, type_of<T>()), SHMEMX_SUCCESS);
  CHECK_EQUAL(old, value);
  CHECK_EQUAL(shmemx_window_fetch_op(windows.at(peer), target, nullptr, &old, type_of<T>(), SHMEMX_OP_NO_OP),
              SHMEMX_SUCCESS);
  CHECK_EQUAL(old, next);
}

// Elements next to the range stay unchanged; odd counts end inside an unrolled loop.
template <class T>
void check_array(const Windows& windows, Random& random, int exclusive) {
  const int peer = right();
  for (int op = SHMEMX_OP_SUM; op <= SHMEMX_OP_NO_OP; ++op) {
    if (!has_operator<T>(op)) continue;
    const Note note("operator " + std::to_string(op | exclusive) + ", type " + std::to_string(type_of<T>()));
    const std::size_t count = 1 + random.below(3000);
    std::vector<T> before(count + 2);
    std::vector<T> operands(count);
    for (T& value : before) value = some_value<T>(random);
    for (T& value : operands) value = some_value<T>(random);
    const std::size_t bytes = before.size() * sizeof(T);
    CHECK_EQUAL(shmemx_window_put(windows.at(peer), windows.address<T>(peer), before.data(), bytes), SHMEMX_SUCCESS);
    std::vector<T> fetched(count);
    const bool fetch = op % 2 == 0;
    const int code = fetch
                         ? shmemx_window_get_accumulate(windows.at(peer), windows.address<T>(peer, 1), operands.data(),
                                                        fetched.data(), count, type_of<T>(), op | exclusive)
                         : shmemx_window_accumulate(windows.at(peer), windows.address<T>(peer, 1), operands.data(),
                                                    count, type_of<T>(), op | exclusive);
    CHECK_EQUAL(code, SHMEMX_SUCCESS);
    if (fetch) CHECK(std::equal(fetched.begin(), fetched.end(), before.begin() + 1));
    for (std::size_t i = 0; i < count; ++i) before[i + 1] = model(op, before[i + 1], operands[i]);
    std::vector<T> now(before.size());
    CHECK_EQUAL(shmemx_window_get(windows.at(peer), now.data(), windows.address<T>(peer), bytes), SHMEMX_SUCCESS);
    CHECK(now == before);
  }
}

template <class Test>
void for_all_types(Test test) {
  test.template operator()<std::int32_t>();
  test.template operator()<std::uint32_t>();
  test.template operator()<std::int64_t>();
  test.template operator()<std::uint64_t>();
  test.template operator()<float>();
  test.template operator()<double>();
}

}  // namespace

PE_TEST(each_operator_does_what_the_model_does) {
  const Windows windows(4096);
  Random random(static_cast<std::uint64_t>(me()) + 17);
  for_all_types([&]<class T>() { check_one_element<T>(windows, random); });
}

PE_TEST(accumulates_do_what_the_model_does) {
  const Windows windows(4096 * sizeof(double));
  Random random(static_cast<std::uint64_t>(me()) + 23);
  for_all_types([&]<class T>() { check_array<T>(windows, random, 0); });
}

PE_TEST(exclusive_accumulates_do_what_the_model_does) {
  const Windows windows(4096 * sizeof(double));
  Random random(static_cast<std::uint64_t>(me()) + 29);
  for_all_types([&]<class T>() { check_array<T>(windows, random, SHMEMX_OP_EXCLUSIVE); });
}

// Fetch, compare-and-swap, accumulate, and the standard's atomics on the same words lose no update.
PE_TEST(sums_of_all_are_exact) {
  constexpr int kRounds = 400;
  const Symmetric<std::int64_t> words(4);
  {
    const Windows windows(words.get(), 4 * sizeof(std::int64_t));
    const std::int64_t one = 1;
    const std::int64_t two[4] = {2, 2, 2, 2};
    std::int64_t old = 0;
    for (int i = 0; i < kRounds; ++i) {
      const int pe = i % pes();
      CHECK_EQUAL(shmemx_window_fetch_op(windows.at(pe), windows.address<std::int64_t>(pe), &one, &old, SHMEMX_INT64,
                                         SHMEMX_OP_SUM),
                  SHMEMX_SUCCESS);
      shmem_int64_atomic_add(words.get(), 1, pe);
      CHECK_EQUAL(shmemx_window_accumulate(windows.at(pe), windows.address<std::int64_t>(pe), two, 4, SHMEMX_INT64,
                                           SHMEMX_OP_SUM),
                  SHMEMX_SUCCESS);
      std::int64_t seen = 0;
      for (bool swapped = false; !swapped; swapped = old == seen) {
        shmemx_window_get(windows.at(pe), &seen, windows.address<std::int64_t>(pe, 1), sizeof seen);
        const std::int64_t next = seen + 1;
        shmemx_window_compare_swap(windows.at(pe), windows.address<std::int64_t>(pe, 1), &seen, &next, &old,
                                   SHMEMX_INT64);
      }
    }
    shmem_quiet();
  }
  std::int64_t sums[2] = {0, 0};
  for (int pe = 0; pe < pes(); ++pe) {
    sums[0] += shmem_int64_atomic_fetch(words.get(), pe);
    sums[1] += shmem_int64_atomic_fetch(words.get() + 1, pe);
  }
  CHECK_EQUAL(sums[0], std::int64_t{4} * kRounds * pes());
  CHECK_EQUAL(sums[1], std::int64_t{3} * kRounds * pes());
}

PE_TEST(floating_sums_and_extremes_of_all_are_exact) {
  constexpr int kRounds = 300;
  const Windows windows(3 * sizeof(double));
  const double start[3] = {0, 1e9, -1e9};
  std::memcpy(windows.base, start, sizeof start);
  shmem_barrier_all();
  double old = 0;
  for (int i = 0; i < kRounds; ++i) {
    const double half = 0.5;
    const double value = me() * 1000.0 + i;
    shmemx_window_fetch_op(windows.at(0), windows.address<double>(0), &half, &old, SHMEMX_DOUBLE, SHMEMX_OP_SUM);
    shmemx_window_fetch_op(windows.at(0), windows.address<double>(0, 1), &value, &old, SHMEMX_DOUBLE, SHMEMX_OP_MIN);
    shmemx_window_accumulate(windows.at(0), windows.address<double>(0, 2), &value, 1, SHMEMX_DOUBLE, SHMEMX_OP_MAX);
  }
  shmem_barrier_all();
  double now[3];
  CHECK_EQUAL(shmemx_window_get(windows.at(0), now, windows.address<double>(0), sizeof now), SHMEMX_SUCCESS);
  CHECK_EQUAL(now[0], 0.5 * kRounds * pes());
  CHECK_EQUAL(now[1], 0.0);
  CHECK_EQUAL(now[2], (pes() - 1) * 1000.0 + kRounds - 1);
}

PE_TEST(accumulates_without_blocking_complete_by_counter) {
  constexpr std::size_t kCount = 5000;
  const Windows windows(kCount * sizeof(std::uint32_t));
  std::vector<std::uint32_t> ones(kCount, 1);
  long counter = 0;
  for (int round = 0; round < 5; ++round) {
    for (int pe = 0; pe < pes(); ++pe)
      CHECK_EQUAL(shmemx_window_accumulate_nbi(windows.at(pe), windows.address<std::uint32_t>(pe), ones.data(), kCount,
                                               SHMEMX_UINT32, SHMEMX_OP_SUM, &counter),
                  SHMEMX_SUCCESS);
  }
  shmemx_window_wait(&counter);
  shmem_barrier_all();
  std::vector<std::uint32_t> fetched(kCount);
  CHECK_EQUAL(shmemx_window_get_accumulate_nbi(windows.at(right()), windows.address<std::uint32_t>(right()), nullptr,
                                               fetched.data(), kCount, SHMEMX_UINT32, SHMEMX_OP_NO_OP, &counter),
              SHMEMX_SUCCESS);
  shmemx_window_wait(&counter);
  CHECK(fetched == std::vector<std::uint32_t>(kCount, static_cast<std::uint32_t>(5 * pes())));
}
