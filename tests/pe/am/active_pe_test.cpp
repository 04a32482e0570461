// Active messages (shmemx/active.h): order, sizes, replies from handlers, flow control, a target that computes.
#include <shmemx.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <vector>

#include "../../support/pattern.hpp"
#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

enum Id { kCount = 0, kEcho = 7, kEchoed = 8, kLong = 200, kRelay = 100, kOrder = 255 };

// Written by handlers, which the progress thread may run.
struct Counters {
  std::atomic<long> count{0};
  std::atomic<long> echoed{0};
  std::atomic<long> bytes{0};
  std::atomic<long> bad{0};
  std::vector<std::atomic<long>> last;
};
Counters seen;

int n() { return shmem_n_pes(); }

void on_count(int, const void*, size_t, void* argument) {
  auto* const counters = static_cast<Counters*>(argument);
  counters->count.fetch_add(1);
}

void on_echo(int source, const void* payload, size_t bytes, void*) { shmemx_am_send(source, kEchoed, payload, bytes); }
void on_echoed(int, const void* payload, size_t bytes, void*) {
  const auto* const data = static_cast<const unsigned char*>(payload);
  for (size_t i = 0; i < bytes; ++i) {
    if (data[i] != test_support::pattern_byte(static_cast<std::size_t>(shmem_my_pe()), i)) seen.bad.fetch_add(1);
  }
  seen.bytes.fetch_add(static_cast<long>(bytes));
  seen.echoed.fetch_add(1);
}

void on_long(int source, const void* payload, size_t bytes, void*) {
  const auto* const data = static_cast<const unsigned char*>(payload);
  if (reinterpret_cast<std::uintptr_t>(payload) % 8 != 0) seen.bad.fetch_add(1);
  for (size_t i = 0; i < bytes; ++i) {
    if (data[i] != test_support::pattern_byte(static_cast<std::size_t>(source), i)) {
      seen.bad.fetch_add(1);
      break;
    }
  }
  seen.bytes.fetch_add(static_cast<long>(bytes));
  seen.count.fetch_add(1);
}

void on_order(int source, const void* payload, size_t bytes, void*) {
  long number;
  std::memcpy(&number, payload, sizeof number);
  std::atomic<long>& last = seen.last[static_cast<std::size_t>(source)];
  if (number != last + 1 || bytes != sizeof number + static_cast<size_t>(number % 300)) seen.bad.fetch_add(1);
  last = number;
}

// Forwards the message to the next PE until its hop count is 0.
void on_relay(int, const void* payload, size_t bytes, void*) {
  long hops;
  std::memcpy(&hops, payload, sizeof hops);
  if (--hops == 0) {
    seen.count.fetch_add(1);
    return;
  }
  std::vector<unsigned char> copy(static_cast<const unsigned char*>(payload),
                                  static_cast<const unsigned char*>(payload) + bytes);
  std::memcpy(copy.data(), &hops, sizeof hops);
  shmemx_am_send((shmem_my_pe() + 1) % shmem_n_pes(), kRelay, copy.data(), bytes);
}

void fresh() {
  for (auto* counter : {&seen.count, &seen.echoed, &seen.bytes, &seen.bad}) counter->store(0);
  seen.last = std::vector<std::atomic<long>>(static_cast<std::size_t>(n()));
  shmemx_am_register(kCount, on_count, &seen);
  shmemx_am_register(kEcho, on_echo, nullptr);
  shmemx_am_register(kEchoed, on_echoed, nullptr);
  shmemx_am_register(kLong, on_long, nullptr);
  shmemx_am_register(kOrder, on_order, nullptr);
  shmemx_am_register(kRelay, on_relay, nullptr);
  shmem_barrier_all();
}

template <class Done>
void poll_until(Done done) {
  while (!done()) shmemx_am_poll();
}

PE_TEST(every_pe_counts_the_messages_of_all_pes) {
  fresh();
  constexpr long kEach = 300;
  for (long i = 0; i < kEach; ++i) {
    for (int pe = 0; pe < n(); ++pe) shmemx_am_send(pe, kCount, nullptr, 0);
  }
  poll_until([] { return seen.count == kEach * n(); });
  shmem_barrier_all();
  CHECK_EQUAL(seen.count.load(), kEach * n());
}

PE_TEST(quiet_waits_until_handlers_have_returned) {
  fresh();
  static std::atomic<long> sum;
  sum = 0;
  shmemx_am_register(
      kCount, [](int, const void*, size_t, void*) { sum.fetch_add(1); }, nullptr);
  shmem_barrier_all();
  for (int i = 0; i < 50; ++i) {
    for (int pe = 0; pe < n(); ++pe) shmemx_am_send(pe, kCount, &i, sizeof i);
  }
  shmemx_am_quiet();
  shmem_barrier_all();
  CHECK_EQUAL(sum.load(), 50L * n());
}

