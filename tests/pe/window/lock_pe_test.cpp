// Locks of windows: exclusive, shared, tried, requested ahead; misuse; many PEs in turn.
#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "window_support.hpp"

namespace {

using namespace window_test;

// Reads and writes a number of PE 0 in two steps, which only a lock keeps together.
void add_one(const Windows& windows) {
  std::int64_t value = 0;
  CHECK_EQUAL(shmemx_window_get(windows.at(0), &value, windows.address(0), sizeof value), SHMEMX_SUCCESS);
  ++value;
  CHECK_EQUAL(shmemx_window_put_nbi(windows.at(0), windows.address(0), &value, sizeof value, nullptr), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_unlock(windows.at(0)), SHMEMX_SUCCESS);
}

std::int64_t number_of(const Windows& windows) {
  std::int64_t value = 0;
  CHECK_EQUAL(shmemx_window_get(windows.at(0), &value, windows.address(0), sizeof value), SHMEMX_SUCCESS);
  return value;
}

}  // namespace

PE_TEST(exclusive_locks_exclude) {
  constexpr int kRounds = 100;
  const Windows windows(64);
  shmem_barrier_all();
  for (int i = 0; i < kRounds; ++i) {
    long counter = 0;
    if (i % 3 == 0) {
      CHECK_EQUAL(shmemx_window_lock_nbi(windows.at(0), SHMEMX_LOCK_EXCLUSIVE, &counter), SHMEMX_SUCCESS);
      shmemx_window_wait(&counter);
    } else {
      CHECK_EQUAL(shmemx_window_lock(windows.at(0), SHMEMX_LOCK_EXCLUSIVE), SHMEMX_SUCCESS);
    }
    add_one(windows);
  }
  shmem_barrier_all();
  CHECK_EQUAL(number_of(windows), std::int64_t{kRounds} * pes());
  shmem_barrier_all();
}

// The lock of one window keeps the data of another one of the same owner: what a holder has started there is done
// before the next holder reads it, also long data.
PE_TEST(a_lock_orders_what_was_started_on_other_windows) {
  constexpr std::size_t kWords = 4000;
  constexpr std::int64_t kRounds = 40;
  const Windows locks(8);
  const Windows data(kWords * sizeof(std::int64_t));
  std::vector<std::int64_t> words(kWords);
  std::size_t torn = 0;
  for (std::int64_t i = 0; i < kRounds; ++i) {
    CHECK_EQUAL(shmemx_window_lock(locks.at(0), SHMEMX_LOCK_EXCLUSIVE), SHMEMX_SUCCESS);
    const std::size_t bytes = i % 2 == 0 ? kWords * sizeof(std::int64_t) : 2 * sizeof(std::int64_t);
    CHECK_EQUAL(shmemx_window_get(data.at(0), words.data(), data.address(0), bytes), SHMEMX_SUCCESS);
    if (words[1] != words[0]) ++torn;
    std::fill(words.begin(), words.end(), words[0] + 1);
    CHECK_EQUAL(shmemx_window_put_nbi(data.at(0), data.address(0), words.data(), bytes, nullptr), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_unlock(locks.at(0)), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_flush(data.at(0)), SHMEMX_SUCCESS);
  }
  CHECK_EQUAL(torn, std::size_t{0});
  shmem_barrier_all();
  CHECK_EQUAL(number_of(data), kRounds * pes());
  shmem_barrier_all();
}

// Each PE holds the locks of all windows together, and takes them in an order of its own, while exclusive requests wait
// in between.
PE_TEST(locks_of_all_windows_in_any_order) {
  constexpr int kRounds = 60;
  const Windows windows(64);
  shmem_barrier_all();
  for (int i = 0; i < kRounds; ++i) {
    for (int j = 0; j < pes(); ++j) {
      const shmemx_window_t window = windows.at((me() + j) % pes());
      const int kind = j == 0 ? SHMEMX_LOCK_SHARED : SHMEMX_LOCK_JOIN;
      long counter = 0;
      CHECK_EQUAL(i % 2 == 0 ? shmemx_window_lock(window, kind) : shmemx_window_lock_nbi(window, kind, &counter),
                  SHMEMX_SUCCESS);
      shmemx_window_wait(&counter);
    }
    const std::int64_t value = number_of(windows);
    CHECK_EQUAL(number_of(windows), value);
    for (int pe = 0; pe < pes(); ++pe) CHECK_EQUAL(shmemx_window_unlock(windows.at(pe)), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_lock(windows.at(0), SHMEMX_LOCK_EXCLUSIVE), SHMEMX_SUCCESS);
    add_one(windows);
    const shmemx_window_t other = windows.at(i % pes());
    CHECK_EQUAL(shmemx_window_lock(other, SHMEMX_LOCK_EXCLUSIVE), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_unlock(other), SHMEMX_SUCCESS);
  }
  shmem_barrier_all();
  CHECK_EQUAL(number_of(windows), std::int64_t{kRounds} * pes());
  shmem_barrier_all();
}

