// Counters of this PE: exact where SHMEM_STATS is set, zeros where it is not.
#include <shmemx.h>

#include <cstdlib>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

long words[8];

bool counts() {
  const char* const value = std::getenv("SHMEM_STATS");
  return value != nullptr && value[0] == '1';
}

// Of all paths.
shmemx_stats_count_t sum(const shmemx_stats_t& stats, int family) {
  shmemx_stats_count_t total{};
  for (const shmemx_stats_count_t& count : stats.transfers[family]) {
    total.operations += count.operations;
    total.bytes += count.bytes;
  }
  return total;
}

shmemx_stats_count_t sum_now(int family) {
  shmemx_stats_t stats;
  CHECK_EQUAL(shmemx_stats_get(&stats), counts() ? 0 : 1);
  return sum(stats, family);
}

unsigned long long expected(unsigned long long value) { return counts() ? value : 0; }

}  // namespace

PE_TEST(operations_are_counted_by_family) {
  CHECK_EQUAL(shmemx_stats_reset(), counts() ? 0 : 1);
  const int next = (me() + 1) % pes();
  for (int i = 0; i < 5; ++i) shmem_long_p(&words[0], i, next);
  shmem_putmem(&words[1], words, 24, next);
  static_cast<void>(shmem_long_g(&words[0], next));
  shmem_long_atomic_inc(&words[4], next);
  CHECK_EQUAL(sum_now(SHMEMX_STATS_PUT).operations, expected(6));
  CHECK_EQUAL(sum_now(SHMEMX_STATS_PUT).bytes, expected(64));
  CHECK_EQUAL(sum_now(SHMEMX_STATS_GET).operations, expected(1));
  CHECK_EQUAL(sum_now(SHMEMX_STATS_ATOMIC).bytes, expected(8));
  CHECK_EQUAL(sum_now(SHMEMX_STATS_MESSAGE).operations, 0U);
  shmemx_stats_count_t peer;
  CHECK_EQUAL(shmemx_stats_get_peer(next, &peer), counts() ? 0 : 1);
  CHECK_EQUAL(peer.operations, expected(8));
  CHECK_EQUAL(peer.bytes, expected(80));
}

PE_TEST(contexts_count_apart_and_leave_their_counts_behind) {
  shmemx_stats_reset();
  shmem_ctx_t context;
  CHECK_EQUAL(shmem_ctx_create(0, &context), 0);
  const int next = (me() + 1) % pes();
  for (int i = 0; i < 3; ++i) shmem_ctx_long_p(context, &words[5], i, next);
  shmem_long_p(&words[6], 1, next);
  shmemx_stats_t stats;
  CHECK_EQUAL(shmemx_stats_get_context(context, &stats), counts() ? 0 : 1);
  CHECK_EQUAL(sum(stats, SHMEMX_STATS_PUT).operations, expected(3));
  CHECK_EQUAL(shmemx_stats_get_context(SHMEM_CTX_DEFAULT, &stats), counts() ? 0 : 1);
  CHECK_EQUAL(sum(stats, SHMEMX_STATS_PUT).operations, expected(1));
  shmem_ctx_destroy(context);
  CHECK_EQUAL(sum_now(SHMEMX_STATS_PUT).operations, expected(4));
}

PE_TEST(calls_are_counted_by_routine) {
  shmemx_stats_reset();
  shmemx_stats_routine_t counts_of;
  for (int i = 0; i < 4; ++i) shmem_barrier_all();
  CHECK_EQUAL(shmemx_stats_get_routine("shmem_barrier_all", &counts_of), counts() ? 0 : 1);
  CHECK_EQUAL(counts_of.calls, expected(4));
  CHECK(counts_of.longest_ns <= counts_of.ns);
  CHECK_EQUAL(shmemx_stats_get_routine("shmem_nothing", &counts_of), counts() ? 0 : 1);
  CHECK_EQUAL(counts_of.calls, 0U);
  shmemx_stats_t stats;
  shmemx_stats_get(&stats);
  CHECK(counts() || stats.waiting_ns == 0);
}

PE_TEST(the_profiling_control_pauses_and_resets) {
  shmemx_stats_reset();
  const int next = (me() + 1) % pes();
  shmem_long_p(&words[0], 1, next);
  shmem_pcontrol(0);
  shmem_long_p(&words[0], 2, next);
  CHECK_EQUAL(sum_now(SHMEMX_STATS_PUT).operations, expected(1));
  shmem_pcontrol(1);
  shmem_long_p(&words[0], 3, next);
  CHECK_EQUAL(sum_now(SHMEMX_STATS_PUT).operations, expected(2));
  shmem_pcontrol(2);
  CHECK_EQUAL(sum_now(SHMEMX_STATS_PUT).operations, 0U);
  shmem_barrier_all();
  CHECK(words[0] == 3);
}
