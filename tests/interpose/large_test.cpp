// The forms whose counts are of MPI_Count, all of them; they are new in MPI 4.
#include "mpi_test.hpp"

using mpi_test::left;
using mpi_test::rank;
using mpi_test::right;
using mpi_test::TestWindow;
using mpi_test::with_windows;

#if MPI_VERSION >= 4

CASE(operations_with_large_counts) {
  with_windows<long>(32, 0, [](TestWindow<long>& window) {
    const long values[3] = {rank, rank + 1, rank + 2};
    long got[3] = {};
    long old[3] = {};
    MPI_Win_lock_all(0, window.win);
    MPI_Put_c(values, 3, MPI_LONG, right(), 2, 3, MPI_LONG, window.win);
    MPI_Win_flush(right(), window.win);
    MPI_Accumulate_c(values, 3, MPI_LONG, right(), 2, 3, MPI_LONG, MPI_SUM, window.win);
    MPI_Get_accumulate_c(values, 3, MPI_LONG, old, 3, MPI_LONG, right(), 2, 3, MPI_LONG, MPI_SUM, window.win);
    MPI_Win_flush(right(), window.win);
    MPI_Get_c(got, 3, MPI_LONG, right(), 2, 3, MPI_LONG, window.win);
    MPI_Win_flush(right(), window.win);
    for (int i = 0; i < 3; ++i) CHECK_EQUAL(old[i], 2 * values[i]);
    for (int i = 0; i < 3; ++i) CHECK_EQUAL(got[i], 3 * values[i]);
    MPI_Win_unlock_all(window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) CHECK_EQUAL(window.data[2 + i], 3L * (left() + i));
    CHECK(window.data[1] == 0 && window.data[5] == 0);
  });
}

CASE(requests_with_large_counts) {
  with_windows<long>(32, 0, [](TestWindow<long>& window) {
    const long values[3] = {rank, rank + 1, rank + 2};
    long got[3] = {};
    long old[3] = {};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Win_lock_all(0, window.win);
    MPI_Rput_c(values, 3, MPI_LONG, right(), 2, 3, MPI_LONG, window.win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(right(), window.win);
    MPI_Raccumulate_c(values, 3, MPI_LONG, right(), 2, 3, MPI_LONG, MPI_SUM, window.win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Rget_accumulate_c(values, 3, MPI_LONG, old, 3, MPI_LONG, right(), 2, 3, MPI_LONG, MPI_SUM, window.win,
                          &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(right(), window.win);
    MPI_Rget_c(got, 3, MPI_LONG, right(), 2, 3, MPI_LONG, window.win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; ++i) CHECK_EQUAL(old[i], 2 * values[i]);
    for (int i = 0; i < 3; ++i) CHECK_EQUAL(got[i], 3 * values[i]);
    MPI_Win_unlock_all(window.win);
  });
}

namespace {

// Puts to the last word, which is found by the window's unit.
void check_window(MPI_Win win, const long* data, MPI_Aint words) {
  const long sent = rank + 5;
  MPI_Win_fence(0, win);
  MPI_Put_c(&sent, 1, MPI_LONG, right(), words - 1, 1, MPI_LONG, win);
  MPI_Win_fence(0, win);
  CHECK_EQUAL(data[words - 1], left() + 5L);
  MPI_Win_free(&win);
}

}  // namespace

CASE(windows_with_large_units) {
  long memory[6] = {};
  long* data = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create_c(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  check_window(win, memory, 6);
  MPI_Win_allocate_c(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &data, &win);
  check_window(win, data, 8);
}

CASE(shared_windows_with_large_units) {
  constexpr MPI_Aint kUnit = (MPI_Aint{1} << 33) + 1;
  long* data = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate_shared_c(16, kUnit, MPI_INFO_NULL, MPI_COMM_SELF, &data, &win);
  MPI_Aint bytes = 0;
  MPI_Aint unit = 0;
  int small_unit = 0;
  long* found = nullptr;
  MPI_Win_shared_query_c(win, 0, &bytes, &unit, &found);
  CHECK(bytes == 16 && unit == kUnit && found == data);
  MPI_Win_shared_query(win, 0, &bytes, &small_unit, &found);
  CHECK(bytes == 16 && small_unit == MPI_UNDEFINED && found == data);
  MPI_Win_free(&win);
}

#else

CASE(this_mpi_has_none) {}

#endif

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