// An exclusive holder leaves, a shared request waits for its turn, and one joins at about that time. The shared holder
// stays until the other is in.
PE_TEST_MIN(who_joins_is_woken, 3) {
  constexpr int kRounds = 200;
  const Windows windows(64);
  const Symmetric<long> flags(3);
  long* const held = flags.get();
  long* const requested = flags.get() + 1;
  long* const joined = flags.get() + 2;
  Random random(7);
  shmem_barrier_all();
  for (long round = 1; round <= kRounds; ++round) {
    const std::uint64_t pause = random.next() % 4000;
    if (me() == 0) {
      CHECK_EQUAL(shmemx_window_lock(windows.at(0), SHMEMX_LOCK_EXCLUSIVE), SHMEMX_SUCCESS);
      for (const int pe : {1, 2}) shmem_long_atomic_set(held, round, pe);
      shmem_long_wait_until(requested, SHMEM_CMP_GE, round);
      CHECK_EQUAL(shmemx_window_unlock(windows.at(0)), SHMEMX_SUCCESS);
    } else if (me() == 1) {
      long counter = 0;
      shmem_long_wait_until(held, SHMEM_CMP_GE, round);
      CHECK_EQUAL(shmemx_window_lock_nbi(windows.at(0), SHMEMX_LOCK_SHARED, &counter), SHMEMX_SUCCESS);
      for (const int pe : {0, 2}) shmem_long_atomic_set(requested, round, pe);
      shmemx_window_wait(&counter);
      shmem_long_wait_until(joined, SHMEM_CMP_GE, round);
      CHECK_EQUAL(shmemx_window_unlock(windows.at(0)), SHMEMX_SUCCESS);
    } else if (me() == 2) {
      shmem_long_wait_until(requested, SHMEM_CMP_GE, round);
      for (std::uint64_t i = 0; i < pause; ++i) shmem_ptr(held, 0);
      CHECK_EQUAL(shmemx_window_lock(windows.at(0), SHMEMX_LOCK_JOIN), SHMEMX_SUCCESS);
      shmem_long_atomic_set(joined, round, 1);
      CHECK_EQUAL(shmemx_window_unlock(windows.at(0)), SHMEMX_SUCCESS);
    }
    shmem_barrier_all();
  }
}

PE_TEST(tried_locks_exclude_too) {
  constexpr int kRounds = 30;
  const Windows windows(64);
  shmem_barrier_all();
  int busy = 0;
  for (int i = 0; i < kRounds;) {
    const int code = shmemx_window_trylock(windows.at(0), SHMEMX_LOCK_EXCLUSIVE);
    if (code == SHMEMX_SUCCESS) {
      add_one(windows);
      ++i;
    } else {
      CHECK_EQUAL(code, int{SHMEMX_ERR_BUSY});
      if (++busy % 64 == 0) shmem_quiet();
    }
  }
  shmem_barrier_all();
  CHECK_EQUAL(number_of(windows), std::int64_t{kRounds} * pes());
  shmem_barrier_all();
}

PE_TEST(shared_holders_hold_together) {
  const Windows windows(64);
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_window_lock(windows.at(0), SHMEMX_LOCK_SHARED), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_lock(windows.at(0), SHMEMX_LOCK_SHARED), SHMEMX_SUCCESS);  // as two threads would
  shmem_barrier_all();
  shmemx_window_description_t description{};
  CHECK_EQUAL(shmemx_window_describe(windows.own, &description), SHMEMX_SUCCESS);
  shmemx_window_t other = SHMEMX_WINDOW_INVALID;
  CHECK_EQUAL(shmemx_window_attach(&description, &other), SHMEMX_SUCCESS);
  // PE 0's window is held by all, those of others by nobody.
  CHECK_EQUAL(shmemx_window_trylock(other, SHMEMX_LOCK_EXCLUSIVE), me() == 0 ? int{SHMEMX_ERR_BUSY} : SHMEMX_SUCCESS);
  if (me() != 0) CHECK_EQUAL(shmemx_window_unlock(other), SHMEMX_SUCCESS);
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_window_unlock(windows.at(0)), SHMEMX_SUCCESS);
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_window_trylock(other, SHMEMX_LOCK_EXCLUSIVE), me() == 0 ? int{SHMEMX_ERR_BUSY} : SHMEMX_SUCCESS);
  if (me() != 0) CHECK_EQUAL(shmemx_window_unlock(other), SHMEMX_SUCCESS);
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_window_unlock(windows.at(0)), SHMEMX_SUCCESS);
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_window_lock(other, SHMEMX_LOCK_EXCLUSIVE), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_unlock(other), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_detach(other), SHMEMX_SUCCESS);
  shmem_barrier_all();
}

