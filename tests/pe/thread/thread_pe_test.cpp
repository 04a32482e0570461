// SHMEM_THREAD_MULTIPLE: many threads of a PE communicate at once (sections 9.2, 9.4, 9.5).
#include <atomic>
#include <thread>
#include <vector>

#include "../../support/pe_test.hpp"
#include "../../support/threads.hpp"

namespace {

using namespace pe_test;
using test_support::run_on_threads;

constexpr int kThreads = 4;

}  // namespace

PE_TEST(the_highest_level_is_provided) {
  int level = -1;
  shmem_query_thread(&level);
  CHECK_EQUAL(level, SHMEM_THREAD_MULTIPLE);
}

PE_TEST(threads_use_private_contexts) {
  constexpr std::size_t kWords = 500;
  Symmetric<long> data(kThreads * kWords), sum;
  run_on_threads(kThreads, [&](int t) {
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    if (!CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0)) return;
    long* const mine = data.get() + static_cast<std::size_t>(t) * kWords;
    std::vector<long> source(kWords), back(kWords);
    for (int round = 0; round < 100; ++round) {
      for (std::size_t i = 0; i < kWords; ++i) source[i] = round * 1000 + t * 100 + me() + static_cast<long>(i);
      shmem_ctx_long_put_nbi(ctx, mine, source.data(), kWords, right());
      shmem_ctx_long_atomic_inc(ctx, sum.get(), 0);
      shmem_ctx_quiet(ctx);
      shmem_ctx_long_get(ctx, back.data(), mine, kWords, right());
      CHECK(back == source);
    }
    shmem_ctx_destroy(ctx);
  });
  shmem_barrier_all();
  if (me() == 0) CHECK_EQUAL(*sum, 100L * kThreads * pes());
}

// Section 9.12.2: quiet covers what any thread posted before on that context.
PE_TEST(threads_share_a_context) {
  constexpr std::size_t kWords = 64;
  Symmetric<long> data(kThreads * kWords);
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  if (shmem_ctx_create(0, &ctx) != 0) CHECK(false);
  for (int round = 1; round < 50; ++round) {
    std::vector<std::vector<long>> source(kThreads, std::vector<long>(kWords, round * 10 + me()));
    run_on_threads(kThreads, [&](int t) {
      const auto index = static_cast<std::size_t>(t);
      shmem_ctx_long_put_nbi(ctx, data.get() + index * kWords, source[index].data(), kWords, right());
      if (t % 2) shmem_ctx_quiet(ctx);
    });
    shmem_ctx_quiet(ctx);
    shmem_sync_all();
    int bad = 0;
    for (std::size_t i = 0; i < kThreads * kWords; ++i) bad += data[i] != round * 10 + left();
    CHECK_EQUAL(bad, 0);
    shmem_sync_all();
  }
  shmem_ctx_destroy(ctx);
}

PE_TEST(threads_use_the_default_context) {
  Symmetric<uint64_t> counters(kThreads), shared;
  run_on_threads(kThreads, [&](int t) {
    for (int i = 0; i < 1000; ++i) {
      shmem_uint64_atomic_inc(shared.get(), right());
      CHECK_EQUAL(shmem_uint64_atomic_fetch_add(&counters[static_cast<std::size_t>(t)], 2, right()),
                  2u * static_cast<unsigned>(i));
      if (i % 100 == 0) shmem_quiet();
    }
  });
  shmem_barrier_all();
  CHECK_EQUAL(*shared, 1000u * kThreads);
}

// Section 9.4: one thread at a time on a team, different teams concurrently.
PE_TEST(threads_run_collectives_on_different_teams) {
  std::vector<shmem_team_t> teams(kThreads, SHMEM_TEAM_INVALID);
  for (shmem_team_t& team : teams)
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes(), nullptr, 0, &team), 0);
  Symmetric<long> in(kThreads * 2), out(kThreads * 2), root_data(kThreads * 2);
  run_on_threads(kThreads, [&](int t) {
    const auto index = static_cast<std::size_t>(t);
    int bad = 0;
    for (int round = 0; round < 100; ++round) {
      const std::size_t at = index * 2 + static_cast<std::size_t>(round & 1);
      in[at] = me() + round * (t + 1);
      bad += shmem_long_sum_reduce(teams[index], &out[at], &in[at], 1) != 0;
      bad += out[at] != pes() * (pes() - 1) / 2 + static_cast<long>(round) * (t + 1) * pes();
      bad += shmem_long_broadcast(teams[index], &root_data[at], &in[at], 1, round % pes()) != 0;
      bad += root_data[at] != round % pes() + round * (t + 1);
      bad += shmem_team_sync(teams[index]) != 0;
    }
    CHECK_EQUAL(bad, 0);
  });
  for (shmem_team_t team : teams) shmem_team_destroy(team);
}

