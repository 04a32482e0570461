// What programs seldom do, and MPI allows: nothing as memory, as data or as a target; this process itself; addresses
// instead of displacements; windows that overlap; windows that end late.
#include <cstdint>
#include <string>

#include "mpi_test.hpp"

using mpi_test::left;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::right;
using mpi_test::TestWindow;
using mpi_test::with_windows;

namespace {

const long kValue = 1;

// Empty operations of all kinds, with a type that has no data, too.
void access_nothing(MPI_Win win, int target) {
  long memory = 7;
  MPI_Datatype none = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_LONG, &none);
  MPI_Type_commit(&none);
  MPI_Put(nullptr, 0, MPI_LONG, target, 0, 0, MPI_LONG, win);
  MPI_Put(&memory, 3, none, target, 0, 5, none, win);
  MPI_Get(nullptr, 0, MPI_LONG, target, 0, 0, MPI_LONG, win);
  MPI_Get(&memory, 0, MPI_LONG, target, 0, 1, none, win);
  MPI_Accumulate(nullptr, 0, MPI_LONG, target, 0, 0, MPI_LONG, MPI_SUM, win);
  MPI_Get_accumulate(nullptr, 0, MPI_LONG, &memory, 0, MPI_LONG, target, 0, 0, MPI_LONG, MPI_SUM, win);
  CHECK_EQUAL(memory, 7);
  MPI_Type_free(&none);
}

void request_nothing(MPI_Win win, int target, int count) {
  long memory = 7;
  MPI_Request requests[4];
  MPI_Rput(&memory, count, MPI_LONG, target, 0, count, MPI_LONG, win, &requests[0]);
  MPI_Rget(&memory, count, MPI_LONG, target, 0, count, MPI_LONG, win, &requests[1]);
  MPI_Raccumulate(&memory, count, MPI_LONG, target, 0, count, MPI_LONG, MPI_SUM, win, &requests[2]);
  MPI_Rget_accumulate(&memory, count, MPI_LONG, &memory, count, MPI_LONG, target, 0, count, MPI_LONG, MPI_NO_OP, win,
                      &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  for (const MPI_Request request : requests) CHECK(request == MPI_REQUEST_NULL);
  CHECK_EQUAL(memory, 7);
}

// All epochs, with nothing in them.
void use_nothing(MPI_Win win) {
  MPI_Win_fence(0, win);
  access_nothing(win, right());
  MPI_Win_fence(0, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(), 0, win);
  access_nothing(win, right());
  request_nothing(win, right(), 0);
  MPI_Win_flush(right(), win);
  MPI_Win_unlock(right(), win);
  MPI_Win_lock_all(0, win);
  access_nothing(win, rank);
  MPI_Win_flush_local_all(win);
  MPI_Win_sync(win);
  MPI_Win_unlock_all(win);
  MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
  MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
  MPI_Win_complete(win);
  int flag = 0;
  MPI_Win_test(win, &flag);
  CHECK_EQUAL(flag, 1);
}

}  // namespace

CASE(windows_without_memory) {
  MPI_Win win = MPI_WIN_NULL;
  void* base = nullptr;
  MPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  use_nothing(win);
  MPI_Win_free(&win);
  CHECK(win == MPI_WIN_NULL);
  MPI_Win_allocate(0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  use_nothing(win);
  MPI_Aint* size = nullptr;
  int flag = 0;
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
  CHECK(flag != 0 && *size == 0);
  MPI_Win_free(&win);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  use_nothing(win);
  MPI_Win_free(&win);
}

CASE(targets_that_are_no_process) {
  with_windows<long>(2, 5, [](TestWindow<long>& window) {
    long result = 3;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, window.win);
    MPI_Win_unlock(MPI_PROC_NULL, window.win);
    MPI_Win_lock_all(0, window.win);
    MPI_Put(&kValue, 1, MPI_LONG, MPI_PROC_NULL, 99, 1, MPI_LONG, window.win);
    MPI_Get(&result, 1, MPI_LONG, MPI_PROC_NULL, 99, 1, MPI_LONG, window.win);
    MPI_Accumulate(&kValue, 1, MPI_LONG, MPI_PROC_NULL, 99, 1, MPI_LONG, MPI_SUM, window.win);
    MPI_Get_accumulate(&kValue, 1, MPI_LONG, &result, 1, MPI_LONG, MPI_PROC_NULL, 99, 1, MPI_LONG, MPI_SUM, window.win);
    MPI_Fetch_and_op(&kValue, &result, MPI_LONG, MPI_PROC_NULL, 99, MPI_SUM, window.win);
    MPI_Compare_and_swap(&kValue, &kValue, &result, MPI_LONG, MPI_PROC_NULL, 99, window.win);
    request_nothing(window.win, MPI_PROC_NULL, 1);
    MPI_Win_flush(MPI_PROC_NULL, window.win);
    MPI_Win_flush_local(MPI_PROC_NULL, window.win);
    MPI_Win_unlock_all(window.win);
    CHECK_EQUAL(result, 3);
    CHECK_EQUAL(window.data[0], 5);
  });
}

