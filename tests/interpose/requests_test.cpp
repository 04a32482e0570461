// Operations with requests, waited for by each of MPI's routines; dynamic windows; atomicity.
#include <sys/mman.h>

#include <climits>

#include "mpi_test.hpp"

using mpi_test::left;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::right;
using mpi_test::TestWindow;
using mpi_test::with_windows;

namespace {

constexpr int kRequests = 6;

// Completes all requests by one of the routines that MPI has.
void complete(int style, MPI_Request* requests) {
  MPI_Status statuses[kRequests];
  int indices[kRequests];
  int done = 0;
  int count = 0;
  switch (style) {
    case 0:
      for (int i = 0; i < kRequests; ++i) MPI_Wait(&requests[i], &statuses[i]);
      break;
    case 1:
      MPI_Waitall(kRequests, requests, statuses);
      break;
    case 2:
      for (int i = 0; i < kRequests; ++i) MPI_Waitany(kRequests, requests, &count, MPI_STATUS_IGNORE);
      break;
    case 3:
      for (int all = 0; all < kRequests; all += count) MPI_Waitsome(kRequests, requests, &count, indices, statuses);
      break;
    case 4:
      for (int i = 0; i < kRequests; ++i)
        for (done = 0; done == 0;) MPI_Test(&requests[i], &done, &statuses[i]);
      break;
    case 5:
      while (done == 0) MPI_Testall(kRequests, requests, &done, MPI_STATUSES_IGNORE);
      break;
    case 6:
      for (int all = 0; all < kRequests; all += done) MPI_Testany(kRequests, requests, &count, &done, &statuses[0]);
      break;
    case 7:
      for (int all = 0; all < kRequests; all += count) MPI_Testsome(kRequests, requests, &count, indices, statuses);
      break;
    default:
      for (int i = 0; i < kRequests; ++i) {
        for (done = 0; done == 0;) MPI_Request_get_status(requests[i], &done, &statuses[i]);
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      }
  }
}

}  // namespace

// Requests of windows and of messages in one array.
CASE(all_routines_that_wait_know_the_requests) {
  with_windows<long>(16, 0, [](TestWindow<long>& window) {
    for (int style = 0; style < 9; ++style) {
      window.data[4] = window.data[5] = style;
      window.data[6] = 70 + rank;
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_lock_all(0, window.win);
      MPI_Request requests[kRequests];
      const long sent = style * 100 + rank;
      long got = -1;
      long before = -1;
      int in = -1;
      MPI_Rput(&sent, 1, MPI_LONG, right(), 1, 1, MPI_LONG, window.win, &requests[0]);
      MPI_Irecv(&in, 1, MPI_INT, left(), style, MPI_COMM_WORLD, &requests[1]);
      MPI_Rget(&got, 1, MPI_LONG, right(), 6, 1, MPI_LONG, window.win, &requests[2]);
      MPI_Raccumulate(&sent, 1, MPI_LONG, right(), 4, 1, MPI_LONG, MPI_SUM, window.win, &requests[3]);
      MPI_Isend(&rank, 1, MPI_INT, right(), style, MPI_COMM_WORLD, &requests[4]);
      MPI_Rget_accumulate(&sent, 1, MPI_LONG, &before, 1, MPI_LONG, right(), 5, 1, MPI_LONG, MPI_SUM, window.win,
                          &requests[5]);
      complete(style, requests);
      CHECK_EQUAL(in, left());
      CHECK_EQUAL(got, 70 + right());
      CHECK_EQUAL(before, style);
      for (const MPI_Request request : requests) CHECK(request == MPI_REQUEST_NULL);
      MPI_Win_unlock_all(window.win);
      MPI_Barrier(MPI_COMM_WORLD);
      CHECK_EQUAL(window.data[1], style * 100 + left());
      CHECK_EQUAL(window.data[4], style + style * 100 + left());
      CHECK_EQUAL(window.data[5], style + style * 100 + left());
    }
  });
}

