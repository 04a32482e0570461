// How a program ends. The first argument names one; the last rank, or each of them, takes it while the
// others wait in a window.
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>

namespace {

int rank = 0;
int ranks = 1;
MPI_Win win = MPI_WIN_NULL;
const long kValue = 1;

bool is_last() { return rank == ranks - 1; }

void wait_in_fence() { MPI_Win_fence(0, win); }

void abort_while_others_wait() {
  if (is_last()) MPI_Abort(MPI_COMM_WORLD, 42);
  wait_in_fence();
}

void abort_with_a_lock() {
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  if (is_last()) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (is_last()) MPI_Abort(MPI_COMM_WORLD, 42);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
}

void die_with_a_lock() {
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  if (is_last()) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  if (is_last()) MPI_Put(&kValue, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (is_last()) ::raise(SIGKILL);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
}

void die_while_others_wait() {
  if (is_last()) ::raise(SIGKILL);
  wait_in_fence();
}

void exit_while_others_wait() {
  if (is_last()) ::_exit(3);
  wait_in_fence();
}

// Exit with success, as after an error that a program reports by itself.
void exit_successfully() {
  if (is_last()) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, ranks - 1, 0, win);
  if (is_last()) std::exit(0);
  MPI_Win_free(&win);
}

void exit_before_a_message() {
  if (is_last()) std::exit(0);
  int message = 0;
  MPI_Recv(&message, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void finalize_at_exit() {
  std::atexit([] { MPI_Finalize(); });
  MPI_Win_free(&win);
  std::exit(0);
}

void make_a_fatal_error() {
  MPI_Put(&kValue, 1, MPI_LONG, 0, 4096, 1, MPI_LONG, win);
  wait_in_fence();
}

// The last rank detaches memory while an operation of rank 0 on it is open.
void detach_too_early() {
  static long memory[8];
  MPI_Win dynamic = MPI_WIN_NULL;
  MPI_Aint address = 0;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  MPI_Win_attach(dynamic, memory, sizeof memory);
  MPI_Get_address(memory, &address);
  MPI_Bcast(&address, 1, MPI_AINT, ranks - 1, MPI_COMM_WORLD);
  if (is_last()) MPI_Win_detach(dynamic, memory);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, ranks - 1, 0, dynamic);
  if (rank == 0) MPI_Put(&kValue, 1, MPI_LONG, ranks - 1, address + 8, 1, MPI_LONG, dynamic);
  MPI_Win_unlock(ranks - 1, dynamic);
  MPI_Barrier(MPI_COMM_WORLD);
}

// No second MPI has been loaded.
void have_one_mpi() {
  std::set<std::string> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t at = line.find('/');
    const std::string file = at == std::string::npos ? "" : line.substr(at);
    if (file.find("/libmpi.so") != std::string::npos || file.find("/libmpich.so") != std::string::npos)
      found.insert(file);
  }
  if (found.size() != 1) MPI_Abort(MPI_COMM_WORLD, 6);
  MPI_Win_free(&win);
}

void free_nothing() { wait_in_fence(); }

void end_in_order() { MPI_Win_free(&win); }

}  // namespace

int main(int argc, char** argv) {
  static const std::map<std::string, void (*)()> kEndings = {
      {"abort", abort_while_others_wait}, {"abort_lock", abort_with_a_lock},    {"die", die_while_others_wait},
      {"die_lock", die_with_a_lock},      {"exit", exit_while_others_wait},     {"error", make_a_fatal_error},
      {"no_free", free_nothing},          {"in_order", end_in_order},           {"one_mpi", have_one_mpi},
      {"exit_0", exit_successfully},      {"exit_recv", exit_before_a_message}, {"at_exit", finalize_at_exit},
      {"detach", detach_too_early}};
  ::alarm(60);
  if (argc < 2) return 4;
  const std::string ending = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ending != "no_window") {
    const auto found = kEndings.find(ending);
    if (found == kEndings.end()) MPI_Abort(MPI_COMM_WORLD, 4);
    void* base = nullptr;
    MPI_Win_allocate(1024, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_fence(0, win);
    found->second();
  }
  MPI_Finalize();
  return 0;
}
