// Wrong use calls the window's error handler with the right class, and does not harm what follows. That of epochs:
// epoch_errors_test.cpp.
#include <sys/mman.h>

#include <initializer_list>

#include "error_classes.hpp"

using mpi_test::class_of;
using mpi_test::kValue;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::Returning;
using mpi_test::TestWindow;

namespace {

int handled = 0;
void count_error(MPI_Win*, int* code, ...) { handled = class_of(*code); }

}  // namespace

CASE(null_results) {
  Returning window;
  MPI_Aint bytes = 0;
  int unit = 0;
  void* base = nullptr;
  MPI_Win made = MPI_WIN_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, nullptr, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, nullptr, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_free(nullptr), MPI_ERR_ARG);
  CHECK(MPI_Alloc_mem(8, MPI_INFO_NULL, nullptr) != MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  CHECK_CLASS(MPI_Win_get_attr(window.win, MPI_WIN_BASE, nullptr, &unit), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_get_attr(window.win, MPI_WIN_BASE, &base, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_shared_query(window.win, 0, nullptr, &unit, &base), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_shared_query(window.win, 0, &bytes, nullptr, &base), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_shared_query(window.win, 0, &bytes, &unit, nullptr), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Win_test(window.win, nullptr), MPI_ERR_ARG);
}

// All processes get to know that one of them asks for too much.
CASE(more_memory_than_there_is) {
  void* base = nullptr;
  MPI_Win made = MPI_WIN_NULL;
  const MPI_Aint bytes = rank == ranks - 1 ? MPI_Aint{1} << 60 : 8;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made), MPI_ERR_NO_MEM);
  CHECK_CLASS(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made), MPI_ERR_NO_MEM);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

