// Completion: of groups of windows, local completion, late strided transfers; waiting for values in any exposed memory;
// one wait for different things.
#include <algorithm>

#include "window_support.hpp"

namespace {

using namespace window_test;

constexpr std::size_t kLong = std::size_t{1} << 20;

std::vector<std::byte> filled(std::size_t bytes, int value) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
}
bool all_are(const std::byte* at, std::size_t bytes, int value) {
  return std::all_of(at, at + bytes, [&](std::byte b) { return b == static_cast<std::byte>(value); });
}

}  // namespace

PE_TEST(a_group_of_windows_is_flushed) {
  const std::size_t bytes = kLong / static_cast<std::size_t>(pes());
  const Windows windows(kLong);
  std::vector<std::byte> data = filled(bytes, me() + 1);
  for (int pe = 0; pe < pes(); ++pe)
    CHECK_EQUAL(shmemx_window_put_nbi(windows.at(pe), windows.address(pe) + static_cast<std::size_t>(me()) * bytes,
                                      data.data(), bytes, nullptr),
                SHMEMX_SUCCESS);
  std::vector<shmemx_window_t> group = windows.of;
  group.insert(group.begin(), SHMEMX_WINDOW_INVALID);
  CHECK_EQUAL(shmemx_window_flush_all(group.data(), group.size()), SHMEMX_SUCCESS);
  std::fill(data.begin(), data.end(), std::byte{0});
  shmem_barrier_all();
  for (int pe = 0; pe < pes(); ++pe) CHECK(all_are(windows.base + static_cast<std::size_t>(pe) * bytes, bytes, pe + 1));
  const shmemx_window_t wrong[2] = {windows.at(0), windows.own};
  CHECK_EQUAL(shmemx_window_flush_all(wrong, 2), int{SHMEMX_ERR_WINDOW});
  CHECK_EQUAL(shmemx_window_flush_local_all(wrong, 2), int{SHMEMX_ERR_WINDOW});
  CHECK_EQUAL(shmemx_window_flush_local(windows.own), int{SHMEMX_ERR_WINDOW});
  CHECK_EQUAL(shmemx_window_flush_all(nullptr, 0), SHMEMX_SUCCESS);
}

PE_TEST(local_completion_frees_the_source_and_brings_results) {
  const Windows windows(2 * kLong);
  const shmemx_window_t window = windows.at(right());
  std::byte* const target = windows.address(right());
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{20'000}, kLong}) {
    std::vector<std::byte> data = filled(bytes, 5);
    std::vector<std::byte> back(bytes);
    CHECK_EQUAL(shmemx_window_put_nbi(window, target, data.data(), bytes, nullptr), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_accumulate_nbi(window, target + kLong, data.data(), bytes, SHMEMX_UINT8,
                                             SHMEMX_OP_REPLACE, nullptr),
                SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_flush_local(window), SHMEMX_SUCCESS);
    std::fill(data.begin(), data.end(), std::byte{9});
    CHECK_EQUAL(shmemx_window_flush(window), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_get_nbi(window, back.data(), target, bytes, nullptr), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_flush_local_all(&window, 1), SHMEMX_SUCCESS);
    CHECK(all_are(back.data(), bytes, 5));
    std::uint8_t old = 0;
    CHECK_EQUAL(
        shmemx_window_fetch_op_nbi(window, target + kLong, nullptr, &old, SHMEMX_UINT8, SHMEMX_OP_NO_OP, nullptr),
        SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_flush_local(window), SHMEMX_SUCCESS);
    CHECK_EQUAL(int{old}, 5);
  }
}