CASE(many_requests_are_open_at_once) {
  constexpr int kMany = 5000;
  with_windows<int>(kMany, -1, [](TestWindow<int>& window) {
    std::vector<MPI_Request> requests(kMany);
    std::vector<int> values(kMany);
    MPI_Win_lock_all(0, window.win);
    for (int i = 0; i < kMany; ++i) {
      values[static_cast<std::size_t>(i)] = i * 3 + rank;
      MPI_Rput(&values[static_cast<std::size_t>(i)], 1, MPI_INT, right(), i, 1, MPI_INT, window.win,
               &requests[static_cast<std::size_t>(i)]);
    }
    MPI_Waitall(kMany, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Win_unlock_all(window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < kMany; ++i) wrong += window.data[i] == i * 3 + left() ? 0 : 1;
    CHECK_EQUAL(wrong, 0);
  });
}

// A generalized request far in front of those of messages.
CASE(long_arrays_hold_requests_of_all_kinds) {
  constexpr int kMany = 100;
  const TestWindow<long> window(1, TestWindow<long>::Memory::own, 0);  // whose waits are the interposer's
  for (const bool waits : {false, true}) {
    std::vector<MPI_Request> requests(kMany);
    const auto query = [](void*, MPI_Status* status) {
      MPI_Status_set_cancelled(status, 0);
      return MPI_Status_set_elements(status, MPI_BYTE, 0);
    };
    MPI_Grequest_start(
        query, [](void*) { return MPI_SUCCESS; }, [](void*, int) { return MPI_SUCCESS; }, nullptr, &requests[0]);
    MPI_Grequest_complete(requests[0]);
    for (int i = 1; i < kMany; ++i)
      MPI_Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[static_cast<std::size_t>(i)]);
    int done = 0;
    if (waits) MPI_Waitall(kMany, requests.data(), MPI_STATUSES_IGNORE);
    while (!waits && done == 0) MPI_Testall(kMany, requests.data(), &done, MPI_STATUSES_IGNORE);
    for (const MPI_Request request : requests) CHECK(request == MPI_REQUEST_NULL);
  }
}

CASE(dynamic_windows) {
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  std::vector<std::vector<long>> pieces(20, std::vector<long>(8, -1));
  std::vector<MPI_Aint> mine(20);
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK_EQUAL(MPI_Win_attach(win, pieces[i].data(), 64), MPI_SUCCESS);
    MPI_Get_address(pieces[i].data(), &mine[i]);
  }
  std::vector<MPI_Aint> theirs(20);
  MPI_Sendrecv(mine.data(), 20, MPI_AINT, left(), 1, theirs.data(), 20, MPI_AINT, right(), 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < 20; ++i) {
    const long sent = 100 * rank + i;
    MPI_Put(&sent, 1, MPI_LONG, right(), theirs[static_cast<std::size_t>(i)] + 16, 1, MPI_LONG, win);
    MPI_Accumulate(&sent, 1, MPI_LONG, right(), theirs[static_cast<std::size_t>(i)] + 24, 1, MPI_LONG, MPI_SUM, win);
    CHECK_EQUAL(MPI_Win_flush(right(), win), MPI_SUCCESS);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK_EQUAL(pieces[i][2], 100 * left() + static_cast<long>(i));
    CHECK_EQUAL(pieces[i][3], 100 * left() + static_cast<long>(i) - 1);
    CHECK_EQUAL(MPI_Win_detach(win, pieces[i].data()), MPI_SUCCESS);
  }
  int error_class = MPI_SUCCESS;
  MPI_Error_class(MPI_Win_detach(win, pieces[0].data()), &error_class);
  CHECK_EQUAL(error_class, MPI_ERR_RMA_ATTACH);
  MPI_Barrier(MPI_COMM_WORLD);
  // Memory that is attached no more: told at the latest by the flush.
  MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, win);
  const long sent = 1;
  int code = MPI_Put(&sent, 1, MPI_LONG, right(), theirs[0], 1, MPI_LONG, win);
  if (code == MPI_SUCCESS) code = MPI_Win_flush(right(), win);
  MPI_Error_class(code, &error_class);
  CHECK_EQUAL(error_class, MPI_ERR_RMA_RANGE);
  MPI_Win_unlock(right(), win);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(pieces[0][0], -1);
  MPI_Win_free(&win);
}