// PEs that take the lock shared, again and again, let in the one that requests it exclusively.
PE_TEST(nobody_starves) {
  const Windows windows(64);
  shmem_barrier_all();
  if (me() == pes() - 1) {
    for (int i = 0; i < 20; ++i) {
      CHECK_EQUAL(shmemx_window_lock(windows.at(0), SHMEMX_LOCK_EXCLUSIVE), SHMEMX_SUCCESS);
      add_one(windows);
    }
  } else {
    std::int64_t seen = 0;
    while (seen < 20) {
      CHECK_EQUAL(shmemx_window_lock(windows.at(0), SHMEMX_LOCK_SHARED), SHMEMX_SUCCESS);
      seen = number_of(windows);
      CHECK_EQUAL(shmemx_window_unlock(windows.at(0)), SHMEMX_SUCCESS);
    }
  }
  shmem_barrier_all();
}

PE_TEST(locks_of_all_windows_at_once) {
  const Windows windows(64);
  shmem_barrier_all();
  for (int round = 0; round < 10; ++round) {
    long counter = 0;
    for (const shmemx_window_t window : windows.of)
      CHECK_EQUAL(shmemx_window_lock_nbi(window, SHMEMX_LOCK_SHARED, &counter), SHMEMX_SUCCESS);
    shmemx_window_wait(&counter);
    const std::int64_t one = 1;
    for (int pe = 0; pe < pes(); ++pe)
      shmemx_window_accumulate_nbi(windows.at(pe), windows.address(pe), &one, 1, SHMEMX_INT64, SHMEMX_OP_SUM, nullptr);
    for (const shmemx_window_t window : windows.of) CHECK_EQUAL(shmemx_window_unlock(window), SHMEMX_SUCCESS);
  }
  shmem_barrier_all();
  CHECK_EQUAL(*windows.mine<std::int64_t>(), std::int64_t{10} * pes());
}

// A lock that is released before its request has been granted: the release waits, so that the holder does not lose it.
PE_TEST(a_requested_lock_is_released_after_it_has_been_granted) {
  static int released;
  const Windows windows(64);
  released = 0;
  shmem_barrier_all();
  if (me() == 0) CHECK_EQUAL(shmemx_window_lock(windows.at(0), SHMEMX_LOCK_EXCLUSIVE), SHMEMX_SUCCESS);
  shmem_barrier_all();
  if (me() != 0) {
    long counter = 0;
    const int kind = me() % 2 == 0 ? SHMEMX_LOCK_SHARED : SHMEMX_LOCK_EXCLUSIVE;
    CHECK_EQUAL(shmemx_window_lock_nbi(windows.at(0), kind, &counter), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_unlock(windows.at(0)), SHMEMX_SUCCESS);
    CHECK_EQUAL(counter, 0L);
    shmem_int_atomic_inc(&released, 0);
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_EQUAL(shmem_int_atomic_fetch(&released, 0), 0);
    CHECK_EQUAL(shmemx_window_unlock(windows.at(0)), SHMEMX_SUCCESS);
  }
  shmem_barrier_all();
  CHECK_EQUAL(shmemx_window_lock(windows.at(0), SHMEMX_LOCK_EXCLUSIVE), SHMEMX_SUCCESS);
  add_one(windows);
  shmem_barrier_all();
  CHECK_EQUAL(number_of(windows), std::int64_t{pes()});
  shmem_barrier_all();
}

