// The lock of a window: who enters when, in one thread; and that it excludes, among several.
#include "onesided/lock_word.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <thread>
#include <vector>

BOOST_AUTO_TEST_SUITE(onesided_lock_word)

using shmemx::onesided::LockKind;
using shmemx::onesided::LockWord;

BOOST_AUTO_TEST_CASE(requests_are_granted_in_their_order) {
  LockWord lock;
  std::uint32_t writer = 0, first = 0, second = 0, last = 0, ignored = 0;
  BOOST_TEST(lock.take(LockKind::shared, ignored));
  BOOST_TEST(lock.take(LockKind::shared, ignored));
  BOOST_TEST(!lock.take(LockKind::exclusive, writer));
  BOOST_TEST(!lock.take(LockKind::shared, first));  // behind the exclusive request
  BOOST_TEST(!lock.take(LockKind::shared, second));
  BOOST_TEST(!lock.take(LockKind::exclusive, last));
  BOOST_TEST(!lock.try_take(LockKind::shared));
  BOOST_TEST(lock.leave(LockKind::shared));
  BOOST_TEST(!lock.enter(LockKind::exclusive, writer));
  BOOST_TEST(lock.leave(LockKind::shared));
  BOOST_TEST(!lock.enter(LockKind::shared, first));
  BOOST_TEST(lock.enter(LockKind::exclusive, writer));
  BOOST_TEST(lock.leave(LockKind::exclusive));
  BOOST_TEST(!lock.enter(LockKind::shared, second));  // the one in front of it first
  BOOST_TEST(lock.enter(LockKind::shared, first));
  BOOST_TEST(lock.enter(LockKind::shared, second));
  BOOST_TEST(lock.leave(LockKind::shared));
  BOOST_TEST(!lock.enter(LockKind::exclusive, last));
  BOOST_TEST(lock.leave(LockKind::shared));
  BOOST_TEST(lock.enter(LockKind::exclusive, last));
  BOOST_TEST(!lock.leave(LockKind::exclusive));
}