CASE(this_process_as_target) {
  with_windows<long>(8, 0, [](TestWindow<long>& window) {
    long result = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window.win);
    MPI_Put(&kValue, 1, MPI_LONG, rank, 0, 1, MPI_LONG, window.win);
    MPI_Accumulate(&kValue, 1, MPI_LONG, rank, 0, 1, MPI_LONG, MPI_SUM, window.win);
    MPI_Fetch_and_op(&kValue, &result, MPI_LONG, rank, 0, MPI_SUM, window.win);
    MPI_Win_flush(rank, window.win);
    CHECK_EQUAL(result, 2);
    CHECK_EQUAL(window.data[0], 3);
    // From the window into the same window.
    MPI_Put(window.data, 2, MPI_LONG, rank, 4, 2, MPI_LONG, window.win);
    MPI_Get(window.data + 6, 1, MPI_LONG, rank, 0, 1, MPI_LONG, window.win);
    MPI_Win_unlock(rank, window.win);
    CHECK_EQUAL(window.data[4], 3);
    CHECK_EQUAL(window.data[6], 3);
    MPI_Group self = MPI_GROUP_NULL;
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &rank, &self);
    MPI_Win_post(self, 0, window.win);
    MPI_Win_start(self, 0, window.win);
    MPI_Put(&kValue, 1, MPI_LONG, rank, 7, 1, MPI_LONG, window.win);
    MPI_Win_complete(window.win);
    MPI_Win_wait(window.win);
    CHECK_EQUAL(window.data[7], 1);
    MPI_Group_free(&self);
    MPI_Group_free(&all);
  });
}

// Another process cannot know that the memory is exposed to nobody.
CASE(memory_exposed_to_no_process_may_be_locked) {
  with_windows<long>(2, 0, [](TestWindow<long>& window) {
    if (rank == 1) MPI_Win_post(MPI_GROUP_EMPTY, 0, window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && ranks > 1) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window.win);
      MPI_Put(&kValue, 1, MPI_LONG, 1, 1, 1, MPI_LONG, window.win);
      MPI_Win_unlock(1, window.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
      MPI_Win_wait(window.win);
      CHECK_EQUAL(window.data[1], 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    // The other order: locked, then exposed to nobody.
    if (rank == 0 && ranks > 1) MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
      MPI_Win_post(MPI_GROUP_EMPTY, 0, window.win);
      MPI_Win_wait(window.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && ranks > 1) MPI_Win_unlock(1, window.win);
  });
}

// A datatype that holds addresses, from MPI_BOTTOM, on both sides.
CASE(addresses_instead_of_displacements) {
  long here[4] = {10 + rank, 20 + rank, 30 + rank, 40 + rank};
  long there[4] = {0, 0, 0, 0};
  MPI_Aint mine[2];
  MPI_Get_address(&here[1], &mine[0]);
  MPI_Get_address(&here[3], &mine[1]);
  MPI_Aint own_place = 0;
  MPI_Get_address(there, &own_place);
  std::vector<MPI_Aint> places(static_cast<std::size_t>(ranks));
  MPI_Allgather(&own_place, 1, MPI_AINT, places.data(), 1, MPI_AINT, MPI_COMM_WORLD);
  const MPI_Aint base = places[static_cast<std::size_t>(right())];
  const MPI_Aint theirs[2] = {base + 16, base};
  const int lengths[2] = {1, 1};
  MPI_Datatype from = MPI_DATATYPE_NULL;
  MPI_Datatype to = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(2, lengths, mine, MPI_LONG, &from);
  MPI_Type_create_hindexed(2, lengths, theirs, MPI_LONG, &to);
  MPI_Type_commit(&from);
  MPI_Type_commit(&to);
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, there, sizeof there);
  MPI_Win_fence(0, win);
  MPI_Put(MPI_BOTTOM, 1, from, right(), 0, 1, to, win);
  MPI_Win_fence(0, win);
  CHECK_EQUAL(there[2], 20 + left());
  CHECK_EQUAL(there[0], 40 + left());
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Accumulate(MPI_BOTTOM, 1, from, right(), 0, 1, to, MPI_SUM, win);
  MPI_Win_fence(0, win);
  CHECK_EQUAL(there[2], 40 + 2 * left());
  MPI_Win_detach(win, there);
  MPI_Win_free(&win);
  MPI_Type_free(&from);
  MPI_Type_free(&to);
}