// Puts under a lock: all of them or none are seen by who holds the lock. Each third round is too long for one message.
PE_TEST(puts_under_a_lock_are_whole) {
  constexpr std::size_t kPieces = 50;
  constexpr std::size_t kLong = 20000;
  const Windows windows(kLong * kPieces);
  shmem_barrier_all();
  for (std::size_t round = 1; round <= 30; ++round) {
    const std::size_t bytes = round % 3 == 0 ? 3000 : 40;
    const auto value = static_cast<std::byte>(1 + (round + static_cast<std::size_t>(me())) % 200);
    std::vector<std::byte> data(kPieces * bytes, value);
    std::vector<shmemx_iov_t> targets;
    for (std::size_t i = 0; i < kPieces; ++i) targets.push_back({windows.address(0, i * kLong), bytes});
    const shmemx_iov_t source{data.data(), data.size()};
    const int kind = SHMEMX_LOCK_EXCLUSIVE;
    long counter = 0;
    CHECK_EQUAL(shmemx_window_putv_locked_nbi(windows.at(0), kind, windows.at(0), targets.data(), kPieces, &source, 1,
                                              &counter),
                SHMEMX_SUCCESS);
    std::fill(data.begin(), data.end(), std::byte{0xff});
    shmemx_window_wait(&counter);
    CHECK_EQUAL(shmemx_window_flush(windows.at(0)), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_lock(windows.at(0), SHMEMX_LOCK_SHARED), SHMEMX_SUCCESS);
    const shmemx_iov_t dest{data.data(), kPieces * 40};
    for (shmemx_iov_t& target : targets) target.bytes = 40;
    CHECK_EQUAL(shmemx_window_getv(windows.at(0), &dest, 1, targets.data(), kPieces), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_unlock(windows.at(0)), SHMEMX_SUCCESS);
    CHECK(std::all_of(data.begin(), data.begin() + kPieces * 40, [&](std::byte b) { return b == data[0]; }));
    CHECK(data[0] != std::byte{0} && data[0] != std::byte{0xff});
  }
  shmem_barrier_all();
}

// They wait for the holder, and come in the order of the requests.
PE_TEST(puts_under_a_lock_wait_for_its_holder) {
  const Windows locks(8);
  const Windows windows(64);
  shmem_barrier_all();
  for (std::int64_t round = 1; round <= 10; ++round) {
    if (me() == 0) CHECK_EQUAL(shmemx_window_lock(locks.at(0), SHMEMX_LOCK_EXCLUSIVE), SHMEMX_SUCCESS);
    shmem_barrier_all();
    long counter = 0;
    if (me() == 0) {
      for (int i = 0; i < 2000; ++i) shmemx_window_test(&counter);
      CHECK_EQUAL(__atomic_load_n(windows.mine<std::int64_t>(), __ATOMIC_RELAXED), round - 1);
      CHECK_EQUAL(shmemx_window_unlock(locks.at(0)), SHMEMX_SUCCESS);
    } else {
      const shmemx_iov_t target{windows.address(0), sizeof round};
      const shmemx_iov_t source{&round, sizeof round};
      const int kind = round % 2 == 0 ? SHMEMX_LOCK_SHARED : SHMEMX_LOCK_EXCLUSIVE;
      CHECK_EQUAL(shmemx_window_putv_locked_nbi(locks.at(0), kind, windows.at(0), &target, 1, &source, 1, &counter),
                  SHMEMX_SUCCESS);
    }
    shmemx_window_wait(&counter);
    shmem_barrier_all();
    if (pes() == 1) *windows.mine<std::int64_t>() = round;
    CHECK_EQUAL(number_of(windows), round);
    CHECK_EQUAL(shmemx_window_lock(locks.at(0), SHMEMX_LOCK_SHARED), SHMEMX_SUCCESS);  // it is free
    CHECK_EQUAL(shmemx_window_unlock(locks.at(0)), SHMEMX_SUCCESS);
    shmem_barrier_all();
  }
}

