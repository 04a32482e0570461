// A target that computes for a second or longer: operations on it complete meanwhile, on windows of both kinds of
// memory.
#include <chrono>

#include "mpi_test.hpp"

using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::TestWindow;
using mpi_test::with_windows;

namespace {

// Computes without a call of MPI, for a second, and on a busy machine until the word has changed. Returns how often it
// changed meanwhile.
int compute(const volatile long* word) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::seconds(1);
  const auto last_end = begin + std::chrono::seconds(60);
  int changes = 0;
  long seen = *word;
  for (auto now = begin; now < (changes != 0 ? end : last_end); now = Clock::now()) {
    if (*word == seen) continue;
    seen = *word;
    ++changes;
  }
  return changes;
}

}  // namespace

// Rank 1 goes on until rank 0 has computed: without progress at rank 0 its first operation would wait for that, and
// rank 0 would see no change.
CASE(a_computing_target_serves_others) {
  if (ranks < 2) return;
  with_windows<long>(8, 0, [](TestWindow<long>& window) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      CHECK(compute(&window.data[3]) > 0);
      const long ended = 1;
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win);
      MPI_Accumulate(&ended, 1, MPI_LONG, 0, 5, 1, MPI_LONG, MPI_REPLACE, window.win);
      MPI_Win_unlock(0, window.win);
    }
    long ended = rank == 1 ? 0 : 1;
    for (long i = 1; ended == 0; ++i) {
      const long one = 1;
      long read = -1;
      long old = -1;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win);
      MPI_Put(&i, 1, MPI_LONG, 0, 3, 1, MPI_LONG, window.win);
      MPI_Win_flush(0, window.win);
      MPI_Get(&read, 1, MPI_LONG, 0, 3, 1, MPI_LONG, window.win);
      MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 4, MPI_SUM, window.win);
      MPI_Fetch_and_op(nullptr, &ended, MPI_LONG, 0, 5, MPI_NO_OP, window.win);
      MPI_Win_unlock(0, window.win);
      CHECK_EQUAL(read, i);
      CHECK_EQUAL(old, i - 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK_EQUAL(window.data[3], window.data[4]);
  });
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
