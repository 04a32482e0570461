// Epochs: what is written in one is there after it.
#include "mpi_test.hpp"

using mpi_test::left;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::right;
using mpi_test::TestWindow;
using mpi_test::with_windows;

CASE(fence_completes_puts_and_gets) {
  with_windows<long>(64, -1, [](TestWindow<long>& window) {
    for (long round = 0; round < 50; ++round) {
      const long sent = round * 1000 + rank;
      MPI_Win_fence(0, window.win);
      MPI_Put(&sent, 1, MPI_LONG, right(), round % 64, 1, MPI_LONG, window.win);
      MPI_Win_fence(0, window.win);
      CHECK_EQUAL(window.data[round % 64], round * 1000 + left());
      long read = -1;
      MPI_Get(&read, 1, MPI_LONG, right(2), round % 64, 1, MPI_LONG, window.win);
      MPI_Win_fence(0, window.win);
      CHECK_EQUAL(read, round * 1000 + right());
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
  });
}

CASE(fence_takes_all_its_assertions) {
  with_windows<int>(4, 0, [](TestWindow<int>& window) {
    MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE, window.win);
    MPI_Put(&rank, 1, MPI_INT, right(), 1, 1, MPI_INT, window.win);
    MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, window.win);
    CHECK_EQUAL(window.data[1], left());
  });
}

CASE(post_start_complete_wait) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int next = right();
  const int previous = left();
  MPI_Group targets = MPI_GROUP_NULL;
  MPI_Group origins = MPI_GROUP_NULL;
  MPI_Group_incl(world, 1, &next, &targets);
  MPI_Group_incl(world, 1, &previous, &origins);
  with_windows<long>(8, -1, [&](TestWindow<long>& window) {
    for (long round = 0; round < 60; ++round) {
      MPI_Win_post(origins, round % 3 == 0 ? MPI_MODE_NOSTORE : 0, window.win);
      MPI_Win_start(targets, 0, window.win);
      const long sent = round + 100 * rank;
      MPI_Put(&sent, 1, MPI_LONG, right(), 3, 1, MPI_LONG, window.win);
      MPI_Win_complete(window.win);
      int done = 0;
      if (round % 2 == 0) {
        MPI_Win_wait(window.win);
      } else {
        while (done == 0) MPI_Win_test(window.win, &done);
      }
      CHECK_EQUAL(window.data[3], round + 100 * left());
    }
  });
  MPI_Group_free(&targets);
  MPI_Group_free(&origins);
  MPI_Group_free(&world);
}

// More than what travels together, alone and mixed with other operations: all of it is there when the epoch ends.
CASE(many_small_puts_in_one_epoch) {
  constexpr int kPuts = 350;
  TestWindow<long> window(kPuts + 1, TestWindow<long>::Memory::allocated, 0);
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group origin = MPI_GROUP_NULL;
  MPI_Group target = MPI_GROUP_NULL;
  const int before = left();
  const int behind = right();
  MPI_Win_get_group(window.win, &world);
  MPI_Group_incl(world, 1, &before, &origin);
  MPI_Group_incl(world, 1, &behind, &target);
  for (long round = 1; round <= 30; ++round) {
    const int puts = round % 4 == 0 ? 1 : kPuts;
    MPI_Win_post(origin, 0, window.win);
    MPI_Win_start(target, 0, window.win);
    for (int i = 0; i < puts; ++i) {
      const long value = 1000 * round + i;
      MPI_Put(&value, 1, MPI_LONG, behind, i, 1, MPI_LONG, window.win);
    }
    if (round % 3 == 0) MPI_Accumulate(&round, 1, MPI_LONG, behind, kPuts, 1, MPI_LONG, MPI_SUM, window.win);
    MPI_Win_complete(window.win);
    MPI_Win_wait(window.win);
    int wrong = 0;
    for (int i = 0; i < puts; ++i) wrong += window.data[i] != 1000 * round + i ? 1 : 0;
    CHECK_EQUAL(wrong, 0);
    const long threes = round / 3;
    CHECK_EQUAL(window.data[kPuts], 3 * threes * (threes + 1) / 2);
  }
  MPI_Group_free(&target);
  MPI_Group_free(&origin);
  MPI_Group_free(&world);
}

// Puts of any short length, to two targets in one epoch; the memory between them stays as it is.
CASE(small_puts_of_any_length_leave_their_neighbours) {
  constexpr int kSlot = 80;
  constexpr int kMost = 70;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  with_windows<char>(2 * kSlot * kMost, 'x', [&](TestWindow<char>& window) {
    MPI_Win_post(world, 0, window.win);
    MPI_Win_start(world, 0, window.win);
    for (int bytes = 1; bytes < kMost; ++bytes) {
      const std::vector<char> data(static_cast<std::size_t>(bytes), static_cast<char>(bytes));
      for (int side = 0; side < 2; ++side)
        MPI_Put(data.data(), bytes, MPI_CHAR, side == 0 ? right() : left(), (2 * bytes + side) * kSlot, bytes, MPI_CHAR,
                window.win);
    }
    MPI_Win_complete(window.win);
    MPI_Win_wait(window.win);
    int wrong = 0;
    for (int slot = 0; slot < 2 * kMost; ++slot) {
      const int bytes = slot / 2;
      for (int i = 0; i < kSlot; ++i) wrong += window.data[slot * kSlot + i] != (i < bytes ? bytes : 'x') ? 1 : 0;
    }
    CHECK_EQUAL(wrong, 0);
  });
  MPI_Group_free(&world);
}

