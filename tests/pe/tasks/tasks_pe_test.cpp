// Remote tasks (shmemx/tasks.h): every PE sends to every PE, handlers send on, sizes, priorities, stop, kept payloads.
#include <shmemx.h>

#include <cstring>
#include <vector>

#include "../../support/pattern.hpp"
#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

enum Id { kCount = 0, kForward = 65535, kSized = 300, kOrdered = 40, kStop = 41, kWaits = 42, kFlood = 43, kTree = 44 };

struct Seen {
  long count = 0;
  long bad = 0;
  long ended = 0;
  int depth = 0;
  std::vector<int> order;
};
Seen seen;

// Runs tasks until `done` holds; others may need this PE meanwhile.
template <class Done>
void run_until(Done done) {
  while (!done()) shmemx_scheduler_poll(16);
}

void on_count(int, const void*, size_t, void* argument) {
  auto* const all = static_cast<Seen*>(argument);
  if (++all->depth != 1) ++all->bad;  // one at a time
  ++all->count;
  --all->depth;
}

void on_forward(int, const void* payload, size_t bytes, void*) {
  long hops;
  if (bytes != sizeof hops) return;
  std::memcpy(&hops, payload, sizeof hops);
  ++seen.count;
  if (--hops >= 0) shmemx_task_send(right(), kForward, &hops, sizeof hops, 0);
}

void on_sized(int source, const void* payload, size_t bytes, void*) {
  const auto* const data = static_cast<const unsigned char*>(payload);
  if (reinterpret_cast<std::uintptr_t>(payload) % 8 != 0) ++seen.bad;
  for (size_t i = 0; i < bytes; i += bytes < 5000 ? 1 : 997) {
    if (data[i] != test_support::pattern_byte(static_cast<std::size_t>(source) + bytes, i)) ++seen.bad;
  }
  ++seen.count;
}

void on_ordered(int, const void* payload, size_t, void*) {
  int number;
  std::memcpy(&number, payload, sizeof number);
  seen.order.push_back(number);
}

void fresh() {
  seen = Seen{};
  shmemx_task_register(kCount, on_count, &seen);
  shmemx_task_register(kForward, on_forward, nullptr);
  shmemx_task_register(kSized, on_sized, nullptr);
  shmemx_task_register(kOrdered, on_ordered, nullptr);
  shmem_barrier_all();
}

PE_TEST(tasks_of_all_pes_are_run_once) {
  fresh();
  constexpr long kEach = 3000;
  for (long i = 0; i < kEach; ++i) {
    for (int pe = 0; pe < pes(); ++pe)
      shmemx_task_send(pe, kCount, &i, static_cast<size_t>(i % 40 == 0 ? 0 : i % 9), 0);
  }
  run_until([] { return seen.count == kEach * pes(); });
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_scheduler_poll(1000), 0u);
  CHECK_EQUAL(seen.count, kEach * pes());
  CHECK_EQUAL(seen.bad, 0);
}

PE_TEST(handlers_send_tasks_on) {
  fresh();
  const long hops = 400;
  shmemx_task_send(right(), kForward, &hops, sizeof hops, 0);
  run_until([&] { return seen.count >= hops + 1; });
  shmem_barrier_all();
  CHECK_EQUAL(seen.count, hops + 1);
}

PE_TEST(payloads_of_all_sizes_arrive_whole) {
  fresh();
  const size_t sizes[] = {0, 1, 7, 8, 40, 41, 104, 105, 2000, 4072, 4081, 8150, 8160, 8200, 20000, 70000, 1 << 20};
  std::vector<unsigned char> data(1 << 20);
  for (const size_t bytes : sizes) {
    for (size_t i = 0; i < bytes; ++i) data[i] = test_support::pattern_byte(static_cast<std::size_t>(me()) + bytes, i);
    for (int pe = 0; pe < pes(); ++pe)
      shmemx_task_send(pe, kSized, data.data(), bytes, static_cast<int>(bytes % 3) - 1);
  }
  const long expected = static_cast<long>(std::size(sizes)) * pes();
  run_until([&] { return seen.count == expected; });
  CHECK_EQUAL(seen.bad, 0);
  CHECK_EQUAL(seen.count, expected);
  shmem_barrier_all();
}

PE_TEST(smaller_priorities_run_first) {
  fresh();
  const int priorities[] = {5, 0, -3, 5, 0, -3, 1000000, -1000000};
  int number = 0;
  for (const int priority : priorities) {
    shmemx_task_send(me(), kOrdered, &number, sizeof number, priority);
    ++number;
  }
  CHECK_EQUAL(shmemx_scheduler_poll(3), 3u);
  CHECK_EQUAL(shmemx_scheduler_poll(100), 5u);
  CHECK(seen.order == std::vector<int>({7, 2, 5, 1, 4, 0, 3, 6}));
}

