// Epochs of one lock: puts alone, which may travel with the request for the lock, and puts with everything else.
#include "mpi_test.hpp"

using mpi_test::left;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::right;
using mpi_test::TestWindow;
using mpi_test::with_windows;

namespace {

long get(const TestWindow<long>& window, int target, MPI_Aint index) {
  long value = -1;
  MPI_Get(&value, 1, MPI_LONG, target, index, 1, MPI_LONG, window.win);
  MPI_Win_flush(target, window.win);
  return value;
}

void put(const TestWindow<long>& window, int target, MPI_Aint index, const long& value) {
  MPI_Put(&value, 1, MPI_LONG, target, index, 1, MPI_LONG, window.win);
}

}  // namespace

// Two words that are put in one epoch are never seen apart.
CASE(epochs_of_puts_are_whole) {
  constexpr int kRounds = 60;
  with_windows<long>(64, 0, [](TestWindow<long>& window) {
    for (long i = 1; i <= kRounds; ++i) {
      const long value = i * ranks + rank;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win);
      put(window, 0, 3, value);
      put(window, 0, 60, value);
      MPI_Win_unlock(0, window.win);
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win);
      long pair[2] = {-1, -2};
      MPI_Get(&pair[0], 1, MPI_LONG, 0, 3, 1, MPI_LONG, window.win);
      MPI_Get(&pair[1], 1, MPI_LONG, 0, 60, 1, MPI_LONG, window.win);
      MPI_Win_unlock(0, window.win);
      CHECK_EQUAL(pair[0], pair[1]);
      CHECK(pair[0] >= ranks);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(window.data[3] / ranks == kRounds && window.data[60] == window.data[3]);
  });
}

// The puts are complete when the epoch ends, without any other call at the target.
CASE(puts_are_complete_after_unlock) {
  with_windows<long>(512, 0, [](TestWindow<long>& window) {
    const int kinds[] = {MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED};
    for (long round = 1; round <= 20; ++round) {
      const int count = round % 5 == 0 ? 250 : static_cast<int>(round);
      MPI_Win_lock(kinds[round % 2], right(), 0, window.win);
      std::vector<long> sent(static_cast<std::size_t>(count));
      for (int i = 0; i < count; ++i) {
        sent[static_cast<std::size_t>(i)] = round * 1000 + i;
        put(window, right(), 2 * i, sent[static_cast<std::size_t>(i)]);
      }
      MPI_Win_unlock(right(), window.win);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window.win);
      int wrong = 0;
      for (int i = 0; i < count; ++i) wrong += window.data[2 * i] != round * 1000 + i || window.data[2 * i + 1] != 0;
      MPI_Win_unlock(rank, window.win);
      CHECK_EQUAL(wrong, 0);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  });
}

// The source may be changed as soon as the epoch is over; a datatype with gaps, an empty put and MPI_PROC_NULL between.
CASE(any_put_may_follow_a_small_one) {
  with_windows<long>(4096, 0, [](TestWindow<long>& window) {
    MPI_Datatype gaps = MPI_DATATYPE_NULL;
    MPI_Type_vector(3, 1, 2, MPI_LONG, &gaps);
    MPI_Type_commit(&gaps);
    std::vector<long> many(3000, rank + 7);
    long small = rank + 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(), 0, window.win);
    put(window, right(), 0, small);
    MPI_Put(&small, 0, MPI_LONG, right(), 1, 0, MPI_LONG, window.win);
    MPI_Put(&small, 1, MPI_LONG, MPI_PROC_NULL, 1, 1, MPI_LONG, window.win);
    MPI_Put(many.data(), 1, gaps, right(), 10, 1, gaps, window.win);
    MPI_Put(many.data(), 3000, MPI_LONG, right(), 100, 3000, MPI_LONG, window.win);
    put(window, right(), 1, small);
    MPI_Win_unlock(right(), window.win);
    small = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    const long expected[] = {left() + 1, left() + 1, 0};
    for (int i = 0; i < 3; ++i) CHECK_EQUAL(window.data[i], expected[i]);
    for (int i = 10; i < 15; ++i) CHECK_EQUAL(window.data[i], i % 2 == 0 ? left() + 7 : 0);
    CHECK(window.data[99] == 0 && window.data[100] == left() + 7 && window.data[3099] == left() + 7);
    MPI_Type_free(&gaps);
  });
}

