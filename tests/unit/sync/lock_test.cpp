#include "sync/lock.hpp"

#include <boost/test/unit_test.hpp>
#include <string>
#include <thread>
#include <vector>

#include "../../support/threads.hpp"
#include "support/child.hpp"
#include "support/thread_pes.hpp"

BOOST_AUTO_TEST_SUITE(sync_lock)

namespace {

using namespace shmemx;
using unit::Failures;
using unit::Node;

constexpr std::size_t kCounter = 4096;  // heap offset on PE 0

// Returns PE `pe`'s copy of the lock at `offset`. The offset determines the lock's home PE.
long* lock_of(const Node& node, int pe, std::size_t offset) { return node.at<long>(pe, offset); }

bool is_clear(const Node& node, std::size_t offset) {
  for (int pe = 0; pe < node.size(); ++pe) {
    if (*lock_of(node, pe, offset) != 0) return false;
  }
  return true;
}

// Increments the plain counter that the lock protects. In some rounds the holder yields, so that other PEs queue.
void count_under_lock(const Node& node, int round) {
  long& counter = *node.at<long>(0, kCounter);
  const long before = counter;
  if (round % 8 == 0) std::this_thread::yield();
  counter = before + 1;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_lock_excludes_on_every_home_pe) {
  const unit::WaitingGuard guard(unit::oversubscribed_policy());
  for (const int n_pes : unit::kPeCounts) {
    for (const std::size_t offset : {0, 8, 16}) {
      const Node node(n_pes);
      node.run([&](int pe) {
        for (int round = 0; round < unit::rounds(node.size()) / 4; ++round) {
          sync::set_lock(node.world(pe), "lock_test", lock_of(node, pe, offset), false);
          count_under_lock(node, round);
          sync::clear_lock(node.world(pe), "lock_test", lock_of(node, pe, offset));
        }
      });
      BOOST_TEST_CONTEXT(n_pes << " PEs, offset " << offset) {
        BOOST_CHECK_EQUAL(*node.at<long>(0, kCounter), n_pes * (unit::rounds(n_pes) / 4));
        BOOST_CHECK(is_clear(node, offset));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(try_lock_and_set_lock_exclude_each_other) {
  const unit::WaitingGuard guard(unit::oversubscribed_policy());
  const Node node(3);
  node.run([&](int pe) {
    for (int round = 0; round < unit::rounds(node.size()) / 4; ++round) {
      if (pe == 0) {
        sync::set_lock(node.world(pe), "lock_test", lock_of(node, pe, 8), false);
      } else {
        while (!sync::try_lock(node.world(pe), "lock_test", lock_of(node, pe, 8))) std::this_thread::yield();
      }
      count_under_lock(node, round);
      sync::clear_lock(node.world(pe), "lock_test", lock_of(node, pe, 8));
    }
  });
  BOOST_CHECK_EQUAL(*node.at<long>(0, kCounter), 3 * (unit::rounds(node.size()) / 4));
  BOOST_CHECK(is_clear(node, 8));
}

BOOST_AUTO_TEST_CASE(threads_of_one_pe_exclude_each_other) {
  const unit::WaitingGuard guard(unit::oversubscribed_policy());
  const Node node(2);
  node.run([&](int pe) {
    test_support::run_on_threads(2, [&](int) {
      for (int round = 0; round < unit::rounds(node.size()) / 8; ++round) {
        sync::set_lock(node.world(pe), "lock_test", lock_of(node, pe, 0), true);
        count_under_lock(node, round);
        sync::clear_lock(node.world(pe), "lock_test", lock_of(node, pe, 0));
      }
    });
  });
  BOOST_CHECK_EQUAL(*node.at<long>(0, kCounter), 4 * (unit::rounds(node.size()) / 8));
  BOOST_CHECK(is_clear(node, 0));
}

BOOST_AUTO_TEST_CASE(try_lock_fails_while_the_lock_is_held) {
  const Node node(3);
  BOOST_CHECK(sync::try_lock(node.world(1), "lock_test", lock_of(node, 1, 0)));
  for (int pe = 0; pe < 3; ++pe) BOOST_CHECK(!sync::try_lock(node.world(pe), "lock_test", lock_of(node, pe, 0)));
  BOOST_CHECK(sync::try_lock(node.world(0), "lock_test", lock_of(node, 0, 8)));  // another lock
  sync::clear_lock(node.world(1), "lock_test", lock_of(node, 1, 0));
  BOOST_CHECK(sync::try_lock(node.world(2), "lock_test", lock_of(node, 2, 0)));
  sync::clear_lock(node.world(2), "lock_test", lock_of(node, 2, 0));
  BOOST_CHECK(is_clear(node, 0));
}

// PE 0 holds the lock; the others queue one by one and must get it in that order.
BOOST_AUTO_TEST_CASE(waiting_pes_get_the_lock_in_the_order_of_their_requests) {
  const unit::WaitingGuard guard(unit::oversubscribed_policy());
  constexpr int kPes = 5;
  const Node node(kPes);
  constexpr std::size_t kLock = 0;  // its home is PE 0: the lower half there is the last PE of the queue + 1
  sync::set_lock(node.world(0), "lock_test", lock_of(node, 0, kLock), false);
  std::vector<int> order;
  std::vector<std::thread> threads;
  for (const int pe : {3, 1, 4, 2}) {
    threads.emplace_back([&, pe] {
      sync::set_lock(node.world(pe), "lock_test", lock_of(node, pe, kLock), false);
      order.push_back(pe);
      sync::clear_lock(node.world(pe), "lock_test", lock_of(node, pe, kLock));
    });
    const auto* const tail = node.at<std::uint32_t>(0, kLock);
    while (__atomic_load_n(tail, __ATOMIC_ACQUIRE) != static_cast<std::uint32_t>(pe) + 1) std::this_thread::yield();
  }
  sync::clear_lock(node.world(0), "lock_test", lock_of(node, 0, kLock));
  for (std::thread& thread : threads) thread.join();
  const std::vector<int> expected{3, 1, 4, 2};
  BOOST_TEST(order == expected, boost::test_tools::per_element());
  BOOST_CHECK(is_clear(node, kLock));
}

BOOST_AUTO_TEST_CASE(misuse_is_named) {
  const Node node(2);
  const auto twice = unit::in_child([&] {
    sync::set_lock(node.world(0), "shmem_set_lock", lock_of(node, 0, 0), false);
    sync::set_lock(node.world(0), "shmem_set_lock", lock_of(node, 0, 0), false);
    return 0;
  });
  BOOST_CHECK_EQUAL(twice.status, 1);
  BOOST_CHECK_MESSAGE(twice.text.find("is already held by this PE") != std::string::npos, twice.text);
  const auto foreign = unit::in_child([&] {
    sync::clear_lock(node.world(1), "shmem_clear_lock", lock_of(node, 1, 8));
    return 0;
  });
  BOOST_CHECK_EQUAL(foreign.status, 1);
  BOOST_CHECK_MESSAGE(foreign.text.find("is not held by this PE") != std::string::npos, foreign.text);
}

BOOST_AUTO_TEST_SUITE_END()