PE_TEST(stop_ends_a_run) {
  fresh();
  shmemx_task_register(
      kStop,
      [](int, const void*, size_t, void*) {
        ++seen.ended;
        shmemx_scheduler_stop();
      },
      nullptr);
  shmem_barrier_all();
  shmemx_task_send(right(), kStop, nullptr, 0, 100);
  const size_t ran = shmemx_scheduler_run();
  CHECK_EQUAL(ran, 1u);
  CHECK_EQUAL(seen.ended, 1);
  shmemx_scheduler_stop();
  CHECK_EQUAL(shmemx_scheduler_run(), 0u);
  shmem_barrier_all();
}

PE_TEST(handlers_may_wait_in_the_library) {
  fresh();
  static long word;
  word = 0;
  shmemx_task_register(
      kWaits,
      [](int, const void*, size_t, void*) {
        shmem_long_atomic_inc(&word, right());
        shmem_barrier_all();
        ++seen.ended;
      },
      nullptr);
  shmem_barrier_all();
  shmemx_task_send(right(), kWaits, nullptr, 0, 0);
  run_until([] { return seen.ended == 1; });
  CHECK_EQUAL(word, 1);
  shmem_barrier_all();
}

PE_TEST(kept_payloads_stay_until_they_are_freed) {
  fresh();
  static std::vector<const void*> kept;
  kept.clear();
  shmemx_task_register(
      kWaits, [](int, const void*, size_t, void*) { kept.push_back(shmemx_task_keep()); }, nullptr);
  shmem_barrier_all();
  constexpr size_t kSizes[] = {8, 100, 5000, 30000, 200000};
  std::vector<unsigned char> data(200000);
  for (int round = 0; round < 20; ++round) {
    for (const size_t bytes : kSizes) {
      std::memset(data.data(), static_cast<int>(bytes % 251), bytes);
      shmemx_task_send(right(), kWaits, data.data(), bytes, static_cast<int>(bytes));
    }
    for (long i = 0; i < 200; ++i) shmemx_task_send(right(), kCount, &i, sizeof i, 0);
  }
  run_until([] { return kept.size() == 100 && seen.count == 4000; });
  long bad = 0;
  for (const void* payload : kept) {
    const auto* const bytes = static_cast<const unsigned char*>(payload);
    bool known = false;
    for (const size_t size : kSizes) known |= bytes[0] == size % 251 && bytes[size - 1] == size % 251;
    bad += known ? 0 : 1;
    shmemx_task_free(payload);
  }
  CHECK_EQUAL(bad, 0);
  shmem_barrier_all();
}

// Without waiting, more leaves a handler than there is room for.
PE_TEST(sends_of_a_handler_do_not_wait) {
  fresh();
  shmemx_task_register(
      kFlood,
      [](int, const void*, size_t, void*) {
        std::vector<unsigned char> data(30000, 1);
        for (int i = 0; i < 200; ++i) shmemx_task_send(right(), kCount, data.data(), data.size(), 0);
      },
      nullptr);
  shmem_barrier_all();
  shmemx_task_send(me(), kFlood, nullptr, 0, 0);
  run_until([] { return seen.count == 200; });
  CHECK_EQUAL(seen.count, 200);
  shmem_barrier_all();
}

// A tree of tasks over all PEs, of which no PE knows its part.
PE_TEST(quiesce_runs_all_tasks_of_all_pes) {
  fresh();
  shmemx_task_register(
      kTree,
      [](int, const void* payload, size_t, void*) {
        long depth;
        std::memcpy(&depth, payload, sizeof depth);
        ++seen.count;
        if (depth-- == 0) return;
        for (long child = 0; child < 3; ++child)
          shmemx_task_send(static_cast<int>(me() + child * depth) % pes(), kTree, &depth, sizeof depth,
                           static_cast<int>(depth));
      },
      nullptr);
  shmem_barrier_all();
  static long total, sum;
  for (int round = 0; round < 3; ++round) {
    seen.count = 0;
    const long depth = 7;
    if (me() == round % pes()) shmemx_task_send(right(), kTree, &depth, sizeof depth, 0);
    shmemx_scheduler_quiesce();
    total = seen.count;
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &sum, &total, 1);
    CHECK_EQUAL(sum, 3280);  // 3^0 + ... + 3^7
    CHECK_EQUAL(shmemx_scheduler_poll(10), 0u);
    shmem_barrier_all();
  }
  shmemx_scheduler_quiesce();
}

// Above 16 MiB for a target, senders outside of handlers wait until it has received.
PE_TEST(long_streams_are_received_without_being_run) {
  fresh();
  std::vector<unsigned char> data(60000, 1);
  for (int i = 0; i < 600; ++i) shmemx_task_send(right(), kCount, data.data(), data.size(), 0);
  shmemx_task_flush();
  run_until([] { return seen.count == 600; });
  CHECK_EQUAL(seen.count, 600);
  shmem_barrier_all();
}

}  // namespace
