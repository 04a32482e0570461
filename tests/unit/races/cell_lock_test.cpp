#include "races/cell_lock.hpp"

#include <boost/test/unit_test.hpp>

#include <thread>
#include <vector>

BOOST_AUTO_TEST_SUITE(races_cell_lock)

namespace {

using shmemx::races::Cell;
using shmemx::races::CellLocks;
using shmemx::races::Kind;
using shmemx::races::Stamp;

constexpr std::uint64_t kPeBytes = std::uint64_t{4} << CellLocks::kGranuleBits;
constexpr std::uint32_t kPes = 2;

// The cells of two PEs, of which this is the second one.
struct SecondPe {
  SecondPe() : cells(kPes * kPeBytes / sizeof(Cell)), shared(CellLocks::bytes(kPeBytes, kPes)) {
    has_barrier = locks.open({reinterpret_cast<std::byte*>(cells.data()), kPeBytes, kPes, 1, shared.data()});
    CellLocks::become_owner(true);
  }
  ~SecondPe() { CellLocks::become_owner(false); }
  Cell& cell_of(std::uint32_t pe, std::uint32_t granule) {
    return cells[(pe * kPeBytes + (std::uint64_t{granule} << CellLocks::kGranuleBits)) / sizeof(Cell)];
  }
  bool is_free_of_locks(Cell& cell) {
    const bool is_entered = locks.enter(cell);
    if (is_entered) locks.leave();
    return is_entered;
  }

  std::vector<Cell> cells;
  std::vector<std::byte> shared;
  CellLocks locks;
  bool has_barrier = false;
};

shmemx::races::PackedAccess access_of(shmemx::races::Slot slot, Kind kind, std::uint32_t where) {
  return {pack(Stamp{slot, 1}, kind, 0xff), where};
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_owner_takes_no_lock_until_another_one_shares_the_granule) {
  SecondPe pe;
  if (!pe.has_barrier) return;
  BOOST_TEST(pe.is_free_of_locks(pe.cell_of(1, 2)));
  BOOST_TEST(!pe.is_free_of_locks(pe.cell_of(0, 2)));  // of the other PE
  std::thread([&pe] {
    BOOST_TEST(!pe.is_free_of_locks(pe.cell_of(1, 2)));  // no owner
    pe.locks.share(pe.cell_of(1, 2));
  }).join();
  BOOST_TEST(!pe.is_free_of_locks(pe.cell_of(1, 2)));
  BOOST_TEST(pe.is_free_of_locks(pe.cell_of(1, 3)));
}

BOOST_AUTO_TEST_CASE(private_cells_take_locks_once_there_are_several_threads) {
  SecondPe pe;
  Cell cell{};
  BOOST_TEST(pe.is_free_of_locks(cell));
  pe.locks.share_private();
  BOOST_TEST(!pe.is_free_of_locks(cell));
  BOOST_TEST(pe.is_free_of_locks(pe.cell_of(1, 0)));
}

BOOST_AUTO_TEST_CASE(without_a_barrier_all_cells_take_locks) {
  SecondPe pe;
  pe.locks.share_all();
  BOOST_TEST(!pe.is_free_of_locks(pe.cell_of(1, 0)));
}

BOOST_AUTO_TEST_CASE(an_owned_cell_keeps_the_last_store_and_the_last_load) {
  Cell cell{};
  BOOST_TEST(record_owned(cell, access_of(3, Kind::store, 1)));
  BOOST_TEST(record_owned(cell, access_of(3, Kind::load, 2)));
  BOOST_TEST(record_owned(cell, access_of(3, Kind::load, 4)));
  BOOST_TEST(cell.entries[0].where.load() == 1U);
  BOOST_TEST(cell.entries[1].where.load() == 4U);
  BOOST_TEST(record_owned(cell, access_of(3, Kind::store, 5)));  // stands for both
  BOOST_TEST(cell.entries[0].where.load() == 5U);
  BOOST_TEST(cell.entries[1].who.load() == 0U);
}

BOOST_AUTO_TEST_CASE(a_cell_with_entries_of_others_is_left_alone) {
  Cell cell{};
  BOOST_TEST(record_owned(cell, access_of(3, Kind::store, 1)));
  BOOST_TEST(!record_owned(cell, access_of(4, Kind::load, 2)));
  BOOST_TEST(!record_owned(cell, access_of(4, Kind::store, 2)));
  BOOST_TEST(cell.entries[0].where.load() == 1U);
  BOOST_TEST(cell.entries[1].who.load() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
