// Shared windows: all ranks load and store the memory of all.
#include "mpi_test.hpp"

namespace {

struct Part {
  MPI_Aint bytes = -1;
  int unit = 0;
  int* data = nullptr;
};

Part part_of(MPI_Win win, int of) {
  Part part;
  MPI_Win_shared_query(win, of, &part.bytes, &part.unit, &part.data);
  return part;
}

void synchronise(MPI_Comm node, MPI_Win win) {
  MPI_Win_sync(win);
  MPI_Barrier(node);
  MPI_Win_sync(win);
}

// Rank i has i integers, so rank 0 has none.
void check_parts(MPI_Comm node, MPI_Win win, bool contiguous) {
  int size = 0;
  MPI_Comm_size(node, &size);
  const int* previous_end = nullptr;
  for (int i = 0; i < size; ++i) {
    const Part part = part_of(win, i);
    CHECK_EQUAL(part.bytes, MPI_Aint{4} * i);
    CHECK_EQUAL(part.unit, 4);
    for (int k = 0; k < i; ++k) CHECK_EQUAL(part.data[k], 100 * i + k);
    if (contiguous && i > 1) CHECK(part.data == previous_end);
    previous_end = part.data + i;
  }
  if (size == 1) return;
  const Part first = part_of(win, MPI_PROC_NULL);
  CHECK_EQUAL(first.bytes, MPI_Aint{4});
  CHECK_EQUAL(first.data[0], 100);
  MPI_Barrier(node);
  const int one = 1;
  MPI_Accumulate(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_flush(1, win);
  synchronise(node, win);
  CHECK_EQUAL(first.data[0], 100 + size);
}

void use_shared_window(MPI_Comm node, bool contiguous) {
  int place = 0;
  MPI_Comm_rank(node, &place);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", contiguous ? "false" : "true");
  int* data = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate_shared(MPI_Aint{4} * place, 4, info, node, &data, &win);
  int* flavor = nullptr;
  int found = 0;
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &found);
  CHECK(found != 0 && *flavor == MPI_WIN_FLAVOR_SHARED);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < place; ++i) data[i] = 100 * place + i;
  synchronise(node, win);
  check_parts(node, win, contiguous);
  synchronise(node, win);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Info_free(&info);
}

}  // namespace

CASE(shared_windows) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  use_shared_window(node, true);
  use_shared_window(node, false);
  MPI_Comm_free(&node);
}

// Processes that share no memory cannot have such a window.
CASE(shared_windows_are_for_one_node) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm all = MPI_COMM_NULL;
  int size = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  MPI_Win win = MPI_WIN_NULL;
  void* base = nullptr;
  int error_class = MPI_SUCCESS;
  MPI_Error_class(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, all, &base, &win), &error_class);
  CHECK_EQUAL(error_class, size == mpi_test::ranks ? MPI_SUCCESS : MPI_ERR_RMA_SHARED);
  if (error_class == MPI_SUCCESS) MPI_Win_free(&win);
  MPI_Comm_free(&all);
  MPI_Comm_free(&node);
}

// Only some processes allow parts that are not contiguous: then they are.
CASE(processes_that_disagree_on_contiguous_parts) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int place = 0;
  int size = 0;
  MPI_Comm_rank(node, &place);
  MPI_Comm_size(node, &size);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  if (place != 0) MPI_Info_set(info, "alloc_shared_noncontig", "true");
  int* data = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate_shared(MPI_Aint{4}, 4, info, node, &data, &win);
  const int* const first = part_of(win, 0).data;
  for (int i = 0; i < size; ++i) CHECK(part_of(win, i).data == first + i);
  CHECK(data == first + place);
  MPI_Info reported = MPI_INFO_NULL;
  char value[8] = "";
  int found = 0;
  MPI_Win_get_info(win, &reported);
  MPI_Info_get(reported, "alloc_shared_noncontig", 7, value, &found);
  CHECK(found != 0 && std::string(value) == "false");
  MPI_Info_free(&reported);
  MPI_Win_free(&win);
  MPI_Info_free(&info);
  MPI_Comm_free(&node);
}

// Every second part is empty: it has an address, where the next part begins.
CASE(empty_parts_have_a_place) {
  constexpr MPI_Aint kBytes = 400;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int place = 0;
  int size = 0;
  MPI_Comm_rank(node, &place);
  MPI_Comm_size(node, &size);
  for (const int full : {0, 1}) {
    char* data = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_allocate_shared(place % 2 == full ? kBytes : 0, 1, MPI_INFO_NULL, node, &data, &win);
    if (size > full) {
      MPI_Aint bytes = 0;
      int unit = 0;
      char* first = nullptr;
      MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first);
      CHECK(first != nullptr && bytes == kBytes);
      for (int i = 0; i < size; ++i) {
        char* part = nullptr;
        MPI_Win_shared_query(win, i, &bytes, &unit, &part);
        CHECK_EQUAL(bytes, i % 2 == full ? kBytes : 0);
        CHECK(part == first + (i + 1 - full) / 2 * kBytes);
        CHECK(i != place || part == data);
      }
    }
    MPI_Win_free(&win);
  }
  MPI_Comm_free(&node);
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