// A counter in memory that only the lock protects: small puts in front of a get, an accumulate, a fetch, a flush.
CASE(other_operations_are_under_the_lock_too) {
  constexpr int kRounds = 40;
  with_windows<long>(16, 0, [](TestWindow<long>& window) {
    const long one = 1;
    for (int i = 0; i < kRounds; ++i) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win);
      const long note = rank;
      put(window, 0, 5, note);
      if (i % 3 == 0) MPI_Win_flush_local(0, window.win);
      if (i % 3 == 1) MPI_Win_flush_all(window.win);
      long old = -1;
      if (i % 2 == 0) {
        MPI_Accumulate(&one, 1, MPI_LONG, 0, 6, 1, MPI_LONG, MPI_SUM, window.win);
      } else {
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 6, MPI_SUM, window.win);
      }
      const long next = get(window, 0, 1) + 1;
      CHECK_EQUAL(get(window, 0, 5), rank);
      put(window, 0, 1, next);
      MPI_Win_unlock(0, window.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      CHECK_EQUAL(window.data[1], long{kRounds} * ranks);
      CHECK_EQUAL(window.data[6], long{kRounds} * ranks);
    }
  });
}

// Locks of two targets in one order, and of two windows: the first is held before the second is requested.
CASE(several_locks_are_taken_in_order) {
  if (ranks < 2) return;
  TestWindow<long> first(8, TestWindow<long>::Memory::allocated);
  TestWindow<long> second(8, TestWindow<long>::Memory::own);
  for (int i = 0; i < 30; ++i) {
    const long value = i + 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, first.win);
    put(first, 0, 2, value);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, first.win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, ranks - 1, 0, second.win);
    const long sum = get(first, 1, 0) + 1;
    put(first, 1, 0, sum);
    const long other = get(second, ranks - 1, 0) + 1;
    put(second, ranks - 1, 0, other);
    const long third = get(first, 0, 0) + 1;
    put(first, 0, 0, third);
    MPI_Win_unlock(ranks - 1, second.win);
    MPI_Win_unlock(0, first.win);
    MPI_Win_unlock(1, first.win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank < 2) CHECK_EQUAL(first.data[0], 30L * ranks);
  if (rank == ranks - 1) CHECK_EQUAL(second.data[0], 30L * ranks);
  if (rank == 0) CHECK_EQUAL(first.data[2], 30L);
  MPI_Barrier(MPI_COMM_WORLD);
}

CASE(epochs_may_be_empty) {
  with_windows<long>(1, 0, [](TestWindow<long>& window) {
    for (int i = 0; i < 50; ++i) {
      MPI_Win_lock(i % 2 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, right(), 0, window.win);
      if (i % 5 == 0) MPI_Win_flush(right(), window.win);
      MPI_Win_unlock(right(), window.win);
    }
    MPI_Win_fence(0, window.win);
    const long value = rank;
    put(window, right(), 0, value);
    MPI_Win_fence(0, window.win);
    CHECK_EQUAL(window.data[0], left());
  });
}

// Memory that is not there is an error of the epoch at the latest, and the lock is free afterwards.
CASE(errors_release_the_lock) {
  MPI_Win win = MPI_WIN_NULL;
  long word = 0;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_attach(win, &word, sizeof word);
  std::vector<MPI_Aint> addresses(static_cast<std::size_t>(ranks));
  MPI_Aint mine = 0;
  MPI_Get_address(&word, &mine);
  MPI_Allgather(&mine, 1, MPI_AINT, addresses.data(), 1, MPI_AINT, MPI_COMM_WORLD);
  const MPI_Aint there = addresses[static_cast<std::size_t>(right())];
  const long value = rank + 1;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(), 0, win);
  int code = MPI_Put(&value, 1, MPI_LONG, right(), MPI_Aint{64}, 1, MPI_LONG, win);
  const int ended = MPI_Win_unlock(right(), win);
  if (code == MPI_SUCCESS) code = ended;
  int kind = MPI_SUCCESS;
  MPI_Error_class(code, &kind);
  CHECK_EQUAL(kind, MPI_ERR_RMA_RANGE);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(), 0, win);
  CHECK_EQUAL(MPI_Put(&value, 1, MPI_LONG, right(), there, 1, MPI_LONG, win), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Win_unlock(right(), win), MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  CHECK_EQUAL(word, left() + 1);
  MPI_Win_unlock(rank, win);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
