// All PEs at once, more operations than there are cells, and targets that compute.
#include <pshmem.h>

#include <atomic>
#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

// Computes without a call of the library.
void compute(double seconds) {
  const double end = now() + seconds;
  static std::atomic<unsigned> work{0};
  while (now() < end) {
    for (int i = 0; i < 1000; ++i) work.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

PE_TEST(nbi_puts_of_all_pes_to_all_pes_arrive) {
  constexpr std::size_t kEach = 400;
  constexpr std::size_t kWords = 40;  // more than a fastbox holds
  const auto n = static_cast<std::size_t>(pes());
  Symmetric<long> inbox(n * kEach);
  Symmetric<long> blocks(n * kWords);
  std::vector<long> block(kWords, me() + 1);
  std::vector<long> values(kEach);
  for (std::size_t i = 0; i < kEach; ++i) values[i] = static_cast<long>(i) * 100 + me();
  for (std::size_t i = 0; i < kEach; ++i) {
    for (int pe = 0; pe < pes(); ++pe) {
      shmem_long_put_nbi(&inbox[static_cast<std::size_t>(me()) * kEach + i], &values[i], 1, pe);
      shmem_long_put_nbi(&blocks[static_cast<std::size_t>(me()) * kWords], block.data(), kWords, pe);
    }
  }
  shmem_barrier_all();
  std::size_t bad = 0;
  for (std::size_t from = 0; from < n; ++from) {
    for (std::size_t i = 0; i < kEach; ++i) bad += inbox[from * kEach + i] != static_cast<long>(i * 100 + from);
    for (std::size_t i = 0; i < kWords; ++i) bad += blocks[from * kWords + i] != static_cast<long>(from) + 1;
  }
  CHECK_EQUAL(bad, 0u);
}

PE_TEST(nbi_gets_of_all_pes_from_all_pes_arrive) {
  constexpr std::size_t kWords = 5000;
  Symmetric<long> data(kWords);
  for (std::size_t i = 0; i < kWords; ++i) data[i] = static_cast<long>(i) * 10 + me();
  shmem_barrier_all();
  std::vector<std::vector<long>> singles(static_cast<std::size_t>(pes()), std::vector<long>(500));
  std::vector<std::vector<long>> blocks(static_cast<std::size_t>(pes()), std::vector<long>(kWords));
  for (int pe = 0; pe < pes(); ++pe) {
    shmem_long_get_nbi(blocks[static_cast<std::size_t>(pe)].data(), data.get(), kWords, pe);
    for (std::size_t i = 0; i < 500; ++i)
      shmem_long_get_nbi(&singles[static_cast<std::size_t>(pe)][i], &data[3 * i], 1, pe);
  }
  shmem_quiet();
  std::size_t bad = 0;
  for (int pe = 0; pe < pes(); ++pe) {
    for (std::size_t i = 0; i < kWords; ++i)
      bad += blocks[static_cast<std::size_t>(pe)][i] != static_cast<long>(i) * 10 + pe;
    for (std::size_t i = 0; i < 500; ++i)
      bad += singles[static_cast<std::size_t>(pe)][i] != static_cast<long>(3 * i) * 10 + pe;
  }
  CHECK_EQUAL(bad, 0u);
  shmem_barrier_all();
}

// No PE polls while all send; then one quiet of each PE completes everything.
PE_TEST(quiet_completes_puts_to_all_pes) {
  Symmetric<long> sums(1);
  for (int round = 0; round < 100; ++round) {
    for (int pe = 0; pe < pes(); ++pe) shmem_long_atomic_add(sums.get(), 1, pe);
    shmem_quiet();
    for (int pe = 0; pe < pes(); ++pe) CHECK(shmem_long_atomic_fetch(sums.get(), pe) >= round + 1);
  }
  shmem_barrier_all();
  CHECK_EQUAL(*sums, 100L * pes());
}

PE_TEST_MIN(a_target_that_computes_delays_no_other_pe, 2) {
  const int target = pes() - 1;
  Symmetric<long> word, ended, block(3000);
  std::vector<long> source(3000, me() + 1), back(3000);
  shmem_barrier_all();
  if (me() == target) {
    compute(1.0);
    __atomic_store_n(ended.get(), 1, __ATOMIC_RELEASE);
  } else {
    for (int i = 0; i < 20; ++i) {
      shmem_long_atomic_add(word.get(), 1, target);
      shmem_quiet();
      static_cast<void>(shmem_long_atomic_fetch_inc(word.get(), target));
      shmem_long_put(block.get(), source.data(), source.size(), target);
      shmem_quiet();
      shmem_long_get(back.data(), block.get(), back.size(), target);
    }
    CHECK_EQUAL(shmem_long_g(ended.get(), target), 0);
  }
  shmem_barrier_all();
  if (me() == target) CHECK_EQUAL(*word, 40L * (pes() - 1));
}

// The words of a lock lie on several PEs, whose memory is not mapped.
PE_TEST(locks_exclude_each_other_on_all_pes) {
  static long locks[3];
  Symmetric<long> counters(3);
  for (int round = 0; round < 30; ++round) {
    const int which = round % 3;
    if (round % 2 == 0) {
      shmem_set_lock(&locks[which]);
    } else {
      while (shmem_test_lock(&locks[which]) != 0) {
      }
    }
    const int place = which % pes();
    const long before = shmem_long_g(&counters[static_cast<std::size_t>(which)], place);
    shmem_long_p(&counters[static_cast<std::size_t>(which)], before + 1, place);
    shmem_clear_lock(&locks[which]);
  }
  shmem_barrier_all();
  for (int which = 0; which < 3; ++which)
    CHECK_EQUAL(shmem_long_g(&counters[static_cast<std::size_t>(which)], which % pes()), 10L * pes());
  shmem_barrier_all();
}