PE_TEST(misuse_of_puts_under_a_lock_is_refused) {
  const Windows windows(64);
  const shmemx_window_t window = windows.at(right());
  std::int64_t value = 1;
  shmemx_iov_t target{windows.address(right()), sizeof value};
  const shmemx_iov_t source{&value, sizeof value};
  long counter = 0;
  const auto put = [&](shmemx_window_t lock, int kind, long* count) {
    return shmemx_window_putv_locked_nbi(lock, kind, window, &target, 1, &source, 1, count);
  };
  CHECK_EQUAL(put(window, 0, &counter), int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(put(window, SHMEMX_LOCK_SHARED, nullptr), int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(put(SHMEMX_WINDOW_INVALID, SHMEMX_LOCK_SHARED, &counter), int{SHMEMX_ERR_WINDOW});
  if (pes() > 1) CHECK_EQUAL(put(windows.at(me()), SHMEMX_LOCK_SHARED, &counter), int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(shmemx_window_lock(window, SHMEMX_LOCK_EXCLUSIVE), SHMEMX_SUCCESS);
  CHECK_EQUAL(put(window, SHMEMX_LOCK_SHARED, &counter), int{SHMEMX_ERR_LOCK});
  CHECK_EQUAL(shmemx_window_unlock(window), SHMEMX_SUCCESS);
  target.bytes = 4;
  CHECK_EQUAL(put(window, SHMEMX_LOCK_SHARED, &counter), int{SHMEMX_ERR_LIST});
  target = {windows.address(right(), 57), sizeof value};
  CHECK_EQUAL(put(window, SHMEMX_LOCK_SHARED, &counter), int{SHMEMX_ERR_RANGE});
  CHECK_EQUAL(counter, 0L);
  shmem_barrier_all();
}

PE_TEST(misuse_of_locks_is_refused) {
  const Windows windows(64);
  const shmemx_window_t window = windows.at(right());
  long counter = 0;
  CHECK_EQUAL(shmemx_window_unlock(window), int{SHMEMX_ERR_LOCK});
  CHECK_EQUAL(shmemx_window_lock(window, 0), int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(shmemx_window_lock(window, 4), int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(shmemx_window_lock_nbi(window, SHMEMX_LOCK_SHARED, nullptr), int{SHMEMX_ERR_ARGUMENT});
  CHECK_EQUAL(shmemx_window_lock(windows.own, SHMEMX_LOCK_SHARED), int{SHMEMX_ERR_WINDOW});
  CHECK_EQUAL(shmemx_window_unlock(SHMEMX_WINDOW_INVALID), int{SHMEMX_ERR_WINDOW});
  CHECK_EQUAL(shmemx_window_lock(window, SHMEMX_LOCK_EXCLUSIVE), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_lock(window, SHMEMX_LOCK_EXCLUSIVE), int{SHMEMX_ERR_LOCK});
  CHECK_EQUAL(shmemx_window_trylock(window, SHMEMX_LOCK_SHARED), int{SHMEMX_ERR_LOCK});
  CHECK_EQUAL(shmemx_window_detach(window), int{SHMEMX_ERR_LOCK});
  CHECK_EQUAL(shmemx_window_unlock(window), SHMEMX_SUCCESS);
  CHECK_EQUAL(shmemx_window_lock_nbi(window, SHMEMX_LOCK_SHARED, &counter), SHMEMX_SUCCESS);
  shmemx_window_wait(&counter);
  CHECK_EQUAL(shmemx_window_lock(window, SHMEMX_LOCK_EXCLUSIVE), int{SHMEMX_ERR_LOCK});
  CHECK_EQUAL(shmemx_window_unlock(window), SHMEMX_SUCCESS);
  shmem_barrier_all();
}

// The next window in the place of one that was freed while it was locked has a free lock.
PE_TEST(freed_windows_have_no_lock) {
  std::array<std::byte, 64> memory{};
  for (int round = 0; round < 3; ++round) {
    shmemx_window_t own = SHMEMX_WINDOW_INVALID;
    CHECK_EQUAL(shmemx_window_expose(memory.data(), memory.size(), &own), SHMEMX_SUCCESS);
    shmemx_window_description_t mine{};
    shmemx_window_describe(own, &mine);
    const shmemx_window_description_t theirs = exchange(mine)[static_cast<std::size_t>(right())];
    shmemx_window_t window = SHMEMX_WINDOW_INVALID;
    CHECK_EQUAL(shmemx_window_attach(&theirs, &window), SHMEMX_SUCCESS);
    CHECK_EQUAL(shmemx_window_lock(window, SHMEMX_LOCK_EXCLUSIVE), SHMEMX_SUCCESS);
    shmem_barrier_all();
    CHECK_EQUAL(shmemx_window_free(own), SHMEMX_SUCCESS);
    shmem_barrier_all();
    const int code = shmemx_window_unlock(window);
    CHECK(code == SHMEMX_ERR_STALE || code == SHMEMX_SUCCESS);  // another node's PE does not know it yet
    CHECK_EQUAL(shmemx_window_lock(window, SHMEMX_LOCK_SHARED), int{SHMEMX_ERR_STALE});
    CHECK_EQUAL(shmemx_window_detach(window), SHMEMX_SUCCESS);
    shmem_barrier_all();
  }
}
