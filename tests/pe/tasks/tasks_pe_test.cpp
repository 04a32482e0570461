// Remote tasks (shmemx/tasks.h): every PE sends to every PE, handlers send on, sizes, priorities, stop, kept payloads.
#include <shmemx.h>

#include <cstring>
#include <vector>

#include "../../support/pattern.hpp"
#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

enum Id {
  kCount = 0,
  kForward = 65534,
  kSized = 300,
  kOrdered = 40,
  kStop = 41,
  kWaits = 42,
  kFlood = 43,
  kTree = 44,
  kCalled = 45
};

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

void register_called() {
  fresh();
  shmemx_task_register(
      kCalled,
      [](int source, const void* payload, size_t bytes, void*) {
        long value = source;
        if (bytes == sizeof value) std::memcpy(&value, payload, sizeof value);
        if (value == -1) return;  // replies with nothing
        if (value == -2) {
          std::vector<long> many(20000, me());
          return shmemx_task_reply(many.data(), many.size() * sizeof(long));
        }
        value = value * 10 + me();
        shmemx_task_reply(&value, sizeof value);
      },
      nullptr);
  shmem_barrier_all();
}

PE_TEST(calls_bring_results) {
  register_called();
  std::vector<long> results(static_cast<size_t>(pes()) * 50, -1);
  std::vector<shmemx_request_t> requests(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const long value = static_cast<long>(i);
    shmemx_task_call(static_cast<int>(i) % pes(), kCalled, &value, sizeof value, &results[i], sizeof results[i],
                     &requests[i]);
  }
  shmemx_scheduler_quiesce();
  long bad = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    shmemx_status_t status;
    shmemx_wait(&requests[i], &status);
    bad += results[i] != static_cast<long>(i) * 10 + static_cast<long>(i) % pes();
    bad += status.source_pe != static_cast<int>(i) % pes() || status.bytes != sizeof(long) || status.error != 0;
  }
  CHECK_EQUAL(bad, 0);
  shmem_barrier_all();
}

PE_TEST(replies_may_be_empty_long_or_cut_off) {
  register_called();
  std::vector<shmemx_request_t> requests(3);
  long value = -1, none = 77;
  shmemx_task_call(right(), kCalled, &value, sizeof value, &none, sizeof none, &requests[0]);
  value = -2;
  std::vector<long> many(20000);
  shmemx_task_call(right(), kCalled, &value, sizeof value, many.data(), many.size() * sizeof(long), &requests[1]);
  shmemx_task_call(right(), kCalled, &value, sizeof value, &value, sizeof value, &requests[2]);
  shmemx_scheduler_quiesce();
  shmemx_status_t statuses[3];
  CHECK_EQUAL(shmemx_waitall(3, requests.data(), statuses), SHMEMX_ERR_TRUNCATE);
  CHECK(statuses[0].bytes == 0 && none == 77);
  CHECK(statuses[1].bytes == many.size() * sizeof(long) && many.front() == right() && many.back() == right());
  CHECK(statuses[2].error == SHMEMX_ERR_TRUNCATE && value == right());
  shmem_barrier_all();
}

// Longer than a cell, and so long that they are pulled. They go to the result, and leave nothing on the caller.
PE_TEST_MIN(replies_take_no_memory_of_callers, 2) {
  fresh();
  static std::vector<long> many;
  many.assign(20000, me());
  shmemx_task_register(
      kCalled,
      [](int, const void* payload, size_t bytes, void*) {
        size_t words;
        if (bytes != sizeof words) return shmemx_scheduler_stop();
        std::memcpy(&words, payload, sizeof words);
        shmemx_task_reply(many.data(), words * sizeof(long));
      },
      nullptr);
  shmem_barrier_all();
  if (me() == 1) shmemx_scheduler_run();
  long bad = 0;
  for (int turn = 0; me() == 0 && turn < 200; ++turn) {
    const size_t words = turn % 4 == 0 ? many.size() : 6000;
    const size_t room = turn % 8 == 0 ? words - 1 : words;
    std::vector<long> result(many.size(), -1);
    shmemx_request_t request;
    shmemx_status_t status;
    shmemx_task_call(1, kCalled, &words, sizeof words, result.data(), room * sizeof(long), &request);
    const int error = shmemx_wait(&request, &status);
    bad += error != (room < words ? SHMEMX_ERR_TRUNCATE : 0) || status.bytes != room * sizeof(long);
    for (size_t i = 0; i < result.size(); ++i) bad += result[i] != (i < room ? 1 : -1);
  }
  if (me() == 0) shmemx_task_send(1, kCalled, nullptr, 0, 0);
  CHECK_EQUAL(bad, 0);
  shmem_barrier_all();
}

