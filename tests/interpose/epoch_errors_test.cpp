// Wrong use of epochs, and epochs of one process against those of another, call the window's error handler with the
// right class.
#include <cstdlib>

#include "error_classes.hpp"

using mpi_test::kValue;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::Returning;

CASE(access_outside_an_epoch) {
  Returning window;
  long result = 0;
  CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Get(&result, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Accumulate(&kValue, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Fetch_and_op(&kValue, &result, MPI_LONG, 0, 0, MPI_SUM, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Compare_and_swap(&kValue, &kValue, &result, MPI_LONG, 0, 0, window.win), MPI_ERR_RMA_SYNC);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win);
  if (ranks > 1) CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, 1, 0, 1, MPI_LONG, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window.win), MPI_SUCCESS);
  MPI_Win_unlock(0, window.win);
  CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window.win), MPI_ERR_RMA_SYNC);
  MPI_Win_fence(0, window.win);
  CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window.win), MPI_SUCCESS);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
  CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window.win), MPI_ERR_RMA_SYNC);
}

CASE(calls_that_end_no_epoch) {
  Returning window;
  CHECK_CLASS(MPI_Win_unlock(0, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_unlock_all(window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_complete(window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_wait(window.win), MPI_ERR_RMA_SYNC);
  int flag = 0;
  CHECK_CLASS(MPI_Win_test(window.win, &flag), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush(0, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush_all(window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush_local(0, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush_local_all(window.win), MPI_ERR_RMA_SYNC);
  MPI_Win_lock_all(0, window.win);
  CHECK_CLASS(MPI_Win_unlock(0, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock_all(0, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_fence(0, window.win), MPI_ERR_RMA_SYNC);
  MPI_Win_unlock_all(window.win);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win), MPI_ERR_RMA_SYNC);
  MPI_Win same = window.win;
  CHECK_CLASS(MPI_Win_free(&same), MPI_ERR_RMA_SYNC);
  MPI_Win_unlock(0, window.win);
}

// MPI has them for epochs of locks only.
CASE(requests_outside_of_passive_epochs) {
  Returning window;
  long result = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  const auto check = [&] {
    CHECK_CLASS(MPI_Rput(&kValue, 1, MPI_LONG, rank, 0, 1, MPI_LONG, window.win, &request), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Rget(&result, 1, MPI_LONG, rank, 0, 1, MPI_LONG, window.win, &request), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Raccumulate(&kValue, 1, MPI_LONG, rank, 0, 1, MPI_LONG, MPI_SUM, window.win, &request),
                MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Rget_accumulate(&kValue, 1, MPI_LONG, &result, 1, MPI_LONG, rank, 0, 1, MPI_LONG, MPI_SUM,
                                    window.win, &request),
                MPI_ERR_RMA_SYNC);
    CHECK(request == MPI_REQUEST_NULL);
  };
  check();
  MPI_Win_fence(0, window.win);
  check();
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
  MPI_Group self = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_SELF, &self);
  MPI_Win_post(self, 0, window.win);
  MPI_Win_start(self, 0, window.win);
  check();
  MPI_Win_complete(window.win);
  MPI_Win_wait(window.win);
  CHECK_EQUAL(window.data[0], 0);
  MPI_Group_free(&self);
}

// The same between two processes of a node: either finds what the other one has done before.
CASE(locks_and_exposure_of_others_conflict) {
  MPI_Comm node = MPI_COMM_NULL;
  int on_node = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &on_node);
  MPI_Comm_free(&node);
  if (ranks < 2 || on_node != ranks || std::getenv("SHMEMX_PES_PER_NODE") != nullptr) return;
  Returning window;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group other = MPI_GROUP_NULL;
  const int peer = rank == 0 ? 1 : 0;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &peer, &other);
  if (rank == 0) MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window.win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) CHECK_CLASS(MPI_Win_post(other, 0, window.win), MPI_ERR_RMA_CONFLICT);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK_CLASS(MPI_Win_unlock(1, window.win), MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) CHECK_CLASS(MPI_Win_post(other, 0, window.win), MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window.win), MPI_ERR_RMA_CONFLICT);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window.win), MPI_ERR_RMA_CONFLICT);
    CHECK_CLASS(MPI_Win_unlock(0, window.win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_lock_all(0, window.win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, 1, 0, 1, MPI_LONG, window.win), MPI_ERR_RMA_CONFLICT);
    CHECK_CLASS(MPI_Win_unlock_all(window.win), MPI_SUCCESS);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Win_start(other, 0, window.win);
  if (rank == 0) CHECK_CLASS(MPI_Win_complete(window.win), MPI_SUCCESS);
  if (rank == 1) CHECK_CLASS(MPI_Win_wait(window.win), MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK_CLASS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window.win), MPI_SUCCESS);
  if (rank == 0) CHECK_CLASS(MPI_Win_unlock(1, window.win), MPI_SUCCESS);
  MPI_Group_free(&other);
  MPI_Group_free(&world);
}

// A fence with operations behind it begins an epoch, one without does not.
CASE(epochs_of_fences_are_ended_by_fences) {
  Returning window;
  MPI_Group self = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_SELF, &self);
  MPI_Win_fence(0, window.win);
  MPI_Put(&kValue, 1, MPI_LONG, rank, 0, 1, MPI_LONG, window.win);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock_all(0, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_start(self, 0, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Put(&kValue, 1, MPI_LONG, rank, 1, 1, MPI_LONG, window.win), MPI_SUCCESS);
  MPI_Win_fence(0, window.win);
  CHECK_CLASS(MPI_Win_lock_all(0, window.win), MPI_SUCCESS);
  MPI_Win_unlock_all(window.win);
  MPI_Win_fence(0, window.win);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window.win), MPI_SUCCESS);
  MPI_Win_unlock(rank, window.win);
  MPI_Group_free(&self);
}

// The memory of a process is locked or exposed, not both.
CASE(locks_and_exposure_exclude_each_other) {
  Returning window;
  MPI_Group self = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_SELF, &self);
  MPI_Win_post(self, 0, window.win);
  CHECK_CLASS(MPI_Win_post(self, 0, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock_all(0, window.win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_fence(0, window.win), MPI_ERR_RMA_SYNC);
  MPI_Win_start(self, 0, window.win);
  MPI_Win_complete(window.win);
  MPI_Win_wait(window.win);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window.win);
  CHECK_CLASS(MPI_Win_post(self, 0, window.win), MPI_ERR_RMA_SYNC);
  MPI_Win_unlock(rank, window.win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window.win);
  CHECK_CLASS(MPI_Win_post(self, 0, window.win), MPI_ERR_RMA_SYNC);
  MPI_Win_unlock_all(window.win);
  MPI_Group_free(&self);
}

// Programs break this promise, and neither MPI minds.
CASE(windows_without_locks) {
  Returning window;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "true");
  MPI_Win_set_info(window.win, info);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_unlock(0, window.win), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_lock_all(0, window.win), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_unlock_all(window.win), MPI_SUCCESS);
  MPI_Info_free(&info);
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
