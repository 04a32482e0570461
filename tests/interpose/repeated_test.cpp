// Operations that are repeated take a short path. What was true for the last one may not hold for the next: the epoch,
// the lock, the window, the datatype, the count, the range.
#include <cstdint>
#include <vector>

#include "error_classes.hpp"

using mpi_test::kValue;
using mpi_test::left;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::Returning;
using mpi_test::right;
using mpi_test::TestWindow;

namespace {

constexpr int kOften = 40;

void put(int target, MPI_Aint disp, long value, MPI_Win win) {
  MPI_Put(&value, 1, MPI_LONG, target, disp, 1, MPI_LONG, win);
}

// All operations with a short path, as often as it takes.
void repeat(int target, MPI_Win win) {
  long result = 0;
  for (int i = 0; i < kOften; ++i) {
    put(target, 0, i, win);
    MPI_Get(&result, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
    MPI_Accumulate(&kValue, 1, MPI_LONG, target, 1, 1, MPI_LONG, MPI_SUM, win);
    MPI_Fetch_and_op(&kValue, &result, MPI_LONG, target, 1, MPI_SUM, win);
    MPI_Compare_and_swap(&kValue, &kValue, &result, MPI_LONG, target, 1, win);
  }
}

// None of them is allowed.
void check_refused(int target, MPI_Win win) {
  long result = 0;
  CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, target, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Get(&result, 1, MPI_LONG, target, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Accumulate(&kValue, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Fetch_and_op(&kValue, &result, MPI_LONG, target, 0, MPI_SUM, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Compare_and_swap(&kValue, &kValue, &result, MPI_LONG, target, 0, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush(target, win), MPI_ERR_RMA_SYNC);
}

}  // namespace

CASE(epochs_end_between_them) {
  Returning window;
  MPI_Win_lock_all(0, window.win);
  repeat(right(), window.win);
  MPI_Win_unlock_all(window.win);
  check_refused(right(), window.win);
  for (int i = 0; i < 2 * kOften; ++i) {  // a lock that is taken again allows them again
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(), 0, window.win);
    put(right(), 2, i, window.win);
    MPI_Win_flush(right(), window.win);
    MPI_Win_unlock(right(), window.win);
  }
  check_refused(right(), window.win);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(window.data[0], kOften - 1);
  CHECK_EQUAL(window.data[1], 2 * kOften);
  CHECK_EQUAL(window.data[2], 2 * kOften - 1);
}

CASE(one_of_several_locks_ends) {
  Returning window;
  if (ranks > 1) {
    MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, window.win);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window.win);
    repeat(right(), window.win);
    repeat(rank, window.win);
    MPI_Win_unlock(right(), window.win);
    check_refused(right(), window.win);
    CHECK_CLASS(MPI_Win_flush(rank, window.win), MPI_SUCCESS);
    MPI_Win_unlock(rank, window.win);
    check_refused(rank, window.win);
  }
}

CASE(the_group_of_an_epoch_changes) {
  Returning window;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int round = 0; round < 3; ++round) {
    const int to = right(round + 1);
    const int from = left(round + 1);
    MPI_Group targets = MPI_GROUP_NULL;
    MPI_Group sources = MPI_GROUP_NULL;
    MPI_Group_incl(world, 1, &to, &targets);
    MPI_Group_incl(world, 1, &from, &sources);
    MPI_Win_post(sources, 0, window.win);
    MPI_Win_start(targets, 0, window.win);
    for (int i = 0; i < kOften; ++i) put(to, round, i, window.win);
    if (ranks > 1)
      CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, right(round + 2), 7, 1, MPI_LONG, window.win), MPI_ERR_RMA_SYNC);
    MPI_Win_complete(window.win);
    MPI_Win_wait(window.win);
    CHECK_EQUAL(window.data[round], kOften - 1);
    MPI_Group_free(&targets);
    MPI_Group_free(&sources);
  }
  MPI_Group_free(&world);
}

CASE(fences_follow_each_other) {
  TestWindow<long> window(4, TestWindow<long>::Memory::allocated, 0);
  MPI_Win_fence(0, window.win);
  for (int i = 0; i < kOften; ++i) {
    put(right(), i % 4, 100 * rank + i, window.win);
    put(right(), i % 4, 1000 * rank + i, window.win);
    MPI_Win_fence(0, window.win);
    CHECK_EQUAL(window.data[i % 4], 1000 * left() + i);
    MPI_Win_fence(0, window.win);
  }
}