// One set, with an array for each thread.
PE_TEST(threads_run_collectives_on_an_active_set) {
  static long arrays[kThreads][SHMEM_REDUCE_SYNC_SIZE];  // SHMEM_SYNC_VALUE is 0
  Symmetric<long> in(kThreads * 2), out(kThreads * 2), work(kThreads * SHMEM_REDUCE_MIN_WRKDATA_SIZE);
  shmem_barrier_all();
  run_on_threads(kThreads, [&](int t) {
    const auto index = static_cast<std::size_t>(t);
    int bad = 0;
    for (int round = 0; round < 100; ++round) {
      const std::size_t at = index * 2 + static_cast<std::size_t>(round & 1);
      in[at] = me() + round * (t + 1);
      shmem_long_sum_to_all(&out[at], &in[at], 1, 0, 0, pes(), &work[index * SHMEM_REDUCE_MIN_WRKDATA_SIZE], arrays[t]);
      bad += out[at] != pes() * (pes() - 1) / 2 + static_cast<long>(round) * (t + 1) * pes();
      shmem_barrier(0, 0, pes(), arrays[t]);
    }
    CHECK_EQUAL(bad, 0);
  });
  shmem_barrier_all();
}

// Section 9.11.1: the update may come from another thread of the same PE; a blocked thread must not delay it.
PE_TEST(a_thread_wakes_another_of_its_pe) {
  Symmetric<long> flag(kThreads), ack(kThreads);
  std::thread waiters([&] {
    run_on_threads(std::size_t{kThreads}, [&](std::size_t t) {
      for (long round = 1; round <= 100; ++round) {
        shmem_long_wait_until(&flag[t], SHMEM_CMP_GE, round);
        shmem_long_atomic_set(&ack[t], round, me());
      }
    });
  });
  for (long round = 1; round <= 100; ++round) {
    for (std::size_t t = 0; t < kThreads; ++t) shmem_long_atomic_set(&flag[t], round, me());
    for (std::size_t t = 0; t < kThreads; ++t) shmem_long_wait_until(&ack[t], SHMEM_CMP_GE, round);
  }
  waiters.join();
  for (std::size_t t = 0; t < kThreads; ++t) CHECK_EQUAL(ack[t], 100);
}

// Section 4.1: a peer that is blocked or computes still serves one-sided operations.
PE_TEST(a_computing_pe_serves_its_peers) {
  Symmetric<long> word, done;
  if (me() == 0) {
    const double until = now() + 0.3;
    volatile long sink = 0;
    while (now() < until) sink = sink + 1;  // no call into the library
  } else {
    const double start = now();
    for (int i = 0; i < 100; ++i) {
      shmem_long_atomic_inc(word.get(), 0);
      shmem_long_p(done.get(), i, 0);
      shmem_quiet();
      CHECK(shmem_long_g(word.get(), 0) > i);
    }
    CHECK(now() - start < 10);
  }
  shmem_barrier_all();
  CHECK_EQUAL(shmem_long_g(word.get(), 0), 100L * (pes() - 1));
}

// Threads that allocate nothing communicate while the main thread is inside a collective on the world.
PE_TEST(threads_communicate_during_a_barrier) {
  Symmetric<long> counter;
  std::atomic<bool> stop{false};
  std::thread other([&] {
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0) return;
    for (long i = 0; i < 200 || !stop.load(); ++i) {
      shmem_ctx_long_atomic_inc(ctx, counter.get(), right());
      shmem_ctx_quiet(ctx);
    }
    shmem_ctx_destroy(ctx);
  });
  for (int i = 0; i < 200; ++i) shmem_barrier_all();
  stop.store(true);
  other.join();
  shmem_barrier_all();
  CHECK(*counter >= 200);
}