BOOST_AUTO_TEST_CASE(tickets_of_an_earlier_window_are_never_granted) {
  for (const LockKind kind : {LockKind::exclusive, LockKind::shared}) {
    LockWord lock;
    std::uint32_t late = 0, ticket = 0, ignored = 0;
    BOOST_TEST(lock.take(LockKind::exclusive, ignored));
    BOOST_TEST(!lock.take(kind, late));
    lock.reset();
    for (int i = 0; i < 1000; ++i) {
      BOOST_TEST(!lock.enter(kind, late));
      BOOST_TEST(lock.take(LockKind::exclusive, ignored));
      BOOST_TEST(!lock.enter(kind, late));
      BOOST_TEST(!lock.take(LockKind::shared, ticket));
      BOOST_TEST(lock.leave(LockKind::exclusive));
      BOOST_TEST(!lock.enter(kind, late));
      BOOST_TEST(lock.enter(LockKind::shared, ticket));
      BOOST_TEST(!lock.leave(LockKind::shared));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_joining_request_goes_before_those_that_wait) {
  LockWord lock;
  std::uint32_t writer = 0, reader = 0, ignored = 0;
  BOOST_TEST(lock.take(LockKind::joining, ignored));  // free
  BOOST_TEST(!lock.take(LockKind::exclusive, writer));
  BOOST_TEST(!lock.take(LockKind::shared, reader));
  BOOST_TEST(lock.take(LockKind::joining, ignored));
  BOOST_TEST(lock.try_take(LockKind::joining));
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(!lock.enter(LockKind::exclusive, writer));
    BOOST_TEST(lock.leave(LockKind::joining));
  }
  BOOST_TEST(lock.enter(LockKind::exclusive, writer));
  BOOST_TEST(!lock.enter(LockKind::shared, reader));
  BOOST_TEST(lock.leave(LockKind::exclusive));
  BOOST_TEST(lock.enter(LockKind::shared, reader));
  BOOST_TEST(!lock.leave(LockKind::shared));
  BOOST_TEST(lock.try_take(LockKind::exclusive));
}

BOOST_AUTO_TEST_CASE(an_exclusive_holder_hands_over_to_those_that_join) {
  LockWord lock;
  std::uint32_t next = 0, ignored = 0;
  BOOST_TEST(lock.try_take(LockKind::exclusive));
  BOOST_TEST(!lock.take(LockKind::exclusive, next));
  BOOST_TEST(!lock.try_take(LockKind::joining));
  BOOST_TEST(!lock.take(LockKind::joining, ignored));
  BOOST_TEST(!lock.take(LockKind::joining, ignored));  // two of them
  BOOST_TEST(lock.leave(LockKind::exclusive));
  BOOST_TEST(!lock.enter(LockKind::exclusive, next));
  BOOST_TEST(lock.enter(LockKind::joining, ignored));
  BOOST_TEST(lock.enter(LockKind::joining, ignored));
  BOOST_TEST(lock.leave(LockKind::joining));
  BOOST_TEST(!lock.enter(LockKind::exclusive, next));
  BOOST_TEST(lock.leave(LockKind::joining));
  BOOST_TEST(lock.enter(LockKind::exclusive, next));
  BOOST_TEST(!lock.take(LockKind::joining, ignored));
  BOOST_TEST(lock.leave(LockKind::exclusive));  // nobody waits but the one that joins
  BOOST_TEST(!lock.try_take(LockKind::exclusive));
  BOOST_TEST(lock.enter(LockKind::joining, ignored));
  BOOST_TEST(!lock.leave(LockKind::joining));
  BOOST_TEST(lock.try_take(LockKind::exclusive));
  BOOST_TEST(!lock.leave(LockKind::exclusive));
}

// The exclusive holder has left, but the shared request behind it has not seen that yet.
BOOST_AUTO_TEST_CASE(a_request_joins_one_that_is_about_to_enter) {
  LockWord lock;
  std::uint32_t reader = 0, writer = 0, ignored = 0;
  BOOST_TEST(lock.try_take(LockKind::exclusive));
  BOOST_TEST(!lock.take(LockKind::shared, reader));
  BOOST_TEST(!lock.take(LockKind::exclusive, writer));
  BOOST_TEST(lock.leave(LockKind::exclusive));
  BOOST_TEST(!lock.take(LockKind::joining, ignored));
  BOOST_TEST(lock.enter(LockKind::shared, reader));
  BOOST_TEST(lock.enter(LockKind::joining, ignored));
  BOOST_TEST(lock.leave(LockKind::shared));
  BOOST_TEST(!lock.enter(LockKind::exclusive, writer));
  BOOST_TEST(lock.leave(LockKind::joining));
  BOOST_TEST(lock.enter(LockKind::exclusive, writer));
  BOOST_TEST(!lock.leave(LockKind::exclusive));
}

BOOST_AUTO_TEST_CASE(a_free_lock_is_taken_at_once) {
  LockWord lock;
  BOOST_TEST(lock.try_take(LockKind::exclusive));
  BOOST_TEST(!lock.try_take(LockKind::exclusive));
  BOOST_TEST(!lock.try_take(LockKind::shared));
  BOOST_TEST(!lock.leave(LockKind::exclusive));
  BOOST_TEST(lock.try_take(LockKind::shared));
  BOOST_TEST(lock.try_take(LockKind::shared));
  BOOST_TEST(!lock.try_take(LockKind::exclusive));
  lock.reset();
  BOOST_TEST(lock.try_take(LockKind::exclusive));
}

// Tickets are numbers of 21 bits.
BOOST_AUTO_TEST_CASE(tickets_wrap) {
  LockWord lock;
  for (std::uint32_t i = 0; i < (1U << 21) + 10; ++i) {
    const LockKind kind = i % 3 == 0 ? LockKind::exclusive : LockKind::shared;
    BOOST_REQUIRE(lock.try_take(kind));
    BOOST_REQUIRE(!lock.leave(kind));
  }
  std::uint32_t ticket = 0;
  BOOST_TEST(lock.take(LockKind::shared, ticket));
  BOOST_TEST(!lock.take(LockKind::exclusive, ticket));
  BOOST_TEST(lock.leave(LockKind::shared));
  BOOST_TEST(lock.enter(LockKind::exclusive, ticket));
}

BOOST_AUTO_TEST_CASE(threads_exclude_each_other) {
  LockWord lock;
  std::uint64_t value = 0;  // changed by exclusive holders, read by shared ones
  std::uint64_t copy = 0;
  bool differed = false;
  const auto run = [&](int self) {
    for (int i = 0; i < 3000; ++i) {
      const LockKind shared = i % 3 == 0 ? LockKind::joining : LockKind::shared;
      const LockKind kind = (i + self) % 4 == 0 ? LockKind::exclusive : shared;
      std::uint32_t ticket = 0;
      if (!lock.take(kind, ticket)) {
        while (!lock.enter(kind, ticket)) std::this_thread::yield();
      }
      if (kind == LockKind::exclusive) {
        ++value;
        ++copy;
      } else if (value != copy) {
        differed = true;
      }
      lock.leave(kind);
    }
  };
  std::vector<std::thread> threads;
  for (int self = 0; self < 4; ++self) threads.emplace_back(run, self);
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(value == 3000U);
  BOOST_TEST(copy == 3000U);
  BOOST_TEST(!differed);
}

BOOST_AUTO_TEST_SUITE_END()