// Two windows in turns.
CASE(windows_change) {
  for (int round = 0; round < 5; ++round) {
    const std::size_t count = round % 2 == 0 ? 64 : 8;
    TestWindow<long> first(count, TestWindow<long>::Memory::allocated, -1);
    TestWindow<long> second(count, TestWindow<long>::Memory::own, -1);
    MPI_Win_set_errhandler(first.win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, first.win);
    MPI_Win_lock_all(0, second.win);
    const long last = static_cast<long>(count) - 1;
    for (int i = 0; i < kOften; ++i) {
      put(right(), last, rank + i, first.win);
      put(right(), last, -rank - i - 1000, second.win);
    }
    if (count == 8)
      CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, right(), 8, 1, MPI_LONG, first.win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, right(), -1, 1, MPI_LONG, first.win), MPI_ERR_DISP);
    MPI_Win_unlock_all(first.win);
    MPI_Win_unlock_all(second.win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(first.data[last], left() + kOften - 1);
    CHECK_EQUAL(second.data[last], -left() - kOften - 999);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// A window that gets the handle of one that has ended, and is shorter.
CASE(windows_follow_each_other) {
  for (long count = 16; count > 4; --count) {
    TestWindow<long> window(static_cast<std::size_t>(count), TestWindow<long>::Memory::allocated, 0);
    MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, window.win);
    for (int i = 0; i < kOften; ++i) put(right(), count - 1, i, window.win);
    CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, right(), count, 1, MPI_LONG, window.win), MPI_ERR_RMA_RANGE);
    MPI_Win_unlock(right(), window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(window.data[count - 1], kOften - 1);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// A datatype that gets the handle of one that has ended, and is longer.
CASE(datatypes_change) {
  TestWindow<long> window(16, TestWindow<long>::Memory::allocated, 0);
  const std::vector<long> values(8, 5);
  MPI_Win_lock_all(0, window.win);
  for (int longs = 1; longs <= 8; ++longs) {
    MPI_Datatype several = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(longs, MPI_LONG, &several);
    MPI_Type_commit(&several);
    for (int i = 0; i < kOften; ++i) {
      std::vector<long> sent(values);
      sent[0] = i;
      sent[static_cast<std::size_t>(longs) - 1] = 100 * longs + i;
      MPI_Put(sent.data(), 1, several, right(), 0, 1, several, window.win);
    }
    MPI_Win_flush(right(), window.win);
    MPI_Type_free(&several);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window.win);
    CHECK_EQUAL(window.data[longs - 1], 100 * longs + kOften - 1);
    CHECK_EQUAL(window.data[longs], 0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_unlock_all(window.win);
}

// Counts, datatypes and targets in turns; and the same with sizes that do not match.
CASE(data_take_turns) {
  TestWindow<std::int32_t> window(64, TestWindow<std::int32_t>::Memory::allocated, 0);
  MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
  const std::vector<std::int32_t> values(64, 7);
  const std::int64_t wide = 0x0000000900000008;
  MPI_Win_lock_all(0, window.win);
  for (int i = 0; i < kOften; ++i) {
    const int count = 1 << (i % 6);
    MPI_Put(values.data(), count, MPI_INT32_T, right(), 0, count, MPI_INT32_T, window.win);
    MPI_Put(&wide, 1, MPI_INT64_T, right(), 32, 1, MPI_INT64_T, window.win);
    MPI_Put(values.data(), 4, MPI_BYTE, right(i % ranks), 63, 4, MPI_BYTE, window.win);
    CHECK_CLASS(MPI_Put(values.data(), count, MPI_INT32_T, right(), 65 - count, count, MPI_INT32_T, window.win),
                MPI_ERR_RMA_RANGE);
    std::int32_t two[2] = {-1, -1};
    MPI_Get(two, 1, MPI_INT32_T, right(), 0, 1, MPI_INT32_T, window.win);
    MPI_Win_flush(right(), window.win);
    CHECK_EQUAL(two[0], 7);
    CHECK_EQUAL(two[1], -1);
  }
  MPI_Win_unlock_all(window.win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 32; ++i) CHECK_EQUAL(window.data[i], 7);
  CHECK_EQUAL(window.data[32], 8);
  CHECK_EQUAL(window.data[33], 9);
  CHECK_EQUAL(window.data[34], 0);
}

// Each operator between others, on integers of both widths, and on elements that no instruction updates.
CASE(operators_take_turns) {
  TestWindow<long> window(4, TestWindow<long>::Memory::allocated, 0);
  const int seven = 7;
  const double half = 0.5;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window.win);
  long expected = 0;
  for (long i = 1; i <= kOften; ++i) {
    long result = -1;
    MPI_Fetch_and_op(&i, &result, MPI_LONG, rank, 0, MPI_SUM, window.win);
    MPI_Fetch_and_op(nullptr, &result, MPI_LONG, rank, 0, MPI_NO_OP, window.win);
    expected += i;
    CHECK_EQUAL(result, expected);
    MPI_Fetch_and_op(&i, &result, MPI_LONG, rank, 0, MPI_MAX, window.win);
    MPI_Fetch_and_op(&i, &result, MPI_LONG, rank, 0, MPI_REPLACE, window.win);
    CHECK_EQUAL(result, expected);
    expected = i;
    MPI_Accumulate(&seven, 1, MPI_INT, rank, 1, 1, MPI_INT, MPI_SUM, window.win);
    MPI_Accumulate(&half, 1, MPI_DOUBLE, rank, 2, 1, MPI_DOUBLE, MPI_SUM, window.win);
  }
  MPI_Win_flush(rank, window.win);
  int sevens = 0;
  double halves = 0;
  std::memcpy(&sevens, &window.data[1], sizeof sevens);
  std::memcpy(&halves, &window.data[2], sizeof halves);
  CHECK_EQUAL(sevens, 7 * kOften);
  CHECK_EQUAL(halves, kOften / 2);
  MPI_Win_unlock(rank, window.win);
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
