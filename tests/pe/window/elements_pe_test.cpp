// All element types and operators: compared with a model, at aligned and unaligned addresses, one by one and in runs,
// lists and strides.
#include "element_types.hpp"

namespace {

using namespace window_test;

constexpr std::size_t kCount = 50;
constexpr std::size_t kMostBytes = (2 * kCount + 1) * 32;

// What is known of one test: old values and operands, and where they are.
template <class T>
struct Sample {
  shmemx_window_t window;
  std::byte* target;
  std::vector<T> old;
  std::vector<T> operand;
  int type;
  int op;
};

template <class T>
void check_result(const Sample<T>& c) {
  std::vector<std::byte> now(c.old.size() * sizeof(T));
  CHECK_EQUAL(shmemx_window_get(c.window, now.data(), c.target, now.size()), SHMEMX_SUCCESS);
  for (std::size_t i = 0; i < c.old.size(); ++i) CHECK(at<T>(now, i) == model(c.op, T(c.old[i]), T(c.operand[i])));
}

template <class T>
void check_fetched(const Sample<T>& c, const std::vector<std::byte>& fetched) {
  for (std::size_t i = 0; i < c.old.size(); ++i) CHECK(at<T>(fetched, i) == T(c.old[i]));
}

template <class T>
void put_old(const Sample<T>& c) {
  const std::vector<std::byte> bytes = to_bytes(c.old);
  CHECK_EQUAL(shmemx_window_put(c.window, c.target, bytes.data(), bytes.size()), SHMEMX_SUCCESS);
}

template <class T>
void check_one_by_one(const Sample<T>& c) {
  put_old(c);
  const std::vector<std::byte> operand = to_bytes(c.operand);
  std::vector<std::byte> fetched(operand.size());
  long counter = 0;
  for (std::size_t i = 0; i < c.old.size(); ++i) {
    const std::size_t offset = i * sizeof(T);
    CHECK_EQUAL(i % 2 == 0 ? shmemx_window_fetch_op(c.window, c.target + offset, operand.data() + offset,
                                                    fetched.data() + offset, c.type, c.op)
                           : shmemx_window_fetch_op_nbi(c.window, c.target + offset, operand.data() + offset,
                                                        fetched.data() + offset, c.type, c.op, &counter),
                SHMEMX_SUCCESS);
  }
  shmemx_window_wait(&counter);
  check_fetched(c, fetched);
  check_result(c);
}

template <class T>
void check_run(const Sample<T>& c, bool fetch, int exclusive) {
  put_old(c);
  const std::vector<std::byte> operand = to_bytes(c.operand);
  std::vector<std::byte> fetched(operand.size());
  const std::size_t count = c.old.size();
  CHECK_EQUAL(fetch ? shmemx_window_get_accumulate(c.window, c.target, operand.data(), fetched.data(), count, c.type,
                                                   c.op | exclusive)
                    : shmemx_window_accumulate(c.window, c.target, operand.data(), count, c.type, c.op | exclusive),
              SHMEMX_SUCCESS);
  if (fetch) check_fetched(c, fetched);
  check_result(c);
}

// Pieces of different lengths on the three sides, which lie in memory in another order than in the lists.
template <class T>
void check_lists(const Sample<T>& c) {
  put_old(c);
  std::vector<std::byte> operand = to_bytes(c.operand);
  std::vector<std::byte> fetched(operand.size());
  const auto pieces = [&](std::byte* base, std::size_t length) {
    std::vector<shmemx_iov_t> list;
    for (std::size_t i = 0; i < kCount; i += length)
      list.push_back({base + i * sizeof(T), std::min(length, kCount - i) * sizeof(T)});
    list.push_back({nullptr, 0});
    return list;
  };
  const auto targets = pieces(c.target, 7);
  const auto sources = pieces(operand.data(), 11);
  const auto results = pieces(fetched.data(), 3);
  CHECK_EQUAL(shmemx_window_get_accumulatev(c.window, targets.data(), targets.size(), sources.data(), sources.size(),
                                            results.data(), results.size(), c.type, c.op),
              SHMEMX_SUCCESS);
  check_fetched(c, fetched);
  check_result(c);
  put_old(c);
  long counter = 0;
  CHECK_EQUAL(shmemx_window_accumulatev_nbi(c.window, targets.data(), targets.size(), sources.data(), sources.size(),
                                            c.type, c.op, &counter),
              SHMEMX_SUCCESS);
  shmemx_window_wait(&counter);
  check_result(c);
  put_old(c);
  std::fill(fetched.begin(), fetched.end(), std::byte{0});
  CHECK_EQUAL(shmemx_window_get_accumulatev_nbi(c.window, targets.data(), targets.size(), sources.data(),
                                                sources.size(), results.data(), results.size(), c.type, c.op, &counter),
              SHMEMX_SUCCESS);
  shmemx_window_wait(&counter);
  check_fetched(c, fetched);
  check_result(c);
}

// Blocks of two elements, backwards at the target.
template <class T>
void check_strides(const Sample<T>& c) {
  put_old(c);
  const std::vector<std::byte> operand = to_bytes(c.operand);
  const auto stride = static_cast<std::ptrdiff_t>(2 * sizeof(T));
  const std::ptrdiff_t last = (static_cast<std::ptrdiff_t>(kCount) / 2 - 1) * stride;
  CHECK_EQUAL(shmemx_window_accumulate_strided(c.window, c.target + last, -stride, operand.data() + last, -stride, 2,
                                               kCount / 2, c.type, c.op),
              SHMEMX_SUCCESS);
  check_result(c);
  put_old(c);
  long counter = 0;
  CHECK_EQUAL(shmemx_window_accumulate_strided_nbi(c.window, c.target + last, -stride, operand.data() + last, -stride,
                                                   2, kCount / 2, c.type, c.op, &counter),
              SHMEMX_SUCCESS);
  shmemx_window_wait(&counter);
  check_result(c);
}

}  // namespace

