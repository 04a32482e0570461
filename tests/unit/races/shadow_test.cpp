#include "races/shadow.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

#include "races/sync_table.hpp"

BOOST_AUTO_TEST_SUITE(races_shadow)

namespace {

using shmemx::races::Access;
using shmemx::races::Cell;
using shmemx::races::Clock;
using shmemx::races::Kind;
using shmemx::races::SyncTable;

constexpr std::uint32_t kSlots = 16;
constexpr std::uint8_t kWhole = 0xff;
constexpr std::uint8_t kFirst = 0x0f;
constexpr std::uint8_t kSecond = 0xf0;

// Of a thread with this slot, at its epoch 1, that knows nothing of others.
struct Alone {
  explicit Alone(shmemx::races::Slot slot)
      : slot_(slot),
        memory_(Clock::bytes(kSlots) / sizeof(std::uint64_t) + 1),
        clock(*reinterpret_cast<Clock*>(memory_.data())) {
    clock.raise(slot, 1);
  }
  bool races(Cell& cell, Kind kind, std::uint8_t bytes = kWhole) {
    Access earlier;
    return record(cell, {{slot_, clock.prefix(slot_)}, kind, bytes, {}}, {&clock, {}}, earlier);
  }

 private:
  shmemx::races::Slot slot_;
  std::vector<std::uint64_t> memory_;

 public:
  Clock& clock;
};

bool is_race(Kind first, Kind second) {
  Cell cell{};
  Alone a(1);
  Alone b(2);
  static_cast<void>(a.races(cell, first));
  return b.races(cell, second);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_store_races_with_whatever_is_not_ordered) {
  BOOST_TEST(is_race(Kind::store, Kind::load));
  BOOST_TEST(is_race(Kind::load, Kind::put));
  BOOST_TEST(is_race(Kind::put, Kind::put));
  BOOST_TEST(!is_race(Kind::load, Kind::load));
}

BOOST_AUTO_TEST_CASE(atomics_race_with_others_only) {
  BOOST_TEST(!is_race(Kind::atomic_update, Kind::atomic_update));
  BOOST_TEST(!is_race(Kind::atomic_update, Kind::atomic_load));
  BOOST_TEST(is_race(Kind::atomic_update, Kind::load));
  BOOST_TEST(is_race(Kind::atomic_load, Kind::put));
}

BOOST_AUTO_TEST_CASE(waits_may_see_puts_and_atomics) {
  BOOST_TEST(!is_race(Kind::wait, Kind::put));
  BOOST_TEST(!is_race(Kind::atomic_update, Kind::wait));
  BOOST_TEST(!is_race(Kind::remote_store, Kind::wait));
  BOOST_TEST(is_race(Kind::wait, Kind::store));
}

BOOST_AUTO_TEST_CASE(bytes_that_a_thread_stores_one_by_one_are_all_remembered) {
  Cell cell{};
  Alone a(1);
  Alone b(2);
  for (unsigned i = 0; i < 8; ++i) BOOST_TEST(!a.races(cell, Kind::store, static_cast<std::uint8_t>(1U << i)));
  BOOST_TEST(b.races(cell, Kind::load, 1));
}

BOOST_AUTO_TEST_CASE(only_common_bytes_race) {
  Cell cell{};
  Alone a(1);
  Alone b(2);
  BOOST_TEST(!a.races(cell, Kind::store, kFirst));
  BOOST_TEST(!b.races(cell, Kind::store, kSecond));
  BOOST_TEST(b.races(cell, Kind::store, kWhole));
}

BOOST_AUTO_TEST_CASE(atomics_of_different_sizes_race) {
  Cell cell{};
  Alone a(1);
  Alone b(2);
  BOOST_TEST(!a.races(cell, Kind::atomic_update, kFirst));
  BOOST_TEST(b.races(cell, Kind::atomic_update, kWhole));
}

BOOST_AUTO_TEST_CASE(what_is_known_does_not_race) {
  Cell cell{};
  Alone a(1);
  Alone b(2);
  BOOST_TEST(!a.races(cell, Kind::store));
  b.clock.join(a.clock, kSlots);
  BOOST_TEST(!b.races(cell, Kind::store));
}

BOOST_AUTO_TEST_CASE(a_store_is_remembered_behind_many_loads) {
  Cell cell{};
  Alone writer(1);
  BOOST_TEST(!writer.races(cell, Kind::store));
  for (shmemx::races::Slot slot = 2; slot < 12; ++slot) {
    Alone reader(slot);
    reader.clock.join(writer.clock, kSlots);
    BOOST_TEST(!reader.races(cell, Kind::load));
  }
  Alone late(12);
  BOOST_TEST(late.races(cell, Kind::load));
}

BOOST_AUTO_TEST_CASE(words_keep_their_clocks_apart_until_the_table_is_full) {
  std::vector<std::byte> memory(SyncTable::bytes(kSlots));
  SyncTable table;
  table.open(memory.data(), kSlots);
  BOOST_TEST(table.find(17) == nullptr);
  auto& word = table.at(17);
  BOOST_TEST(&table.at(17) == &word);
  BOOST_TEST(&table.at(18) != &word);
  BOOST_TEST(table.find(17) == &word);
  for (std::uint64_t key = 100; key < 200'000; ++key) static_cast<void>(table.at(key));
  BOOST_TEST(&table.at(17) == &word);
  BOOST_TEST(table.find(1'000'000'007) != nullptr);  // shared by then
}

BOOST_AUTO_TEST_SUITE_END()