// Tasks that come in many messages share memory while they wait.
PE_TEST_MIN(tasks_that_wait_take_little_memory, 2) {
  fresh();
  shmemx_task_register(kCount, on_count, &seen);
  shmem_barrier_all();
  constexpr long kRounds = 800;
  for (long round = 0; round < kRounds; ++round) {
    if (me() == 0) {
      for (int i = 0; i < 2; ++i) shmemx_task_send(1, kCount, nullptr, 0, 0);
      shmemx_task_flush();
    }
    shmem_barrier_all();
    if (me() == 1) shmemx_scheduler_poll(1);
  }
  if (me() == 1) run_until([] { return seen.count == 2 * kRounds; });
  CHECK_EQUAL(seen.bad, 0);
  shmem_barrier_all();
}

// A reply needs the scheduler of the target, not that of the caller.
PE_TEST_MIN(a_call_is_completed_by_waiting, 2) {
  fresh();
  shmemx_task_register(
      kCalled,
      [](int source, const void*, size_t, void*) {
        ++seen.count;
        shmemx_task_reply(&source, sizeof source);
      },
      nullptr);
  shmem_barrier_all();
  if (me() == 0) {
    int answer = -1;
    shmemx_request_t request;
    shmemx_task_call(1, kCalled, nullptr, 0, &answer, sizeof answer, &request);
    shmemx_wait(&request, nullptr);
    CHECK_EQUAL(answer, 0);
  }
  if (me() == 1) run_until([] { return seen.count == 1; });
  CHECK(true);
  shmem_barrier_all();
}

PE_TEST(tasks_follow_requests) {
  fresh();
  static int got;
  got = -1;
  shmemx_task_register(
      kWaits,
      [](int source, const void* payload, size_t bytes, void*) {
        if (source == me() && bytes == 3 && std::memcmp(payload, "abc", 3) == 0 && got == left()) ++seen.ended;
      },
      nullptr);
  shmem_barrier_all();
  shmemx_request_t request;
  shmemx_irecv(&got, sizeof got, left(), 5, &request);
  shmemx_task_after(&request, kWaits, "abc", 3, 0);
  CHECK(request == SHMEMX_REQUEST_NULL);
  const int number = me();
  shmemx_request_t sent;
  shmemx_isend(&number, sizeof number, right(), 5, &sent);
  shmemx_scheduler_quiesce();
  CHECK_EQUAL(seen.ended, 1);
  shmemx_wait(&sent, nullptr);
  shmemx_task_after(&request, kWaits, "abc", 3, 0);  // is complete
  shmemx_scheduler_quiesce();
  CHECK_EQUAL(seen.ended, 2);
}

// Small and long ones; those from 64 KiB on are pulled from the program's memory.
PE_TEST(owned_payloads_are_released_once) {
  fresh();
  static std::vector<void*> released;
  released.clear();
  constexpr size_t kSizes[] = {0, 8, 5000, 40000, 65536, 300000, 3 << 20};
  std::vector<std::vector<unsigned char>> data;
  for (const size_t bytes : kSizes) {
    data.emplace_back(bytes + 1);
    for (size_t i = 0; i < bytes; ++i)
      data.back()[i] = test_support::pattern_byte(static_cast<std::size_t>(me()) + bytes, i);
  }
  for (int pe = 0; pe < pes(); ++pe) {
    for (size_t i = 0; i < std::size(kSizes); ++i) {
      shmemx_task_send_owned(
          pe, kSized, data[i].data(), kSizes[i], static_cast<int>(i % 2),
          [](void* payload, void* argument) { static_cast<std::vector<void*>*>(argument)->push_back(payload); },
          &released);
    }
  }
  shmemx_scheduler_quiesce();
  shmem_barrier_all();
  const size_t expected = std::size(kSizes) * static_cast<size_t>(pes());
  run_until([&] {
    shmemx_task_flush();
    return released.size() >= expected;
  });
  CHECK_EQUAL(released.size(), expected);
  CHECK_EQUAL(seen.count, static_cast<long>(expected));
  CHECK_EQUAL(seen.bad, 0);
  shmem_barrier_all();
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