// Rank 0 exposes its memory to all others, who do not know each other.
CASE(many_origins_write_to_one_target) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group others = MPI_GROUP_NULL;
  MPI_Group first = MPI_GROUP_NULL;
  const int zero = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_excl(world, 1, &zero, &others);
  MPI_Group_incl(world, 1, &zero, &first);
  with_windows<int>(256, 0, [&](TestWindow<int>& window) {
    for (int round = 1; round <= 20; ++round) {
      if (rank == 0) {
        MPI_Win_post(others, 0, window.win);
        MPI_Win_wait(window.win);
        for (int i = 1; i < ranks; ++i) CHECK_EQUAL(window.data[i], round * i);
      } else {
        const int sent = round * rank;
        MPI_Win_start(first, 0, window.win);
        MPI_Put(&sent, 1, MPI_INT, 0, rank, 1, MPI_INT, window.win);
        MPI_Win_complete(window.win);
      }
    }
  });
  MPI_Group_free(&first);
  MPI_Group_free(&others);
  MPI_Group_free(&world);
}

CASE(unchecked_posts_need_no_start) {
  MPI_Group self = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &self);
  with_windows<int>(16, 0, [&](TestWindow<int>& window) {
    MPI_Win_post(self, MPI_MODE_NOCHECK, window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_start(self, MPI_MODE_NOCHECK, window.win);
    for (int i = 0; i < ranks; ++i) MPI_Put(&rank, 1, MPI_INT, i, rank, 1, MPI_INT, window.win);
    MPI_Win_complete(window.win);
    MPI_Win_wait(window.win);
    for (int i = 0; i < ranks && i < 16; ++i) CHECK_EQUAL(window.data[i], i);
  });
  MPI_Group_free(&self);
}

// A counter that is read, increased and written under an exclusive lock.
CASE(exclusive_locks_exclude) {
  with_windows<long>(2, 0, [](TestWindow<long>& window) {
    constexpr int kRounds = 200;
    for (int i = 0; i < kRounds; ++i) {
      long value = -1;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win);
      MPI_Get(&value, 1, MPI_LONG, 0, 1, 1, MPI_LONG, window.win);
      MPI_Win_flush(0, window.win);
      ++value;
      MPI_Put(&value, 1, MPI_LONG, 0, 1, 1, MPI_LONG, window.win);
      MPI_Win_unlock(0, window.win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win);
    long value = -1;
    MPI_Get(&value, 1, MPI_LONG, 0, 1, 1, MPI_LONG, window.win);
    MPI_Win_flush_local(0, window.win);
    CHECK_EQUAL(value, long{kRounds} * ranks);
    MPI_Win_unlock(0, window.win);
  });
}

// All hold a shared lock at the same time, which would hang if locks excluded each other.
CASE(shared_locks_share) {
  with_windows<int>(1, 0, [](TestWindow<int>& window) {
    for (int i = 0; i < ranks; ++i) MPI_Win_lock(MPI_LOCK_SHARED, i, i % 2 == 0 ? 0 : MPI_MODE_NOCHECK, window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i) MPI_Win_unlock(i, window.win);
    MPI_Win_lock_all(0, window.win);
    const int one = 1;
    for (int i = 0; i < ranks; ++i) MPI_Accumulate(&one, 1, MPI_INT, i, 0, 1, MPI_INT, MPI_SUM, window.win);
    MPI_Win_flush_all(window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(window.data[0], ranks);
    MPI_Win_unlock_all(window.win);
  });
}

// lock_all excludes an exclusive lock, once a target has been accessed.
CASE(lock_all_excludes_exclusive_locks) {
  with_windows<long>(2, 0, [](TestWindow<long>& window) {
    for (int i = 0; i < 40; ++i) {
      long value = -1;
      if ((rank + i) % 2 == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win);
        value = 1;
        MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window.win);
        MPI_Win_flush(0, window.win);
        value = 0;
        MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window.win);
        MPI_Win_unlock(0, window.win);
      } else {
        MPI_Win_lock_all(0, window.win);
        MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window.win);
        MPI_Win_flush_all(window.win);
        CHECK_EQUAL(value, 0);
        MPI_Win_unlock_all(window.win);
      }
    }
  });
}

CASE(flush_makes_puts_visible_in_the_epoch) {
  with_windows<int>(8, 0, [](TestWindow<int>& window) {
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window.win);
    for (int round = 1; round <= 30; ++round) {
      MPI_Put(&round, 1, MPI_INT, right(), 2, 1, MPI_INT, window.win);
      MPI_Win_flush(right(), window.win);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_sync(window.win);
      CHECK_EQUAL(window.data[2], round);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_flush_local_all(window.win);
    MPI_Win_unlock_all(window.win);
  });
}

// A process that waits in a call on a window still takes part in messages: here a long one that needs both sides.
CASE(messages_progress_while_a_window_waits) {
  std::vector<char> out(1 << 20, static_cast<char>(rank));
  std::vector<char> in(1 << 20, -1);
  with_windows<int>(1, 0, [&](TestWindow<int>& window) {
    MPI_Request request = MPI_REQUEST_NULL;
    const bool sends = rank % 2 == 0 && rank + 1 < ranks;
    if (sends) MPI_Isend(out.data(), 1 << 20, MPI_CHAR, rank + 1, 7, MPI_COMM_WORLD, &request);
    if (rank % 2 != 0) {
      MPI_Recv(in.data(), 1 << 20, MPI_CHAR, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK_EQUAL(in[(1 << 20) - 1], static_cast<char>(rank - 1));
    }
    MPI_Win_fence(0, window.win);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