// A program that attaches each of its arrays, one of which is empty.
CASE(empty_memory_is_attached_and_detached) {
  long memory[2] = {0, 0};
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  CHECK_EQUAL(MPI_Win_attach(win, memory, 0), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Win_attach(win, memory + 1, 8), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Win_detach(win, memory), MPI_SUCCESS);
  CHECK(MPI_Win_detach(win, memory) != MPI_SUCCESS);
  CHECK_EQUAL(MPI_Win_detach(win, memory + 1), MPI_SUCCESS);
  MPI_Win_free(&win);
}

// Two windows over the same memory, one of all ranks, one of a part in another order, with epochs of different kinds.
CASE(windows_overlap) {
  std::vector<long> memory(8, 0);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &part);
  int place = 0;
  int size = 0;
  MPI_Comm_rank(part, &place);
  MPI_Comm_size(part, &size);
  MPI_Win whole = MPI_WIN_NULL;
  MPI_Win half = MPI_WIN_NULL;
  MPI_Win_create(memory.data(), 64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &whole);
  MPI_Win_create(memory.data() + 4, 32, 8, MPI_INFO_NULL, part, &half);
  const long sent = 100 + rank;
  MPI_Win_fence(0, whole);
  MPI_Win_lock_all(0, half);
  MPI_Put(&sent, 1, MPI_LONG, right(), 0, 1, MPI_LONG, whole);
  MPI_Accumulate(&sent, 1, MPI_LONG, (place + 1) % size, 0, 1, MPI_LONG, MPI_SUM, half);
  MPI_Accumulate(&kValue, 1, MPI_LONG, right(), 4, 1, MPI_LONG, MPI_SUM, whole);
  MPI_Win_unlock_all(half);
  MPI_Win_fence(0, whole);
  MPI_Barrier(MPI_COMM_WORLD);
  const int partner = size == 1 ? rank : rank % 2 == 0 ? rank + 1 : rank - 1;
  CHECK_EQUAL(memory[0], 100 + left());
  CHECK_EQUAL(memory[4], 100 + partner + 1);
  MPI_Win_free(&whole);
  MPI_Win_free(&half);
  MPI_Comm_free(&part);
}

// The lock of lock_all is held at this process, too, whose memory it reads without any call.
CASE(lock_all_keeps_writers_away_from_own_memory) {
  if (ranks == 1) return;
  with_windows<long>(1, 0, [](TestWindow<long>& window) {
    const volatile long& word = *window.data;
    if (rank == 0) {
      MPI_Win_lock_all(0, window.win);
      MPI_Barrier(MPI_COMM_WORLD);
      long seen = 0;
      const double begin = MPI_Wtime();
      while (MPI_Wtime() - begin < 0.02) seen |= word;
      CHECK_EQUAL(seen, 0);
      MPI_Win_unlock_all(window.win);
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win);
      MPI_Accumulate(&kValue, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, window.win);
      MPI_Win_unlock(0, window.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win);
      CHECK_EQUAL(window.data[0], ranks - 1);
      MPI_Win_unlock(0, window.win);
    }
  });
}