PE_TEST(every_type_and_operator_does_what_the_model_does) {
  const Windows windows(kMostBytes);
  Random random(static_cast<std::uint64_t>(me()) + 41);
  for_all_types([&]<class T>(const Element<T>& element) {
    CHECK_EQUAL(shmemx_element_bytes(element.type), sizeof(T));
    for (const int op : element.ops) {
      const Note note("type " + std::to_string(element.type) + " op " + std::to_string(op));
      for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
        const Sample<T> c{windows.at(right()),
                          windows.address(right()) + shift,
                          some_values<T>(random, kCount),
                          some_values<T>(random, kCount),
                          element.type,
                          op};
        check_one_by_one(c);
        check_run(c, shift != 0, 0);
        check_run(c, shift == 0, SHMEMX_OP_EXCLUSIVE);
        check_lists(c);
        check_strides(c);
      }
    }
  });
}

PE_TEST(other_combinations_are_refused) {
  const Windows windows(64);
  const std::byte operand[32] = {};
  std::byte old[32];
  for_all_types([&]<class T>(const Element<T>& element) {
    for (int op = 0; op < 40; ++op) {
      const bool known = std::find(element.ops.begin(), element.ops.end(), op) != element.ops.end();
      CHECK_EQUAL(shmemx_window_fetch_op(windows.at(me()), windows.address(me()), operand, old, element.type, op),
                  known ? SHMEMX_SUCCESS : int{SHMEMX_ERR_ARGUMENT});
    }
    const bool swaps = std::is_integral_v<T>;
    CHECK_EQUAL(
        shmemx_window_compare_swap(windows.at(me()), windows.address(me()), operand, operand, old, element.type),
        swaps ? SHMEMX_SUCCESS : int{SHMEMX_ERR_ARGUMENT});
  });
  CHECK_EQUAL(shmemx_element_bytes(0), 0U);
  CHECK_EQUAL(shmemx_element_bytes(28), 0U);
  CHECK_EQUAL(shmemx_element_bytes(-1), 0U);
}

PE_TEST(lists_of_other_lengths_are_refused) {
  const Windows windows(256);
  std::byte* const base = windows.address(right());
  std::byte memory[64] = {};
  const shmemx_iov_t half = {base, 12};
  const shmemx_iov_t whole = {base, 16};
  const shmemx_iov_t outside[2] = {{base, 8}, {base + 252, 8}};
  const shmemx_iov_t source = {memory, 16};
  const shmemx_iov_t longer = {memory, 24};
  const auto add = [&](const shmemx_iov_t* targets, std::size_t count, const shmemx_iov_t& local) {
    return shmemx_window_accumulatev(windows.at(right()), targets, count, &local, 1, SHMEMX_INT64, SHMEMX_OP_SUM);
  };
  CHECK_EQUAL(add(&half, 1, {memory, 12}), int{SHMEMX_ERR_LIST});
  CHECK_EQUAL(add(&whole, 1, longer), int{SHMEMX_ERR_LIST});
  CHECK_EQUAL(add(outside, 2, source), int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(add(&whole, 1, {nullptr, 16}), int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(add(nullptr, 1, source), int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(add(&whole, 0, {memory, 0}), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_accumulate_strided(windows.at(right()), base, 8, memory, 8, SIZE_MAX / 4, 2, SHMEMX_INT64,
                                               SHMEMX_OP_SUM),
              int{SHMEMX_ERR_LIST});
  shmem_barrier_all();
  for (std::size_t i = 0; i < 256; ++i) CHECK(windows.base[i] == std::byte{0});
}

// Swaps of narrow integers leave their neighbours alone, aligned or not.
PE_TEST(narrow_swaps_touch_one_element) {
  const Windows windows(64);
  shmem_barrier_all();
  std::uint16_t old = 0;
  const std::uint16_t zero = 0;
  const std::uint16_t value = 0x1234;
  for (const std::size_t offset : {std::size_t{2}, std::size_t{9}}) {
    CHECK_EQUAL(shmemx_window_compare_swap(windows.at(right()), windows.address(right()) + offset, &zero, &value, &old,
                                           SHMEMX_UINT16),
                SHMEMX_SUCCESS);
    CHECK_EQUAL(old, zero);
    long counter = 0;
    CHECK_EQUAL(shmemx_window_compare_swap_nbi(windows.at(right()), windows.address(right()) + offset, &zero, &zero,
                                               &old, SHMEMX_UINT16, &counter),
                SHMEMX_SUCCESS);
    shmemx_window_wait(&counter);
    CHECK_EQUAL(old, value);
  }
  shmem_barrier_all();
  std::uint8_t expected[64] = {};
  expected[2] = expected[9] = 0x34;
  expected[3] = expected[10] = 0x12;
  CHECK(std::memcmp(windows.base, expected, sizeof expected) == 0);
}
