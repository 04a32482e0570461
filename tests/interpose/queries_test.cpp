// What windows tell about themselves, on communicators of any shape; many windows.
#include "mpi_test.hpp"

using mpi_test::left;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::right;
using mpi_test::TestWindow;
using mpi_test::with_windows;

namespace {

template <class T>
T attribute(MPI_Win win, int keyval) {
  void* value = nullptr;
  int found = 0;
  MPI_Win_get_attr(win, keyval, &value, &found);
  CHECK(found != 0);
  return found != 0 ? *static_cast<T*>(value) : T();
}

std::string hint(MPI_Win win, const char* key) {
  MPI_Info info = MPI_INFO_NULL;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int found = 0;
  MPI_Win_get_info(win, &info);
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
  MPI_Info_free(&info);
  return found != 0 ? value : "not there";
}

int deleted = 0;
int count_deletion(MPI_Win, int, void*, void*) {
  ++deleted;
  return MPI_SUCCESS;
}

}  // namespace

CASE(predefined_attributes) {
  with_windows<double>(17, 0, [](TestWindow<double>& window) {
    void* base = nullptr;
    int found = 0;
    MPI_Win_get_attr(window.win, MPI_WIN_BASE, &base, &found);
    CHECK(found != 0 && base == window.data);
    CHECK_EQUAL(attribute<MPI_Aint>(window.win, MPI_WIN_SIZE), MPI_Aint{17 * sizeof(double)});
    CHECK_EQUAL(attribute<int>(window.win, MPI_WIN_DISP_UNIT), 8);
    CHECK_EQUAL(attribute<int>(window.win, MPI_WIN_MODEL), MPI_WIN_UNIFIED);
    const int flavor = attribute<int>(window.win, MPI_WIN_CREATE_FLAVOR);
    CHECK(flavor == MPI_WIN_FLAVOR_CREATE || flavor == MPI_WIN_FLAVOR_ALLOCATE);
  });
}

// The window of the MPI below, which holds the handle, may have a base where this one has none.
CASE(windows_of_no_bytes_have_no_base) {
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  int something = 0;
  void* base = &something;
  int found = 0;
  MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &found);
  CHECK(found != 0 && base == nullptr);
  MPI_Win_free(&win);
}

CASE(names_groups_and_own_attributes) {
  int keyval = MPI_KEYVAL_INVALID;
  deleted = 0;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_deletion, &keyval, nullptr);
  with_windows<int>(1, 0, [&](TestWindow<int>& window) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    MPI_Win_set_name(window.win, "a window");
    MPI_Win_get_name(window.win, name, &length);
    CHECK(std::string(name) == "a window");
    MPI_Group group = MPI_GROUP_NULL;
    int size = 0;
    int place = -1;
    MPI_Win_get_group(window.win, &group);
    MPI_Group_size(group, &size);
    MPI_Group_rank(group, &place);
    CHECK_EQUAL(size, ranks);
    CHECK_EQUAL(place, rank);
    MPI_Group world = MPI_GROUP_NULL;
    int compared = MPI_UNEQUAL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &compared);
    CHECK_EQUAL(compared, MPI_IDENT);
    MPI_Group_free(&world);
    MPI_Group_free(&group);
    int value = 42;
    void* found_value = nullptr;
    int found = 0;
    MPI_Win_set_attr(window.win, keyval, &value);
    MPI_Win_get_attr(window.win, keyval, &found_value, &found);
    CHECK(found != 0 && found_value == &value);
  });
  CHECK_EQUAL(deleted, 2);
  MPI_Win_free_keyval(&keyval);
}

CASE(info_keys_are_reported) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "same_disp_unit", "true");
  MPI_Info_set(info, "accumulate_ordering", "none");
  MPI_Info_set(info, "accumulate_ops", "same_op");
  MPI_Info_set(info, "no_such_key", "1");
  int* data = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate(64, 4, info, MPI_COMM_WORLD, &data, &win);
  CHECK(hint(win, "same_disp_unit") == "true");
  CHECK(hint(win, "same_size") == "false");
  CHECK(hint(win, "accumulate_ops") == "same_op");
  CHECK(hint(win, "accumulate_ordering") == "none");
  CHECK(hint(win, "mpi_accumulate_granularity") == "0");
  CHECK(hint(win, "no_such_key") == "not there");
  MPI_Win_free(&win);
  for (const char* const wanted : {"8", "many", "9", "65536"}) {
    MPI_Info_set(info, "mpi_accumulate_granularity", wanted);
    MPI_Win_allocate(64, 4, info, MPI_COMM_WORLD, &data, &win);
    const bool is_large = std::string(wanted) == "9" || std::string(wanted) == "65536";
    CHECK(hint(win, "mpi_accumulate_granularity") == (is_large ? "4096" : "0"));
    MPI_Win_free(&win);
  }
  MPI_Info_free(&info);
}

