// Two libraries that use teams and contexts of OpenSHMEM in threads of their own, while the program updates a window of
// MPI.
#include <mpi.h>

#include <cstdio>
#include <thread>

extern "C" {
bool first_start();
int first_run(int rounds);
void first_stop();
bool second_start();
int second_run(int rounds);
void second_stop();
}

namespace {

constexpr int kRounds = 100;

int update_window(MPI_Win window) {
  const long one = 1;
  long before = 0;
  for (int i = 0; i < kRounds; ++i) {
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
  }
  return before >= kRounds - 1 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, me = 0, count = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);  // the level is that of OpenSHMEM, too
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  long* counter = nullptr;
  MPI_Win window;
  MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&counter), &window);
  *counter = 0;
  if (!first_start() || !second_start()) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Barrier(MPI_COMM_WORLD);

  int failures[3] = {};
  MPI_Win_lock_all(0, window);
  std::thread first([&] { failures[0] = first_run(kRounds); });
  std::thread second([&] { failures[1] = second_run(kRounds); });
  failures[2] = update_window(window);
  first.join();
  second.join();
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0 && *counter != static_cast<long>(kRounds) * count) ++failures[2];

  second_stop();
  first_stop();
  MPI_Win_free(&window);
  MPI_Finalize();
  const int all = failures[0] + failures[1] + failures[2];
  std::printf("%d of %d: %d, %d and %d failures\n", me, count, failures[0], failures[1], failures[2]);
  return all == 0 ? 0 : 1;
}
