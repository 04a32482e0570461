// MPI_THREAD_MULTIPLE: threads of all ranks use one window at the same time.
#include <thread>

#include "mpi_test.hpp"

using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::TestWindow;
using mpi_test::with_windows;

namespace {

constexpr int kThreads = 3;
constexpr int kRounds = 100;

void work(int thread, MPI_Win win) {
  const long one = 1;
  for (int i = 0; i < kRounds; ++i) {
    const int target = (rank + i) % ranks;
    long old = -1;
    MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Fetch_and_op(&one, &old, MPI_LONG, target, 1, MPI_SUM, win);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Rput(&one, 1, MPI_LONG, target, 2 + kThreads * rank + thread, 1, MPI_LONG, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(target, win);
    CHECK(old >= 0);
  }
}

}  // namespace

CASE(threads_share_a_window) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE) return;
  with_windows<long>(static_cast<std::size_t>(2 + kThreads * ranks), 0, [](TestWindow<long>& window) {
    MPI_Win_lock_all(0, window.win);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i, window.win);
    for (std::thread& thread : threads) thread.join();
    MPI_Win_unlock_all(window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    long sums[2] = {window.data[0], window.data[1]};
    long all[2] = {};
    MPI_Allreduce(sums, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(all[0], long{kThreads} * kRounds * ranks);
    CHECK_EQUAL(all[1], long{kThreads} * kRounds * ranks);
  });
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv, MPI_THREAD_MULTIPLE); }