PE_TEST(late_strides_complete_by_counter) {
  constexpr std::size_t kBlocks = 500;
  const Windows windows(kBlocks * 16);
  std::vector<std::uint64_t> source(kBlocks);
  std::vector<std::uint64_t> back(kBlocks);
  for (std::size_t i = 0; i < kBlocks; ++i) source[i] = i + 1;
  long counter = 0;
  CHECK_EQUAL(shmemx_window_put_strided_nbi(windows.at(right()), windows.address(right()), 16, source.data(), 8, 8,
                                            kBlocks, &counter),
              SHMEMX_SUCCESS);
  shmemx_window_wait(&counter);
  CHECK_EQUAL(shmemx_window_get_strided_nbi(windows.at(right()), back.data(), 8, windows.address(right()), 16, 8,
                                            kBlocks, &counter),
              SHMEMX_SUCCESS);
  shmemx_window_wait(&counter);
  CHECK(back == source);
  shmem_barrier_all();
  for (std::size_t i = 0; i < kBlocks; ++i) CHECK_EQUAL(windows.mine<std::uint64_t>()[2 * i + 1], 0U);
}

// The owner gathers the blocks of a strided get before it sends them, so replies that wait for the network must not
// share memory.
PE_TEST(strided_gets_that_are_open_together_arrive_whole) {
  constexpr std::size_t kBlockWords = 8;
  constexpr std::size_t kBlocks = 1024;
  constexpr std::size_t kGets = 128;                             // more than a socket buffers
  constexpr std::size_t kWords = kGets * kBlocks * kBlockWords;  // of each PE's data, in every other block
  const Windows windows(2 * kWords * sizeof(std::uint64_t));
  const auto value = [](int pe, std::size_t i) { return i * 4 + static_cast<std::size_t>(pe); };
  for (std::size_t i = 0; i < 2 * kWords; ++i) windows.mine<std::uint64_t>()[i] = value(me(), i);
  shmem_barrier_all();
  std::size_t wrong = 0;
  for (int round = 0; round < 4; ++round) {
    std::vector<std::uint64_t> back(kWords);
    long counter = 0;
    for (std::size_t at = 0; at < kWords; at += kBlocks * kBlockWords) {
      const std::uint64_t* const there = windows.address<std::uint64_t>(right(), 2 * at);
      CHECK_EQUAL(shmemx_window_get_strided_nbi(windows.at(right()), &back[at], 64, there, 128, 64, kBlocks, &counter),
                  SHMEMX_SUCCESS);
    }
    shmemx_window_wait(&counter);
    for (std::size_t i = 0; i < kWords; ++i)
      if (back[i] != value(right(), 2 * (i - i % kBlockWords) + i % kBlockWords)) ++wrong;
  }
  CHECK_EQUAL(wrong, std::size_t{0});
}

namespace {

// Each PE waits until its left neighbour has added to a word of its private memory, then adds to the next one.
template <class T>
void pass_on(int type) {
  std::vector<T> memory(4);
  const Windows windows(memory.data(), memory.size() * sizeof(T));
  const T three = 3;
  T old = 0;
  shmem_barrier_all();
  for (T round = 1; round <= 3; ++round) {
    const T wanted = static_cast<T>(three * round);
    if (me() == 0)
      shmemx_window_fetch_op(windows.at(right()), windows.address<T>(right(), 1), &three, &old, type, SHMEMX_OP_SUM);
    CHECK_EQUAL(shmemx_window_wait_until(&memory[1], type, SHMEM_CMP_GE, &wanted), SHMEMX_SUCCESS);
    if (me() != 0)
      shmemx_window_fetch_op(windows.at(right()), windows.address<T>(right(), 1), &three, &old, type, SHMEMX_OP_SUM);
    int flag = 0;
    CHECK_EQUAL(shmemx_window_test_until(&memory[1], type, SHMEM_CMP_LT, &wanted, &flag), SHMEMX_SUCCESS);
    CHECK_EQUAL(flag, 0);
    shmem_barrier_all();
  }
}

}  // namespace

