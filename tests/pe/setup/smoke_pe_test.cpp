// A few operations of each kind, cheap enough for hundreds of PEs on two cores.
#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

long global_slot[1024];

}  // namespace

PE_TEST(puts_and_gets_between_pes_are_exact) {
  Symmetric<long> slot(16);
  for (int step = 0; step < 8; ++step) {
    const int to = (me() + (1 << step)) % pes();
    const int from = (me() + 256 * pes() - (1 << step)) % pes();
    shmem_long_p(&slot[static_cast<std::size_t>(step)], me() * 10 + step, to);
    shmem_long_p(&global_slot[step], me() * 20 + step, to);
    shmem_barrier_all();
    CHECK_EQUAL(slot[static_cast<std::size_t>(step)], from * 10 + step);
    CHECK_EQUAL(global_slot[step], from * 20 + step);
    CHECK_EQUAL(shmem_long_g(&slot[static_cast<std::size_t>(step)], to), me() * 10 + step);
  }
}

PE_TEST(atomics_count_all_pes) {
  Symmetric<long> counter;
  shmem_long_atomic_add(counter.get(), me() + 1, 0);
  shmem_long_atomic_inc(counter.get(), pes() - 1);
  shmem_barrier_all();
  const long all = static_cast<long>(pes()) * (pes() + 1) / 2;
  CHECK_EQUAL(shmem_long_atomic_fetch(counter.get(), 0), all + (pes() == 1 ? 1 : 0));
}

PE_TEST(collectives_include_all_pes) {
  const auto n = static_cast<std::size_t>(pes());
  Symmetric<int> in(n), out(n);
  in[0] = me() * 3;
  CHECK_EQUAL(shmem_int_fcollect(SHMEM_TEAM_WORLD, out.get(), in.get(), 1), 0);
  int bad = 0;
  for (std::size_t pe = 0; pe < n; ++pe) bad += out[pe] != static_cast<int>(pe) * 3;
  shmem_sync_all();
  CHECK_EQUAL(shmem_int_sum_reduce(SHMEM_TEAM_WORLD, out.get(), in.get(), 1), 0);
  bad += out[0] != 3 * pes() * (pes() - 1) / 2;
  shmem_sync_all();
  for (std::size_t pe = 0; pe < n; ++pe) in[pe] = me() * 1000 + static_cast<int>(pe);
  CHECK_EQUAL(shmem_int_alltoall(SHMEM_TEAM_WORLD, out.get(), in.get(), 1), 0);
  for (std::size_t pe = 0; pe < n; ++pe) bad += out[pe] != static_cast<int>(pe) * 1000 + me();
  shmem_sync_all();
  CHECK_EQUAL(shmem_int_broadcast(SHMEM_TEAM_WORLD, out.get(), in.get(), n, pes() / 2), 0);
  bad += out[n - 1] != pes() / 2 * 1000 + pes() - 1;
  CHECK_EQUAL(bad, 0);
  shmem_sync_all();
  in[0] = 1;
  CHECK_EQUAL(shmem_int_sum_exscan(SHMEM_TEAM_WORLD, out.get(), in.get(), 1), 0);
  CHECK_EQUAL(out[0], me());
}

PE_TEST(teams_split_in_two_dimensions) {
  shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;
  CHECK_EQUAL(shmem_team_split_2d(SHMEM_TEAM_WORLD, 7, nullptr, 0, &row, nullptr, 0, &column), 0);
  static int one[1], sum[2];
  one[0] = me();
  const int width = pes() < 7 ? pes() : 7, first = me() / width * width;
  CHECK_EQUAL(shmem_int_sum_reduce(row, &sum[0], one, 1), 0);
  int expected = 0;
  for (int pe = first; pe < first + width && pe < pes(); ++pe) expected += pe;
  CHECK_EQUAL(sum[0], expected);
  CHECK_EQUAL(shmem_int_max_reduce(column, &sum[1], one, 1), 0);
  CHECK_EQUAL(sum[1], me() % width + (pes() - 1 - me() % width) / width * width);
  shmem_team_destroy(row);
  shmem_team_destroy(column);
}

PE_TEST(signals_pass_around_the_ring) {
  Symmetric<uint64_t> signal;
  Symmetric<long> data(4);
  const long block[4] = {me(), 1, 2, 3};
  if (me() == 0) shmem_long_put_signal(data.get(), block, 4, signal.get(), 1, SHMEM_SIGNAL_ADD, right());
  CHECK_EQUAL(shmem_signal_wait_until(signal.get(), SHMEM_CMP_EQ, 1), 1u);
  CHECK_EQUAL(data[0], left());
  if (me() != 0) shmem_long_put_signal(data.get(), block, 4, signal.get(), 1, SHMEM_SIGNAL_ADD, right());
}

PE_TEST(every_pe_acquires_a_lock) {
  static long lock;
  Symmetric<long> counter;
  shmem_set_lock(&lock);
  shmem_long_p(counter.get(), shmem_long_g(counter.get(), 0) + 1, 0);
  shmem_clear_lock(&lock);
  shmem_barrier_all();
  CHECK_EQUAL(shmem_long_g(counter.get(), 0), pes());
}
