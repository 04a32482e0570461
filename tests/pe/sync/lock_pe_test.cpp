// Distributed locks (section 9.13).
#include <pshmem.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

long global_lock;
long other_lock;

// Not atomic on purpose: two PEs inside at once lose updates.
void bump(long* counter, int home) {
  const long seen = shmem_long_g(counter, home);
  shmem_long_p(counter, seen + 1, home);
}

// Returns whether the last request of the lock is that of `pe`. The lower half of the lock is 1 + that PE on the lock's
// home, and 0 elsewhere (src/sync/lock.hpp).
bool is_queued(const long* lock, int pe) {
  for (int home = 0; home < pes(); ++home) {
    if (static_cast<std::uint32_t>(shmem_long_atomic_fetch(lock, home)) == static_cast<std::uint32_t>(pe) + 1)
      return true;
  }
  return false;
}

}  // namespace

PE_TEST(a_lock_excludes_all_others) {
  Symmetric<long> heap_lock, counter(2);
  const int rounds = pes() > 8 ? 30 : 400;
  for (long* lock : {heap_lock.get(), &global_lock}) {
    *counter = 0;
    shmem_barrier_all();
    for (int i = 0; i < rounds; ++i) {
      shmem_set_lock(lock);
      bump(counter.get(), pes() - 1);
      shmem_clear_lock(lock);  // completes the put before it releases
    }
    shmem_barrier_all();
    CHECK_EQUAL(shmem_long_g(counter.get(), pes() - 1), static_cast<long>(rounds) * pes());
    shmem_barrier_all();
  }
  for (int i = 0; i < rounds; ++i) {
    pshmem_set_lock(&global_lock);
    bump(&counter[1], 0);
    pshmem_clear_lock(&global_lock);
  }
  shmem_barrier_all();
  CHECK_EQUAL(shmem_long_g(&counter[1], 0), static_cast<long>(rounds) * pes());
}

PE_TEST(test_lock_takes_a_free_lock_and_reports_a_taken_one) {
  Symmetric<long> lock;
  for (int owner = 0; owner < pes() && owner < 8; ++owner) {
    shmem_barrier_all();
    if (me() == owner) CHECK_EQUAL(shmem_test_lock(lock.get()), 0);
    shmem_barrier_all();
    if (me() != owner) CHECK_EQUAL(owner % 2 ? shmem_test_lock(lock.get()) : pshmem_test_lock(lock.get()), 1);
    shmem_barrier_all();
    if (me() == owner) shmem_clear_lock(lock.get());
    shmem_barrier_all();
  }
  if (me() == 0) {
    CHECK_EQUAL(pshmem_test_lock(lock.get()), 0);
    shmem_clear_lock(lock.get());
  }
}

PE_TEST(test_lock_and_set_lock_mix) {
  Symmetric<long> lock, counter;
  const int rounds = pes() > 8 ? 20 : 200;
  for (int i = 0; i < rounds; ++i) {
    if (i % 2 == 0)
      shmem_set_lock(lock.get());
    else
      while (shmem_test_lock(lock.get()) != 0) {
      }
    bump(counter.get(), 0);
    shmem_clear_lock(lock.get());
  }
  shmem_barrier_all();
  CHECK_EQUAL(shmem_long_g(counter.get(), 0), static_cast<long>(rounds) * pes());
}

// The holder's puts to any PE are visible to the next holder.
PE_TEST(a_lock_orders_the_data_that_it_protects) {
  constexpr std::size_t kWords = 200;
  Symmetric<int> data(kWords);
  Symmetric<long> lock;
  int bad = 0;
  for (int i = 0; i < 100; ++i) {
    int block[kWords];
    shmem_set_lock(lock.get());
    shmem_int_get(block, data.get(), kWords, 0);
    for (std::size_t k = 1; k < kWords; ++k) bad += block[k] != block[0];
    for (int& word : block) ++word;
    shmem_int_put_nbi(data.get(), block, kWords, 0);
    shmem_clear_lock(lock.get());
  }
  CHECK_EQUAL(bad, 0);
  shmem_barrier_all();
  CHECK_EQUAL(shmem_int_g(data.get(), 0), 100 * pes());
}

// Section 9.13.1: locks are granted in the order of requests. PE 0 holds the lock while the others queue one by one.
PE_TEST_MIN(waiters_are_served_in_the_order_of_arrival, 3) {
  Symmetric<long> lock, turn;
  Symmetric<int> order(static_cast<std::size_t>(pes()));
  for (int round = 0; round < 3; ++round) {
    *turn = 0;
    shmem_barrier_all();
    if (me() == 0) {
      shmem_set_lock(lock.get());
      // In ascending and descending order, and starting in the middle: PE 0 signals each PE and waits until it has
      // queued.
      for (int i = 1; i < pes(); ++i) {
        const int next = round == 0 ? i : round == 1 ? pes() - i : 1 + (i + pes() / 2) % (pes() - 1);
        shmem_int_p(&order[static_cast<std::size_t>(i)], next, 0);
        shmem_long_atomic_set(turn.get(), 1, next);
        while (!is_queued(lock.get(), next)) usleep(1000);
      }
      shmem_long_atomic_set(turn.get(), 1, 0);
      shmem_clear_lock(lock.get());
      shmem_long_wait_until(turn.get(), SHMEM_CMP_EQ, pes());  // all others have held the lock
      CHECK_EQUAL(*turn, pes());
    } else {
      shmem_long_wait_until(turn.get(), SHMEM_CMP_EQ, 1);
      shmem_set_lock(lock.get());
      const long place = shmem_long_atomic_fetch_inc(turn.get(), 0);
      CHECK_EQUAL(shmem_int_g(&order[static_cast<std::size_t>(place % pes())], 0), me());
      shmem_clear_lock(lock.get());
    }
    shmem_barrier_all();
  }
}

PE_TEST(different_locks_are_independent) {
  Symmetric<long> heap_lock;
  if (me() == 0) {
    shmem_set_lock(&global_lock);
    shmem_set_lock(&other_lock);
    shmem_set_lock(heap_lock.get());
  }
  shmem_barrier_all();
  if (me() == 0) shmem_clear_lock(&other_lock);
  shmem_barrier_all();
  if (me() == pes() - 1 && pes() > 1) {
    CHECK_EQUAL(shmem_test_lock(&other_lock), 0);
    CHECK_EQUAL(shmem_test_lock(&global_lock), 1);
    shmem_clear_lock(&other_lock);
  }
  shmem_barrier_all();
  if (me() == 0) {
    shmem_clear_lock(&global_lock);
    shmem_clear_lock(heap_lock.get());
    CHECK_EQUAL(shmem_test_lock(&other_lock), 0);
    shmem_clear_lock(&other_lock);
  }
}