PE_TEST(values_in_private_memory_are_waited_for) {
  pass_on<std::int8_t>(SHMEMX_INT8);
  pass_on<std::uint16_t>(SHMEMX_UINT16);
  pass_on<std::int32_t>(SHMEMX_INT32);
  pass_on<std::uint64_t>(SHMEMX_UINT64);
  std::int64_t word = 0;
  const double number = 0;
  int flag = 7;
  CHECK_EQUAL(shmemx_window_wait_until(&number, SHMEMX_DOUBLE, SHMEM_CMP_EQ, &number), int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(shmemx_window_wait_until(&word, SHMEMX_INT64, 0, &word), int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(shmemx_window_test_until(reinterpret_cast<char*>(&word) + 1, SHMEMX_INT32, SHMEM_CMP_EQ, &word, &flag),
              int{SHMEMX_ERR_ALIGNMENT});
  CHECK_EQUAL(flag, 7);
}

namespace {

int is_odd(void* object) { return ++*static_cast<int*>(object) % 2; }

shmemx_event_t event_of(int kind, const void* object) {
  shmemx_event_t event{};
  event.kind = kind;
  event.object = object;
  return event;
}

}  // namespace

PE_TEST(one_wait_for_different_things) {
  std::int32_t word = 0;
  std::int32_t received = 0;
  const Windows words(&word, sizeof word);
  shmemx_request_t request = SHMEMX_REQUEST_NULL;
  shmemx_irecv(&received, sizeof received, left(), 1, &request);
  shmemx_event_t events[4] = {event_of(SHMEMX_EVENT_NONE, nullptr), event_of(SHMEMX_EVENT_VALUE, &word),
                              event_of(SHMEMX_EVENT_REQUEST, &request), event_of(SHMEMX_EVENT_MESSAGE, nullptr)};
  events[1].type = SHMEMX_INT32;
  events[1].comparison = SHMEM_CMP_EQ;
  events[1].reference = -7;
  events[3].source_pe = left();
  events[3].tag = 2;
  CHECK_EQUAL(shmemx_event_wait(events, 1), 1U);
  CHECK_EQUAL(shmemx_event_test(events, 4), 4U);
  shmem_barrier_all();
  const std::int32_t sent = me();
  shmemx_send(&sent, sizeof sent, right(), 2);
  CHECK_EQUAL(shmemx_event_wait(events, 4), 3U);
  std::int32_t taken = -1;
  shmemx_recv(&taken, sizeof taken, left(), 2, nullptr);
  CHECK_EQUAL(taken, left());
  CHECK_EQUAL(shmemx_event_test(events, 4), 4U);
  shmem_barrier_all();
  shmemx_send(&sent, sizeof sent, right(), 1);
  CHECK_EQUAL(shmemx_event_wait(events, 4), 2U);
  shmemx_wait(&request, nullptr);
  CHECK_EQUAL(received, left());
  shmem_barrier_all();
  const std::int32_t minus_seven = -7;
  shmemx_window_put(words.at(right()), words.address(right()), &minus_seven, sizeof minus_seven);
  events[2].kind = SHMEMX_EVENT_NONE;
  CHECK_EQUAL(shmemx_event_wait(events, 4), 1U);
}

PE_TEST(counters_and_functions_are_waited_for) {
  const Windows windows(kLong);
  std::vector<std::byte> data = filled(kLong, 3);
  long counter = 0;
  shmemx_event_t events[2] = {event_of(SHMEMX_EVENT_NONE, nullptr), event_of(SHMEMX_EVENT_COUNTER, &counter)};
  CHECK_EQUAL(shmemx_window_get_nbi(windows.at(right()), data.data(), windows.address(right()), kLong, &counter),
              SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_event_wait(events, 2), 1U);
  CHECK(all_are(data.data(), kLong, 0));
  int calls = 1;
  events[0] = event_of(SHMEMX_EVENT_FUNCTION, &calls);
  events[0].function = is_odd;
  CHECK_EQUAL(shmemx_event_wait(events, 1), 0U);
  CHECK_EQUAL(calls, 3);
}