CASE(info_keys_change) {
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  const auto set = [&](const char* key, const char* value) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
  };
  for (const char* const key : {"no_locks", "same_size", "same_disp_unit"}) {
    CHECK(hint(win, key) == "false");
    set(key, "true");
    CHECK(hint(win, key) == "true");
    set(key, "perhaps");
    CHECK(hint(win, key) == "true");
  }
  CHECK(hint(win, "accumulate_ordering") == "rar,raw,war,waw");
  set("accumulate_ordering", "rar,waw");
  CHECK(hint(win, "accumulate_ordering") == "rar,waw");
  set("accumulate_ordering", "rar,wow");
  CHECK(hint(win, "accumulate_ordering") == "rar,waw");
  set("accumulate_ops", "same_op");
  CHECK(hint(win, "accumulate_ops") == "same_op");
  MPI_Win_free(&win);
}

// Memory does not move: what it is when the window is created stays true.
CASE(info_keys_on_memory_stay) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096");
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  long memory[2] = {};
  void* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create(memory, sizeof memory, 8, info, MPI_COMM_WORLD, &win);
  CHECK(hint(win, "mpi_minimum_memory_alignment") == "not there");
  CHECK(hint(win, "alloc_shared_noncontig") == "not there");
  MPI_Win_set_info(win, info);
  CHECK(hint(win, "mpi_minimum_memory_alignment") == "not there");
  MPI_Win_free(&win);
  MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_set_info(win, info);
  CHECK(hint(win, "mpi_minimum_memory_alignment") == "64");
  MPI_Win_free(&win);
  MPI_Win_allocate_shared(8, 8, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win);
  CHECK(hint(win, "alloc_shared_noncontig") == "false");
  MPI_Win_set_info(win, info);  // the permission changes, the memory does not
  CHECK(hint(win, "alloc_shared_noncontig") == "true");
  MPI_Win_free(&win);
  MPI_Info_free(&info);
}

CASE(windows_of_parts_of_the_world) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);  // in reverse order
  int place = 0;
  int size = 0;
  MPI_Comm_rank(part, &place);
  MPI_Comm_size(part, &size);
  for (int round = 0; round < 3; ++round) {
    TestWindow<int> window(8, TestWindow<int>::Memory::allocated, -1, part);
    MPI_Win_fence(0, window.win);
    MPI_Put(&rank, 1, MPI_INT, (place + 1) % size, 5, 1, MPI_INT, window.win);
    MPI_Win_fence(0, window.win);
    const int previous = (place + size - 1) % size;
    CHECK_EQUAL(window.data[5], rank % 2 + 2 * (size - 1 - previous));
  }
  MPI_Comm_free(&part);
}

// Different sizes and units, none at some, and several windows at once.
CASE(each_rank_has_its_own_size_and_unit) {
  const int unit = rank % 2 == 0 ? 8 : 1;
  const MPI_Aint bytes = rank % 3 == 0 ? 0 : 64 * rank;
  long* data = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &data, &win);
  TestWindow<int> other(1, TestWindow<int>::Memory::own, -1);
  MPI_Win_fence(0, win);
  MPI_Win_fence(0, other.win);
  const long sent = rank;
  if (right() % 3 != 0) MPI_Put(&sent, 1, MPI_LONG, right(), right() % 2 == 0 ? 2 : 16, 1, MPI_LONG, win);
  MPI_Put(&rank, 1, MPI_INT, left(), 0, 1, MPI_INT, other.win);
  MPI_Win_fence(0, win);
  MPI_Win_fence(0, other.win);
  if (rank % 3 != 0) CHECK_EQUAL(data[2], long{left()});
  CHECK_EQUAL(other.data[0], right());
  MPI_Win_free(&win);
}

// Thousands only where they cost microseconds.
CASE(windows_after_windows) {
  const int count = ranks <= 2 ? 10'000 : 100;
  for (int i = 0; i < count; ++i) {
    TestWindow<int> window(16, i % 2 == 0 ? TestWindow<int>::Memory::allocated : TestWindow<int>::Memory::own, i);
    MPI_Win_fence(0, window.win);
    MPI_Put(&rank, 1, MPI_INT, right(), i % 16, 1, MPI_INT, window.win);
    MPI_Win_fence(0, window.win);
    CHECK_EQUAL(window.data[i % 16], left());
  }
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
