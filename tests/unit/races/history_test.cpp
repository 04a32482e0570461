#include "races/history.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

BOOST_AUTO_TEST_SUITE(races_history)

namespace {

using shmemx::races::Clock;
using shmemx::races::Epoch;
using shmemx::races::History;
using shmemx::races::Slot;
using Proof = History::Proof;

constexpr std::uint32_t kSlots = 8;
constexpr Slot kWriter = 3;

// A word that one thread updates, in its epochs 1, 2, ..., and another one waits for.
class Watched {
 public:
  Watched()
      : history_(History::bytes(kSlots) / sizeof(std::uint64_t) + 1),
        released_(Clock::bytes(kSlots) / sizeof(std::uint64_t) + 1),
        known_(released_) {}

  void set(std::uint64_t value) { set(value, latest_); }
  void set(std::uint64_t value, std::uint64_t before) {
    clock(released_).raise(kWriter, ++epoch_);
    history().add({{epoch_, kWriter}, before, value, 8}, clock(released_), {kSlots, kSlots});
    latest_ = value;
  }
  void know(Epoch epoch) { clock(known_).raise(kWriter, epoch); }
  History& history() { return *reinterpret_cast<History*>(history_.data()); }
  // Which of the updates a wait for at least `least` proves; -1: all.
  int proves_at_least(std::uint64_t least, std::uint32_t bytes = 8) {
    const auto found =
        history().find({clock(known_), latest_, bytes, kSlots}, [&](std::uint64_t value) { return value >= least; });
    if (found.proof == Proof::all) return -1;
    return found.proof == Proof::nothing ? 0 : static_cast<int>(found.clock->prefix(kWriter));
  }
  void store(std::uint64_t value) { latest_ = value; }

 private:
  std::vector<std::uint64_t> history_;
  std::vector<std::uint64_t> released_;
  std::vector<std::uint64_t> known_;
  Epoch epoch_ = 0;
  std::uint64_t latest_ = 0;

  static Clock& clock(std::vector<std::uint64_t>& memory) { return *reinterpret_cast<Clock*>(memory.data()); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_wait_proves_the_first_value_that_satisfies_it) {
  Watched word;
  for (std::uint64_t value = 1; value <= 3; ++value) word.set(value);
  BOOST_TEST(word.proves_at_least(0) == 0);
  BOOST_TEST(word.proves_at_least(1) == 1);
  BOOST_TEST(word.proves_at_least(2) == 2);
  BOOST_TEST(word.proves_at_least(2, 4) == -1);
}

BOOST_AUTO_TEST_CASE(values_before_what_the_thread_knows_do_not_count) {
  Watched word;
  word.set(5);
  word.set(0);
  word.set(6);
  BOOST_TEST(word.proves_at_least(1) == 1);
  word.know(2);
  BOOST_TEST(word.proves_at_least(1) == 3);
  BOOST_TEST(word.proves_at_least(0) == 2);
}

BOOST_AUTO_TEST_CASE(a_store_that_was_not_seen_ends_what_is_known) {
  Watched word;
  word.set(1);
  word.store(0);  // by the owner
  BOOST_TEST(word.proves_at_least(0) == -1);
  word.set(1);
  BOOST_TEST(word.proves_at_least(1) == 2);
  BOOST_TEST(word.proves_at_least(0) == 2);
  word.history().forget();
  BOOST_TEST(word.proves_at_least(1) == -1);
}

BOOST_AUTO_TEST_CASE(the_oldest_updates_are_forgotten_one_by_one) {
  Watched word;
  for (std::uint64_t value = 1; value <= History::kUpdates + 2; ++value) word.set(value);
  BOOST_TEST(word.proves_at_least(0) == 3);
  BOOST_TEST(word.proves_at_least(1) == 3);
  BOOST_TEST(word.proves_at_least(5) == 5);
}

BOOST_AUTO_TEST_SUITE_END()