// All ranks access all others in orders of their own under lock_all, and under several shared locks, while exclusive
// requests wait in between.
CASE(shared_locks_of_many_targets_in_any_order) {
  static constexpr int kRounds = 60;
  with_windows<long>(2, 0, [](TestWindow<long>& window) {
    for (int i = 0; i < kRounds; ++i) {
      const bool all = i % 2 == 0;
      if (all) MPI_Win_lock_all(0, window.win);
      for (int j = 0; j < ranks; ++j) {
        if (!all) MPI_Win_lock(MPI_LOCK_SHARED, right(j), 0, window.win);
        MPI_Accumulate(&kValue, 1, MPI_LONG, right(j), 0, 1, MPI_LONG, MPI_SUM, window.win);
      }
      for (int j = 0; j < ranks && !all; ++j) MPI_Win_unlock(j, window.win);
      if (all) MPI_Win_unlock_all(window.win);
      long value = 0;
      const int target = right(i);
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window.win);
      MPI_Get(&value, 1, MPI_LONG, target, 1, 1, MPI_LONG, window.win);
      MPI_Win_flush(target, window.win);
      ++value;
      MPI_Put(&value, 1, MPI_LONG, target, 1, 1, MPI_LONG, window.win);
      MPI_Win_unlock(target, window.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window.win);
    CHECK_EQUAL(window.data[0], long{kRounds} * ranks);
    CHECK_EQUAL(window.data[1], kRounds);
    MPI_Win_unlock(rank, window.win);
  });
}

// A displacement that is far out of the window, and whose bytes are not even a number of 64 bits.
CASE(displacements_that_wrap) {
  TestWindow<long> window(4, TestWindow<long>::Memory::allocated, 0);
  MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, window.win);
  const MPI_Aint far = MPI_Aint{1} << 61;
  long result = 0;
  CHECK(MPI_Put(&kValue, 1, MPI_LONG, right(), far, 1, MPI_LONG, window.win) != MPI_SUCCESS);
  CHECK(MPI_Get(&result, 1, MPI_LONG, right(), far + 1, 1, MPI_LONG, window.win) != MPI_SUCCESS);
  CHECK(MPI_Accumulate(&kValue, 1, MPI_LONG, right(), far, 1, MPI_LONG, MPI_SUM, window.win) != MPI_SUCCESS);
  CHECK(MPI_Fetch_and_op(&kValue, &result, MPI_LONG, right(), far, MPI_SUM, window.win) != MPI_SUCCESS);
  MPI_Win_unlock_all(window.win);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(window.data[0], 0);
}

// MPI_IN_PLACE means nothing to these routines.
CASE(in_place_is_no_buffer) {
  TestWindow<long> window(4, TestWindow<long>::Memory::allocated, 0);
  MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, window.win);
  long result = 0;
  CHECK(MPI_Put(MPI_IN_PLACE, 1, MPI_LONG, right(), 0, 1, MPI_LONG, window.win) != MPI_SUCCESS);
  CHECK(MPI_Get(MPI_IN_PLACE, 1, MPI_LONG, right(), 0, 1, MPI_LONG, window.win) != MPI_SUCCESS);
  CHECK(MPI_Accumulate(MPI_IN_PLACE, 1, MPI_LONG, right(), 0, 1, MPI_LONG, MPI_SUM, window.win) != MPI_SUCCESS);
  CHECK(MPI_Get_accumulate(MPI_IN_PLACE, 1, MPI_LONG, &result, 1, MPI_LONG, right(), 0, 1, MPI_LONG, MPI_SUM,
                           window.win) != MPI_SUCCESS);
  CHECK(MPI_Fetch_and_op(MPI_IN_PLACE, &result, MPI_LONG, right(), 0, MPI_SUM, window.win) != MPI_SUCCESS);
  CHECK(MPI_Fetch_and_op(&kValue, nullptr, MPI_LONG, right(), 0, MPI_SUM, window.win) != MPI_SUCCESS);
  CHECK(MPI_Compare_and_swap(&kValue, MPI_IN_PLACE, &result, MPI_LONG, right(), 0, window.win) != MPI_SUCCESS);
  CHECK(MPI_Put(nullptr, 1, MPI_LONG, right(), 0, 1, MPI_LONG, window.win) != MPI_SUCCESS);
  MPI_Win_unlock_all(window.win);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(window.data[0], 0);
}

