// Requests are completed one by one: none waits for another one. Rank 1 is outside of all libraries, so an operation on
// its memory stays open until it comes back. For three ranks on nodes of their own, without progress threads.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "mpi_test.hpp"

using mpi_test::rank;
using mpi_test::ranks;

namespace {

// A door that rank 0 opens for rank 1, without MPI.
class Door {
 public:
  Door() {
    char folder[64] = "/tmp/shmemx_apart_XXXXXX";
    if (rank == 0 && ::mkdtemp(folder) == nullptr) folder[0] = 0;
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    folder_ = folder;
    path_ = folder_ + "/door";
    if (rank == 0) CHECK(::mkfifo(path_.c_str(), 0600) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Door() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) ::unlink(path_.c_str());
    if (rank == 0) ::rmdir(folder_.c_str());
  }
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  void wait() const { pass(O_RDONLY); }
  void open() const { pass(O_WRONLY); }

 private:
  // Both sides wait for each other here.
  void pass(int flags) const {
    const int descriptor = ::open(path_.c_str(), flags);
    CHECK(descriptor >= 0);
    ::close(descriptor);
  }
  std::string folder_;
  std::string path_;
};

// A window, from whose memory at rank 1 rank 0 gets a value. It comes when the door is open.
class OpenGet {
 public:
  OpenGet() {
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &data_, &win);
    *data_ = 100 + rank;
    MPI_Barrier(MPI_COMM_WORLD);
    long values[3] = {};
    if (rank == 0) {
      MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
      for (const int from : {1, 2}) MPI_Get(&values[from], 1, MPI_LONG, from, 0, 1, MPI_LONG, win);
      MPI_Win_flush_all(win);  // both are attached
    }
    MPI_Barrier(MPI_COMM_WORLD);
    // Rank 1 still serves others while it is in the barrier: it says when it is outside.
    if (rank == 1) {
      door.open();
      door.wait();
    }
    if (rank == 0) {
      door.wait();
      MPI_Rget(&value_, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win, &request);
    }
  }
  ~OpenGet() {
    if (rank == 0) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK_EQUAL(value_, 101);
      MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
  }
  OpenGet(const OpenGet&) = delete;
  OpenGet& operator=(const OpenGet&) = delete;

  bool is_open() {
    int done = 1;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done == 0;
  }

  const Door door;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Request request = MPI_REQUEST_NULL;

 private:
  long* data_ = nullptr;
  long value_ = -1;
};

// Rank 0 calls meanwhile(the get) while that is open.
template <class Function>
void while_one_is_open(Function meanwhile) {
  if (ranks < 3) return;
  OpenGet get;
  if (rank != 0) return;
  meanwhile(get);
  CHECK(get.is_open());
  get.door.open();
}

// A message to this process itself.
MPI_Request own_message(int* to) {
  static const int value = 7;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(to, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
  MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
  return request;
}

MPI_Request get_from_rank_2(MPI_Win win, long* to) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Rget(to, 1, MPI_LONG, 2, 0, 1, MPI_LONG, win, &request);
  return request;
}

}  // namespace

CASE(waits_for_messages) {
  while_one_is_open([](OpenGet&) {
    int message = 0;
    MPI_Request request = own_message(&message);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(message, 7);
    request = own_message(&message);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
  });
}

CASE(waits_for_operations_on_others) {
  while_one_is_open([](OpenGet& get) {
    long value = -1;
    MPI_Request request = get_from_rank_2(get.win, &value);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(value, 102);
    value = -1;
    request = get_from_rank_2(get.win, &value);
    for (int done = 0; done == 0;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    CHECK_EQUAL(value, 102);
  });
}

// The open request is among those that are waited for or tested.
CASE(waits_for_some_of_an_array) {
  while_one_is_open([](OpenGet& get) {
    int message = 0;
    long value = -1;
    MPI_Request all[3] = {get.request, own_message(&message), get_from_rank_2(get.win, &value)};
    int index = -1;
    MPI_Waitany(3, all, &index, MPI_STATUS_IGNORE);
    CHECK(index == 1 || index == 2);
    MPI_Waitany(3, all, &index, MPI_STATUS_IGNORE);
    CHECK(message == 7 && value == 102);
    all[1] = own_message(&message);
    int count = 0;
    int indices[3];
    MPI_Waitsome(3, all, &count, indices, MPI_STATUSES_IGNORE);
    CHECK(count == 1 && indices[0] == 1);
    all[2] = get_from_rank_2(get.win, &value);
    for (count = 0; count == 0;) MPI_Testsome(3, all, &count, indices, MPI_STATUSES_IGNORE);
    CHECK(count == 1 && indices[0] == 2);
    all[1] = own_message(&message);
    for (int done = 0; done == 0;) MPI_Testany(3, all, &index, &done, MPI_STATUS_IGNORE);
    CHECK_EQUAL(index, 1);
    int done = 1;
    MPI_Testall(3, all, &done, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(done, 0);
    MPI_Request_get_status(all[0], &done, MPI_STATUS_IGNORE);
    CHECK_EQUAL(done, 0);
    get.request = all[0];
  });
}

// One thread waits for the open request, while another one completes others.
CASE(waits_of_several_threads) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE || ranks < 3) return;
  OpenGet get;
  if (rank != 0) return;
  std::thread waiter([&] { MPI_Wait(&get.request, MPI_STATUS_IGNORE); });
  for (int i = 0; i < 100; ++i) {
    long value = -1;
    int message = 0;
    MPI_Request both[2] = {get_from_rank_2(get.win, &value), own_message(&message)};
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    CHECK(value == 102 && message == 7);
  }
  get.door.open();
  waiter.join();
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv, MPI_THREAD_MULTIPLE); }