PE_TEST(messages_of_any_size_are_returned_unchanged) {
  fresh();
  const std::vector<std::size_t> sizes{0, 1, 7, 8, 87, 88, 89, 111, 112, 113, 480, 481, 8136, 8137, 8160, 8161, 100000};
  long sent = 0;
  for (const std::size_t bytes : sizes) {
    const auto data = test_support::pattern(bytes, static_cast<std::size_t>(me()));
    for (int pe = 0; pe < n(); ++pe) shmemx_am_send(pe, kEcho, data.data(), bytes);
    sent += static_cast<long>(bytes) * n();
  }
  poll_until([&] { return seen.echoed == static_cast<long>(sizes.size()) * n(); });
  CHECK_EQUAL(seen.bytes.load(), sent);
  CHECK_EQUAL(seen.bad.load(), 0);
  shmem_barrier_all();
}

PE_TEST(a_message_of_the_largest_size_arrives) {
  fresh();
  const auto data = test_support::pattern(SHMEMX_AM_MAX_BYTES / 4, static_cast<std::size_t>(me()));
  shmemx_am_send((me() + 1) % n(), kLong, data.data(), data.size());
  poll_until([] { return seen.count == 1; });
  CHECK_EQUAL(seen.bytes.load(), static_cast<long>(data.size()));
  CHECK_EQUAL(seen.bad.load(), 0);
  shmem_barrier_all();
}

PE_TEST(messages_of_one_source_stay_in_order) {
  fresh();
  constexpr long kEach = 2000;
  std::vector<unsigned char> data(sizeof(long) + 300);
  for (long number = 1; number <= kEach; ++number) {
    std::memcpy(data.data(), &number, sizeof number);
    for (int pe = 0; pe < n(); ++pe)
      shmemx_am_send(pe, kOrder, data.data(), sizeof number + static_cast<std::size_t>(number % 300));
  }
  poll_until([] {
    for (const auto& last : seen.last) {
      if (last.load() != kEach) return false;
    }
    return true;
  });
  CHECK_EQUAL(seen.bad.load(), 0);
  shmem_barrier_all();
}

PE_TEST(handlers_send_on_when_cells_are_short) {
  fresh();
  constexpr long kStarted = 200;
  std::vector<unsigned char> data(400);
  for (long i = 0; i < kStarted; ++i) {
    const long hops = 5 + i % 7;
    std::memcpy(data.data(), &hops, sizeof hops);
    shmemx_am_send((me() + 1) % n(), kRelay, data.data(), data.size());
  }
  static long total, sums;
  poll_until([] { return seen.count >= 0; });
  // A relay may end on any PE, so the counts are added up.
  do {
    for (int i = 0; i < 100; ++i) shmemx_am_poll();
    total = seen.count;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sums, &total, 1);
  } while (sums < kStarted * n());
  CHECK_EQUAL(sums, kStarted * n());
  shmem_barrier_all();
}

// No PE polls for a while, and every PE sends more than all cells hold.
PE_TEST(all_pes_send_while_none_receives) {
  fresh();
  const auto data = test_support::pattern(3000, static_cast<std::size_t>(me()));
  for (int i = 0; i < 200; ++i) {
    for (int pe = 0; pe < n(); ++pe) shmemx_am_send(pe, kLong, data.data(), data.size());
  }
  shmem_barrier_all();  // waits of the library make progress
  poll_until([] { return seen.count == 200L * n(); });
  CHECK_EQUAL(seen.bad.load(), 0);
  shmem_barrier_all();
}

PE_TEST(waits_of_the_library_run_handlers) {
  fresh();
  static long flag;
  flag = 0;
  shmemx_am_register(
      kCount, [](int, const void*, size_t, void*) { __atomic_store_n(&flag, 1L, __ATOMIC_RELEASE); }, nullptr);
  shmem_barrier_all();
  shmemx_am_send((me() + 1) % n(), kCount, nullptr, 0);
  shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
  CHECK_EQUAL(flag, 1);
  shmem_barrier_all();
}

// The hint changes nothing of what arrives, whether a thread keeps its word or not.
PE_TEST(a_pe_that_attends_receives_as_ever) {
  fresh();
  shmemx_am_attend(0);  // nobody has begun
  for (int round = 0; round < 3; ++round) {
    shmemx_am_attend(1);
    for (int pe = 0; pe < n(); ++pe) shmemx_am_send(pe, kCount, nullptr, 0);
    const long expected = (round + 1L) * n();
    int polls = 0;
    poll_until([&] {
      if (++polls % 8 == 0) shmemx_am_attend(1);
      return seen.count >= expected;
    });
    if (round != 1) shmemx_am_attend(0);
    shmem_barrier_all();
    CHECK_EQUAL(seen.count.load(), expected);
    shmem_barrier_all();
  }
}

}  // namespace
