// What functions for attributes find while a window is freed, and the memory of other processes in any kind of window.
#include <cstdlib>

#include "error_classes.hpp"
#include "mpi_test.hpp"

using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::right;
using mpi_test::TestWindow;
using mpi_test::with_windows;

namespace {

// What a function for an attribute has seen.
struct Seen {
  int calls = 0;
  void* base = nullptr;
  MPI_Aint bytes = -1;
  int flavor = -1;
  int processes = -1;
  long value = -1;
  int result = MPI_SUCCESS;  // of the function
};

template <class T>
T attribute(MPI_Win win, int keyval, T otherwise) {
  T* value = nullptr;
  int found = 0;
  MPI_Win_get_attr(win, keyval, &value, &found);
  return found != 0 && value != nullptr ? *value : otherwise;
}

int look_at_window(MPI_Win win, int, void* where, void*) {
  Seen& seen = *static_cast<Seen*>(where);
  ++seen.calls;
  int found = 0;
  MPI_Win_get_attr(win, MPI_WIN_BASE, &seen.base, &found);
  seen.bytes = attribute<MPI_Aint>(win, MPI_WIN_SIZE, -1);
  seen.flavor = attribute<int>(win, MPI_WIN_CREATE_FLAVOR, -1);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Win_get_group(win, &group);
  MPI_Group_size(group, &seen.processes);
  MPI_Group_free(&group);
  if (seen.base != nullptr && seen.bytes >= static_cast<MPI_Aint>(sizeof(long)))
    seen.value = *static_cast<long*>(seen.base);
  return seen.result;
}

// A window of one long with this process's rank, and an attribute of it.
class Watched {
 public:
  explicit Watched(int flavor) : flavor_(flavor) {
    const MPI_Aint bytes = sizeof(long);
    if (flavor == MPI_WIN_FLAVOR_CREATE) MPI_Win_create(&own_, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (flavor == MPI_WIN_FLAVOR_ALLOCATE) MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &data, &win);
    if (flavor == MPI_WIN_FLAVOR_SHARED) MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &data, &win);
    if (flavor == MPI_WIN_FLAVOR_DYNAMIC) MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    *data = rank;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, look_at_window, &keyval_, nullptr);
    MPI_Win_set_attr(win, keyval_, &seen);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Watched() { MPI_Win_free_keyval(&keyval_); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  void check() const {
    const bool has_memory = flavor_ != MPI_WIN_FLAVOR_DYNAMIC;
    CHECK_EQUAL(seen.calls, 1);
    CHECK_EQUAL(seen.flavor, flavor_);
    CHECK_EQUAL(seen.processes, ranks);
    CHECK(seen.base == (has_memory ? data : nullptr));
    CHECK_EQUAL(seen.bytes, has_memory ? MPI_Aint{sizeof(long)} : 0);
    CHECK_EQUAL(seen.value, has_memory ? long{rank} : -1);
  }

  MPI_Win win = MPI_WIN_NULL;
  Seen seen;
  long own_ = 0;
  long* data = &own_;

 private:
  int flavor_;
  int keyval_ = MPI_KEYVAL_INVALID;
};

bool is_one_node() {
  MPI_Comm node = MPI_COMM_NULL;
  int size = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &size);
  MPI_Comm_free(&node);
  return size == ranks;
}

}  // namespace

CASE(functions_for_attributes_find_the_window) {
  for (const int flavor : {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_DYNAMIC}) {
    Watched watched(flavor);
    MPI_Win_free(&watched.win);
    watched.check();
    CHECK(watched.win == MPI_WIN_NULL);
  }
}

// The processes do not leave together: the memory of all lives until each of them has been through its functions. On
// pretended nodes the window is left to the MPI, and Open MPI has freed the memory by then.
CASE(functions_for_attributes_find_shared_windows) {
  if (!is_one_node() || std::getenv("SHMEMX_PES_PER_NODE") != nullptr) return;
  for (int round = 0; round < 5; ++round) {
    Watched watched(MPI_WIN_FLAVOR_SHARED);
    MPI_Win_free(&watched.win);
    watched.check();
  }
}

// With Open MPI they do not.
CASE(functions_that_fail_may_keep_the_window) {
  Watched watched(MPI_WIN_FLAVOR_ALLOCATE);
  MPI_Win_set_errhandler(watched.win, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  watched.seen.result = MPI_ERR_OTHER;
  const int code = MPI_Win_free(&watched.win);
  watched.check();
  CHECK((code == MPI_SUCCESS) == (watched.win == MPI_WIN_NULL));
  if (watched.win != MPI_WIN_NULL) {
    CHECK_EQUAL(*watched.data, long{rank});
    CHECK_EQUAL(MPI_Win_free(&watched.win), MPI_SUCCESS);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

// MPI 4.1: the memory of every process that this one can load and store, whatever has allocated it; else no memory.
CASE(memory_of_others_in_created_and_allocated_windows) {
  const auto query = [](MPI_Win win, bool must_be_there) {
    for (int i = 0; i < ranks; ++i) {
      MPI_Aint bytes = -1;
      int unit = -1;
      long* data = nullptr;
      CHECK_EQUAL(MPI_Win_shared_query(win, i, &bytes, &unit, &data), MPI_SUCCESS);
      CHECK(bytes == (data == nullptr ? 0 : MPI_Aint{2 * sizeof(long)}));
      if (data == nullptr) CHECK(i != rank && !must_be_there);
      if (data != nullptr) CHECK(unit == 8 && data[1] == i);
    }
    MPI_Aint bytes = -1;
    int unit = -1;
    long* first = nullptr;
    CHECK_EQUAL(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first), MPI_SUCCESS);
    CHECK(first != nullptr && first[0] == 0);
  };
  long* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Alloc_mem(2 * sizeof(long), MPI_INFO_NULL, &memory);
  for (const bool allocates : {true, false}) {
    long* data = memory;
    if (allocates) {
      MPI_Win_allocate(2 * sizeof(long), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &data, &win);
    } else {
      MPI_Win_create(data, 2 * sizeof(long), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    data[0] = 0;
    data[1] = rank;
    MPI_Barrier(MPI_COMM_WORLD);
    query(win, false);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
  }
  MPI_Free_mem(memory);
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