CASE(wrong_arguments) {
  Returning window;
  long result = 0;
  MPI_Win_lock_all(0, window.win);
  CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, ranks, 0, 1, MPI_LONG, window.win), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, -77, 0, 1, MPI_LONG, window.win), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, window.win), MPI_SUCCESS);
  CHECK_CLASS(MPI_Put(&kValue, -1, MPI_LONG, 0, 0, 1, MPI_LONG, window.win), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, 0, -1, 1, MPI_LONG, window.win), MPI_ERR_DISP);
  CHECK_CLASS(MPI_Put(&kValue, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_LONG, window.win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, 0, 8, 1, MPI_LONG, window.win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Get(&result, 1, MPI_LONG, 0, 1 << 30, 1, MPI_LONG, window.win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Accumulate(&kValue, 1, MPI_LONG, 0, 8, 1, MPI_LONG, MPI_SUM, window.win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Fetch_and_op(&kValue, &result, MPI_LONG, 0, 8, MPI_SUM, window.win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Accumulate(&kValue, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_MINLOC, window.win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Accumulate(&kValue, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BAND, window.win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Accumulate(&kValue, 1, MPI_LONG, 0, 0, 1, MPI_DOUBLE, MPI_SUM, window.win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Compare_and_swap(&kValue, &kValue, &result, MPI_DOUBLE, 0, 0, window.win), MPI_ERR_TYPE);
  MPI_Win_unlock_all(window.win);
  CHECK_CLASS(MPI_Win_lock(99, 0, 0, window.win), MPI_ERR_LOCKTYPE);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, ranks, 0, window.win), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Win_fence(1 << 29, window.win), MPI_ERR_ASSERT);
  CHECK_CLASS(MPI_Win_start(MPI_GROUP_NULL, 0, window.win), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Win_post(MPI_GROUP_NULL, 0, window.win), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Win_attach(window.win, &result, 8), MPI_ERR_RMA_FLAVOR);
  CHECK_CLASS(MPI_Win_detach(window.win, &result), MPI_ERR_RMA_FLAVOR);
  MPI_Aint bytes = 0;
  int unit = 0;
  void* base = nullptr;
  CHECK_CLASS(MPI_Win_shared_query(window.win, ranks, &bytes, &unit, &base), MPI_ERR_RANK);
  MPI_Win dynamic = MPI_WIN_NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Win_shared_query(dynamic, 0, &bytes, &unit, &base), MPI_ERR_RMA_FLAVOR);
  MPI_Win_free(&dynamic);
  for (int i = 0; i < 8; ++i) CHECK_EQUAL(window.data[i], 0);
}

CASE(types_that_are_not_committed) {
  Returning window;
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  const long values[] = {3, 4};
  MPI_Type_contiguous(2, MPI_LONG, &pair);
  MPI_Win_lock_all(0, window.win);
  CHECK_CLASS(MPI_Put(values, 1, pair, rank, 0, 1, pair, window.win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Accumulate(values, 2, MPI_LONG, rank, 0, 1, pair, MPI_SUM, window.win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Fetch_and_op(values, window.data, pair, rank, 0, MPI_SUM, window.win), MPI_ERR_TYPE);
  MPI_Type_commit(&pair);
  CHECK_CLASS(MPI_Put(values, 1, pair, rank, 0, 1, pair, window.win), MPI_SUCCESS);
  MPI_Win_unlock_all(window.win);
  CHECK_EQUAL(window.data[1], 4);
  MPI_Type_free(&pair);
}

// Numbers of bytes that 64 bits do not hold.
CASE(amounts_that_wrap) {
  Returning window;
  MPI_Datatype large = MPI_DATATYPE_NULL;
  MPI_Datatype larger = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1 << 30, MPI_LONG, &large);
  MPI_Type_contiguous(4, large, &larger);
  MPI_Type_commit(&larger);
  long result = 7;
  constexpr int kCount = 1 << 29;
  MPI_Win_lock_all(0, window.win);
  CHECK_CLASS(MPI_Put(&kValue, kCount, larger, rank, 0, kCount, larger, window.win), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Get(&result, kCount, larger, rank, 0, kCount, larger, window.win), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Accumulate(&kValue, kCount, larger, rank, 0, kCount, larger, MPI_SUM, window.win), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Put(&kValue, 1, larger, rank, 0, 1, larger, window.win), MPI_ERR_RMA_RANGE);
#if MPI_VERSION >= 4
  const MPI_Count count = MPI_Count{1} << 61;
  CHECK_CLASS(MPI_Put_c(&kValue, count, MPI_LONG, rank, 0, count, MPI_LONG, window.win), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Get_c(&result, count, MPI_LONG, rank, 0, count, MPI_LONG, window.win), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Get_accumulate_c(&kValue, count, MPI_LONG, &result, count, MPI_LONG, rank, 0, count, MPI_LONG,
                                   MPI_SUM, window.win),
              MPI_ERR_COUNT);
#endif
  MPI_Win_unlock_all(window.win);
  CHECK_EQUAL(result, 7);
  CHECK_EQUAL(window.data[0], 0);
  MPI_Type_free(&larger);
  MPI_Type_free(&large);
}

namespace {
void add_all(void*, void*, int*, MPI_Datatype*) {}
}  // namespace

CASE(operators_of_the_user_are_refused) {
  Returning window;
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add_all, 1, &op);
  MPI_Win_lock_all(0, window.win);
  long result = 3;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_CLASS(MPI_Accumulate(&kValue, 1, MPI_LONG, 0, 0, 1, MPI_LONG, op, window.win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Get_accumulate(&kValue, 1, MPI_LONG, &result, 1, MPI_LONG, 0, 0, 1, MPI_LONG, op, window.win),
              MPI_ERR_OP);
  CHECK_CLASS(MPI_Fetch_and_op(&kValue, &result, MPI_LONG, 0, 0, op, window.win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Raccumulate(&kValue, 1, MPI_LONG, 0, 0, 1, MPI_LONG, op, window.win, &request), MPI_ERR_OP);
  CHECK_CLASS(
      MPI_Rget_accumulate(&kValue, 1, MPI_LONG, &result, 1, MPI_LONG, 0, 0, 1, MPI_LONG, op, window.win, &request),
      MPI_ERR_OP);
  MPI_Win_unlock_all(window.win);
  CHECK(result == 3 && request == MPI_REQUEST_NULL);
  MPI_Op_free(&op);
}

CASE(wrong_windows) {
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  MPI_Win win = MPI_WIN_NULL;
  long memory = 0;
  CHECK_CLASS(MPI_Win_create(&memory, -1, 1, MPI_INFO_NULL, communicator, &win), MPI_ERR_SIZE);
  CHECK_CLASS(MPI_Win_create(&memory, 8, 0, MPI_INFO_NULL, communicator, &win), MPI_ERR_DISP);
  CHECK_CLASS(MPI_Win_create(nullptr, 8, 1, MPI_INFO_NULL, communicator, &win), MPI_ERR_BASE);
  MPI_Comm_free(&communicator);
}

CASE(data_that_are_nowhere) {
  Returning window;
  long result = 3;
  MPI_Win_lock_all(0, window.win);
  CHECK_CLASS(MPI_Put(nullptr, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window.win), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Get(MPI_IN_PLACE, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window.win), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Accumulate(MPI_IN_PLACE, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, window.win), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Get_accumulate(&kValue, 1, MPI_LONG, nullptr, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, window.win),
              MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Fetch_and_op(&kValue, MPI_IN_PLACE, MPI_LONG, 0, 0, MPI_SUM, window.win), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Compare_and_swap(&kValue, nullptr, &result, MPI_LONG, 0, 0, window.win), MPI_ERR_BUFFER);
  MPI_Win_unlock_all(window.win);
  CHECK_CLASS(MPI_Win_set_info(window.win, MPI_INFO_NULL), MPI_ERR_INFO);
  CHECK(result == 3);
}

CASE(memory_is_attached_once) {
  MPI_Win win = MPI_WIN_NULL;
  long memory[8] = {};
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Win_attach(win, memory + 2, 16), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_attach(win, memory + 2, 16), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_attach(win, memory, 17), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_attach(win, memory + 3, 32), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_attach(win, memory, 64), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_attach(win, nullptr, 8), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_attach(win, memory, -8), MPI_ERR_SIZE);
  CHECK_CLASS(MPI_Win_attach(win, memory, 16), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_attach(win, memory + 4, 32), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_detach(win, memory + 3), MPI_ERR_RMA_ATTACH);
  for (const long* const piece : {memory + 2, memory, memory + 4}) CHECK_CLASS(MPI_Win_detach(win, piece), MPI_SUCCESS);
  MPI_Win_free(&win);
}

// Attaching looks at no page: the access says that there is none.
CASE(memory_that_is_not_mapped_is_not_accessed) {
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  constexpr std::size_t kBytes = 65536;
  void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::munmap(memory, kBytes);
  CHECK_CLASS(MPI_Win_attach(win, memory, kBytes), MPI_SUCCESS);
  MPI_Aint address = 0;
  MPI_Get_address(memory, &address);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  const int put = MPI_Put(&kValue, 1, MPI_LONG, rank, address, 1, MPI_LONG, win);
  const int unlocked = MPI_Win_unlock(rank, win);
  CHECK_CLASS(put != MPI_SUCCESS ? put : unlocked, MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Win_detach(win, memory), MPI_SUCCESS);
  MPI_Win_free(&win);
}

CASE(windows_between_two_groups) {
  if (ranks < 2) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &between);
  MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, between, &win), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Win_create_dynamic(MPI_INFO_NULL, between, &win), MPI_ERR_COMM);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

CASE(the_window_s_handler_is_called) {
  TestWindow<long> window(1, TestWindow<long>::Memory::own, 0);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Win_create_errhandler(count_error, &handler);
  MPI_Win_set_errhandler(window.win, handler);
  handled = MPI_SUCCESS;
  MPI_Put(&kValue, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window.win);
  CHECK_EQUAL(handled, MPI_ERR_RMA_SYNC);
  MPI_Errhandler_free(&handler);
}

// Small puts to memory that a dynamic window does not hold: only its process knows that, and MPI_Win_complete is the
// last call that can report it. The next epoch is as if nothing had been wrong.
CASE(dynamic_windows_report_at_the_end_of_the_epoch) {
  MPI_Win win = MPI_WIN_NULL;
  long word = 0;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_attach(win, &word, sizeof word);
  MPI_Aint place = 0;
  MPI_Get_address(&word, &place);
  std::vector<MPI_Aint> places(static_cast<std::size_t>(ranks));
  MPI_Allgather(&place, 1, MPI_AINT, places.data(), 1, MPI_AINT, MPI_COMM_WORLD);
  const int next = mpi_test::right();
  const MPI_Aint there = places[static_cast<std::size_t>(next)];
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int round = 0; round < 2; ++round) {
    MPI_Win_post(world, 0, win);
    MPI_Win_start(world, 0, win);
    int code = MPI_Put(&kValue, 1, MPI_LONG, next, round == 0 ? MPI_Aint{4096} : there, 1, MPI_LONG, win);
    const int ended = MPI_Win_complete(win);
    if (code == MPI_SUCCESS) code = ended;
    CHECK_EQUAL(class_of(code), round == 0 ? MPI_ERR_RMA_RANGE : MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_wait(win), MPI_SUCCESS);
    CHECK_EQUAL(word, round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Group_free(&world);
  MPI_Win_free(&win);
}

// The same found out when the window is freed: by its handler, since the code alone would come too late.
CASE(freeing_a_window_calls_its_handler) {
  MPI_Win win = MPI_WIN_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Win_create_errhandler(count_error, &handler);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, handler);
  handled = MPI_SUCCESS;
  MPI_Win_fence(0, win);
  MPI_Put(&kValue, 1, MPI_LONG, mpi_test::right(), MPI_Aint{4096}, 1, MPI_LONG, win);
  MPI_Win_free(&win);
  CHECK_EQUAL(handled, MPI_ERR_RMA_RANGE);
  CHECK(win == MPI_WIN_NULL);
  MPI_Errhandler_free(&handler);
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