CASE(windows_over_memory_that_mpi_allocates) {
  for (int round = 0; round < 20; ++round) {
    const int count = 100 + 1000 * round;
    long* data = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Alloc_mem(static_cast<MPI_Aint>(count * sizeof(long)), MPI_INFO_NULL, &data);
    for (int i = 0; i < count; ++i) data[i] = -1;
    MPI_Win_create(data + 10, static_cast<MPI_Aint>((count - 10) * sizeof(long)), sizeof(long), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
    const long value = 100 * round + rank;
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_LONG, right(), count - 11, 1, MPI_LONG, win);
    MPI_Accumulate(&value, 1, MPI_LONG, right(), 0, 1, MPI_LONG, MPI_REPLACE, win);
    MPI_Win_fence(0, win);
    CHECK_EQUAL(data[count - 1], 100 * round + left());
    CHECK_EQUAL(data[10], 100 * round + left());
    CHECK_EQUAL(data[9], -1);
    MPI_Win_free(&win);
    MPI_Free_mem(data);
  }
}

CASE(memory_is_aligned_as_asked_for) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_minimum_memory_alignment", "256");
  for (int i = 0; i < 4; ++i) {
    void* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_allocate(100, 1, info, MPI_COMM_WORLD, &base, &win);
    CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(base) % 256, 0U);
    void* other_base = nullptr;
    MPI_Win other = MPI_WIN_NULL;
    MPI_Win_allocate_shared(rank == 0 ? 100 : 0, 1, info, MPI_COMM_SELF, &other_base, &other);
    CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(other_base) % 256, 0U);
    MPI_Win_free(&other);
    MPI_Win_free(&win);
  }
  MPI_Info_free(&info);
}

// Many windows are open at once and are freed in another order.
CASE(many_windows_are_open_at_once) {
  constexpr int kMany = 30;
  std::vector<MPI_Win> windows(kMany);
  std::vector<int*> data(kMany);
  for (std::size_t i = 0; i < kMany; ++i) {
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &data[i], &windows[i]);
    MPI_Win_fence(0, windows[i]);
  }
  for (std::size_t i = 0; i < kMany; ++i) MPI_Put(&rank, 1, MPI_INT, right(), 3, 1, MPI_INT, windows[i]);
  int wrong = 0;
  for (std::size_t i = 0; i < kMany; ++i) {
    const std::size_t at = i * 7 % kMany;
    MPI_Win_fence(0, windows[at]);
    wrong += data[at][3] == left() ? 0 : 1;
    MPI_Win_free(&windows[at]);
  }
  CHECK_EQUAL(wrong, 0);
}

namespace {

long late_value = 0;

// Runs in MPI_Finalize, before anything of MPI has ended.
int use_window_late(MPI_Comm, int, void* attribute, void*) {
  MPI_Win& win = *static_cast<MPI_Win*>(attribute);
  MPI_Win_fence(0, win);
  MPI_Put(&kValue, 1, MPI_LONG, right(), 0, 1, MPI_LONG, win);
  MPI_Win_fence(0, win);
  if (late_value != 1) std::fprintf(stderr, "[rank %d] a put in MPI_Finalize is lost\n", rank);
  MPI_Win_free(&win);
  if (late_value != 1) MPI_Abort(MPI_COMM_WORLD, 3);
  return MPI_SUCCESS;
}

}  // namespace

// An attribute of MPI_COMM_SELF that frees a window; and a window that nobody frees.
CASE(windows_end_in_finalize) {
  static MPI_Win late = MPI_WIN_NULL;
  static MPI_Win forgotten = MPI_WIN_NULL;
  MPI_Win_create(&late_value, sizeof late_value, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &late);
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, use_window_late, &keyval, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &late);
  void* base = nullptr;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &forgotten);
  CHECK(forgotten != MPI_WIN_NULL);
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