// Memory that is attached in 65536 pieces, in no order, with gaps between them.
CASE(dynamic_windows_of_many_pieces) {
  constexpr std::size_t kPieces = 65'536;
  constexpr std::size_t kWords = 4;  // two are attached, two are not
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  std::vector<long> memory(kPieces * kWords, -1);
  const auto piece = [&](std::size_t i) { return memory.data() + i * 40'503 % kPieces * kWords; };
  for (std::size_t i = 0; i < kPieces; ++i) MPI_Win_attach(win, piece(i), 16);
  MPI_Aint base = 0;
  MPI_Aint there = 0;
  MPI_Get_address(memory.data(), &base);
  MPI_Sendrecv(&base, 1, MPI_AINT, left(), 1, &there, 1, MPI_AINT, right(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Win_lock_all(0, win);
  for (std::size_t i = 0; i < kPieces; i += 97) {
    const long sent = rank + static_cast<long>(i);
    MPI_Put(&sent, 1, MPI_LONG, right(), there + static_cast<MPI_Aint>(8 * (i * kWords + 1)), 1, MPI_LONG, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  int wrong = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const bool written = i % kWords == 1 && i / kWords % 97 == 0;
    wrong += memory[i] == (written ? left() + static_cast<long>(i / kWords) : -1) ? 0 : 1;
  }
  CHECK_EQUAL(wrong, 0);
  for (std::size_t i = 0; i < kPieces; ++i) MPI_Win_detach(win, piece(kPieces - 1 - i));
  MPI_Win_free(&win);
}

namespace {

// All ranks add to the same elements, and the sum must be exact.
template <class T>
void count_together(MPI_Datatype type) {
  constexpr int kRounds = 60;
  with_windows<T>(4, T(0), [&](TestWindow<T>& window) {
    const T ones[4] = {1, 1, 1, 1};
    MPI_Win_lock_all(0, window.win);
    for (int i = 0; i < kRounds; ++i) {
      T old[4] = {};
      MPI_Accumulate(ones, 4, type, 0, 0, 4, type, MPI_SUM, window.win);
      MPI_Fetch_and_op(ones, old, type, 0, sizeof(T) == 1 ? 1 : 0, MPI_SUM, window.win);
      MPI_Get_accumulate(ones, 2, type, old + 2, 2, type, 0, 2, 2, type, MPI_SUM, window.win);
    }
    MPI_Win_unlock_all(window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    const T expected = static_cast<T>(2 * kRounds * ranks);
    if (rank == 0) CHECK(window.data[sizeof(T) == 1 ? 1 : 0] == expected);
    if (rank == 0) CHECK(window.data[2] == expected && window.data[3] == expected);
  });
}

}  // namespace

CASE(accumulates_are_atomic) {
  count_together<int>(MPI_INT);
  count_together<long>(MPI_LONG);
  count_together<short>(MPI_SHORT);
  count_together<unsigned char>(MPI_UNSIGNED_CHAR);
  count_together<float>(MPI_FLOAT);
  count_together<double>(MPI_DOUBLE);
  count_together<long double>(MPI_LONG_DOUBLE);
}

CASE(compare_and_swap_takes_turns) {
  with_windows<int>(2, 0, [](TestWindow<int>& window) {
    MPI_Win_lock_all(0, window.win);
    for (int turn = rank; turn < 10 * ranks; turn += ranks) {
      const int next = turn + 1;
      int old = -1;
      while (old != turn) {
        MPI_Compare_and_swap(&next, &turn, &old, MPI_INT, 0, 1, window.win);
        MPI_Win_flush(0, window.win);
      }
    }
    MPI_Win_unlock_all(window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK_EQUAL(window.data[1], 10 * ranks);
  });
}

#if MPI_VERSION >= 4
// Units that an int does not hold: element 1 is in memory that is reserved only.
CASE(units_exceed_32_bits) {
  constexpr MPI_Aint kUnit = (MPI_Aint{1} << 32) + 8;
  constexpr MPI_Aint kBytes = 2 * kUnit;
  void* const space =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(space != MAP_FAILED);
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create_c(space, kBytes, kUnit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  const long sent = rank + 9;
  MPI_Win_fence(0, win);
  MPI_Put(&sent, 1, MPI_LONG, right(), 1, 1, MPI_LONG, win);
  MPI_Win_fence(0, win);
  long got = 0;
  std::memcpy(&got, static_cast<char*>(space) + kUnit, sizeof got);
  CHECK_EQUAL(got, left() + 9L);
  int* unit = nullptr;
  int found = 0;
  MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &found);
  CHECK(found != 0 && *unit == MPI_UNDEFINED);
  MPI_Win_free(&win);
  ::munmap(space, kBytes);
}
#endif

// Memory that is reserved but for the pages at its end.
CASE(displacements_and_amounts_exceed_32_bits) {
  constexpr MPI_Aint kFar = MPI_Aint{1} << 40;
  constexpr MPI_Aint kBytes = kFar + 4096;
  void* const space =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(space != MAP_FAILED);
  const auto* const end = reinterpret_cast<const long*>(static_cast<char*>(space) + kFar);
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create(space, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  const long sent = rank + 5;
  MPI_Put(&sent, 1, MPI_LONG, right(), kFar, 1, MPI_LONG, win);
  MPI_Accumulate(&sent, 1, MPI_LONG, right(), kFar + 8, 1, MPI_LONG, MPI_SUM, win);
  MPI_Put(&sent, 1, MPI_LONG, right(), kFar / 256 - 8, 1, MPI_LONG, win);
  MPI_Win_fence(0, win);
  CHECK_EQUAL(end[0], left() + 5L);
  CHECK_EQUAL(end[1], left() + 5L);
  // More than 2^31 bytes in one call: the word that was put last is the last one of them.
  if (rank == 0 && ranks <= 2) {
    constexpr std::size_t kAmount = (std::size_t{1} << 31) + (std::size_t{1} << 23);
    void* const copy = ::mmap(nullptr, kAmount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(copy != MAP_FAILED);
    MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, win);
    const MPI_Aint from = kFar / 256 - static_cast<MPI_Aint>(kAmount);
#if MPI_VERSION >= 4
    MPI_Get_c(copy, kAmount, MPI_BYTE, right(), from, kAmount, MPI_BYTE, win);
#else
    MPI_Datatype part = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(INT_MAX / 256 + 1, MPI_CHAR, &part);
    MPI_Type_commit(&part);
    MPI_Get(copy, 257, part, right(), from, 257, part, win);
    MPI_Type_free(&part);
#endif
    MPI_Win_unlock(right(), win);
    long last = 0;
    std::memcpy(&last, static_cast<char*>(copy) + kAmount - sizeof last, sizeof last);
    CHECK_EQUAL(last, sent);
    ::munmap(copy, kAmount);
  }
  MPI_Win_free(&win);
  ::munmap(space, kBytes);
}

// Barriers of communicators of all kinds, while the others operate on this process's window.
CASE(barriers_and_receives_of_the_mpi_serve_windows) {
  TestWindow<long> window(8, TestWindow<long>::Memory::own, 0);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_dup(half, &copy);
  MPI_Comm between = MPI_COMM_NULL;
  if (ranks > 1) MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &between);
  const long one = 1;
  constexpr int kRounds = 20;
  for (int i = 0; i < kRounds; ++i) {
    for (int target = 0; target < ranks; ++target) {
      MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.win);
      MPI_Accumulate(&one, 1, MPI_LONG, target, i % 8, 1, MPI_LONG, MPI_SUM, window.win);
      MPI_Win_unlock(target, window.win);
    }
    for (const MPI_Comm comm : {half, copy, between, MPI_COMM_WORLD})
      if (comm != MPI_COMM_NULL) MPI_Barrier(comm);
    int number = i * 100 + rank;
    int received = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Isend(&number, 1, MPI_INT, right(), 3, MPI_COMM_WORLD, &request);
    MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
    CHECK_EQUAL(status.MPI_SOURCE, left());
    MPI_Recv(&received, 1, MPI_INT, status.MPI_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK_EQUAL(received, i * 100 + left());
    CHECK_EQUAL(status.MPI_TAG, 3);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Recv(&received, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  long sum = 0;
  for (int i = 0; i < 8; ++i) sum += window.data[i];
  CHECK_EQUAL(sum, static_cast<long>(kRounds) * ranks);
  if (between != MPI_COMM_NULL) MPI_Comm_free(&between);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&half);
}

CASE(waits_return_what_the_mpi_returns) {
  TestWindow<long> window(1, TestWindow<long>::Memory::own, 0);
  int values[3] = {-1, -1, -1};
  int sent[3] = {rank, rank + 1, rank + 2};
  MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int index = 0;
  int count = 0;
  int indices[4] = {};
  MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
  CHECK_EQUAL(index, MPI_UNDEFINED);
  MPI_Waitsome(4, requests, &count, indices, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(count, MPI_UNDEFINED);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  MPI_Request sends[3];
  for (int i = 0; i < 3; ++i) MPI_Irecv(&values[i], 1, MPI_INT, left(), 10 + i, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < 3; ++i) MPI_Isend(&sent[i], 1, MPI_INT, right(), 10 + i, MPI_COMM_WORLD, &sends[i]);
  for (int left_over = 3; left_over > 0; left_over -= count) {
    MPI_Waitsome(4, requests, &count, indices, MPI_STATUSES_IGNORE);
    CHECK(count >= 1 && count <= left_over);
    if (count < 1) break;
  }
  MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 3; ++i) CHECK_EQUAL(values[i], left() + i);
  // A message that is longer than the receive buffer, by the communicator's handler.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Isend(sent, 3, MPI_INT, right(), 20, MPI_COMM_WORLD, &sends[0]);
  int error_class = MPI_SUCCESS;
  MPI_Error_class(MPI_Recv(values, 1, MPI_INT, left(), 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE), &error_class);
  CHECK_EQUAL(error_class, MPI_ERR_TRUNCATE);
  MPI_Wait(&sends[0], MPI_STATUS_IGNORE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
