#include "races/clock.hpp"

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <vector>

BOOST_AUTO_TEST_SUITE(races_clock)

namespace {

using shmemx::races::Clock;
using shmemx::races::Slot;

constexpr std::uint32_t kSlots = 8;

class OwnClock {
 public:
  OwnClock() : memory_(Clock::bytes(kSlots) / sizeof(std::uint64_t) + 1) {}
  Clock* operator->() { return reinterpret_cast<Clock*>(memory_.data()); }
  Clock& operator*() { return *operator->(); }

 private:
  std::vector<std::uint64_t> memory_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_prefix_covers_all_before_it) {
  OwnClock clock;
  clock->raise(3, 5);
  BOOST_TEST(clock->knows(3, 5));
  BOOST_TEST(clock->knows(3, 1));
  BOOST_TEST(!clock->knows(3, 6));
  BOOST_TEST(!clock->knows(2, 1));
}

BOOST_AUTO_TEST_CASE(a_single_epoch_says_nothing_of_those_before_it) {
  OwnClock clock;
  clock->add_single({7, 3});
  BOOST_TEST(clock->knows(3, 7));
  BOOST_TEST(!clock->knows(3, 6));
  BOOST_TEST(!clock->knows(3, 8));
}

BOOST_AUTO_TEST_CASE(single_epochs_that_follow_the_prefix_lengthen_it) {
  OwnClock clock;
  clock->add_single({3, 3});
  clock->add_single({2, 3});
  BOOST_TEST(clock->prefix(3) == 0U);
  clock->add_single({1, 3});
  BOOST_TEST(clock->prefix(3) == 3U);
}

BOOST_AUTO_TEST_CASE(joining_takes_the_later_of_each_and_all_single_epochs) {
  OwnClock a;
  OwnClock b;
  a->raise(1, 4);
  b->raise(1, 2);
  b->raise(2, 9);
  b->add_single({6, 1});
  a->join(*b, kSlots);
  BOOST_TEST(a->prefix(1) == 4U);
  BOOST_TEST(a->prefix(2) == 9U);
  BOOST_TEST(a->knows(1, 6));
  BOOST_TEST(!a->knows(1, 5));
}

BOOST_AUTO_TEST_CASE(too_many_single_epochs_are_forgotten_by_knowing_more) {
  OwnClock clock;
  for (std::uint32_t epoch = 2; epoch < 200; epoch += 2) clock->add_single({epoch, 3});
  for (std::uint32_t epoch = 2; epoch < 200; epoch += 2) BOOST_TEST(clock->knows(3, epoch));
  BOOST_TEST(!clock->knows(3, 199));
}

BOOST_AUTO_TEST_SUITE_END()
