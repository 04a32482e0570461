// Datatypes of very many blocks.
#include <sys/resource.h>

#include "mpi_test.hpp"

using mpi_test::left;
using mpi_test::rank;
using mpi_test::right;
using mpi_test::TestWindow;
using mpi_test::with_windows;

namespace {

long resident_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class;
}

}  // namespace

// A thousand million blocks are as good as two: here the window ends before them.
CASE(long_vectors_need_no_memory) {
  TestWindow<char> window(64, TestWindow<char>::Memory::allocated, 0);
  MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Datatype plane = MPI_DATATYPE_NULL;
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  const int sizes[] = {40'000, 2, 40'000};
  const int parts[] = {40'000, 1, 39'999};
  const int starts[] = {0, 1, 1};
  MPI_Type_vector(1'000'000'000, 1, 2, MPI_CHAR, &vector);
  MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_CHAR, &plane);
  MPI_Type_dup(vector, &copy);
  const char data[64] = {};
  const long before = resident_kib();
  MPI_Win_lock_all(0, window.win);
  for (MPI_Datatype* const type : {&vector, &plane, &copy}) {
    MPI_Type_commit(type);
    CHECK_EQUAL(class_of(MPI_Put(data, 1, *type, right(), 0, 1, *type, window.win)), MPI_ERR_RMA_RANGE);
    CHECK_EQUAL(class_of(MPI_Put(data, 1, *type, right(), 0, 0, *type, window.win)), MPI_ERR_TYPE);
    MPI_Type_free(type);
  }
  MPI_Win_unlock_all(window.win);
  CHECK(resident_kib() - before < 100'000);
}

namespace {

// Regular types that are too long for a list of their blocks.
struct Regular {
  static constexpr int kRows = 300;
  static constexpr int kColumns = 500;
  static constexpr int kWords = kRows * kColumns;
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Datatype up = MPI_DATATYPE_NULL;     // each second word
  MPI_Datatype cube = MPI_DATATYPE_NULL;   // each second column of Fortran
  MPI_Datatype pairs = MPI_DATATYPE_NULL;  // two words of four
  std::vector<short> data;

  Regular() : data(2 * kWords) {
    const int sizes[] = {kRows, 2, kColumns};
    const int parts[] = {kRows, 1, kColumns};
    const int starts[] = {0, 1, 0};
    MPI_Type_vector(kColumns, 1, 2, MPI_SHORT, &vector);
    MPI_Type_create_hvector(kRows, 1, 4L * kColumns, vector, &up);
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_SHORT, &cube);
    MPI_Type_vector(kWords / 2, 2, 4, MPI_SHORT, &pairs);
    for (MPI_Datatype* const type : {&cube, &up, &pairs}) MPI_Type_commit(type);
    for (int i = 0; i < 2 * kWords; ++i) data[static_cast<std::size_t>(i)] = word(i, rank);
  }
  ~Regular() {
    for (MPI_Datatype* const type : {&cube, &vector, &up, &pairs}) MPI_Type_free(type);
  }
  Regular(const Regular&) = delete;
  Regular& operator=(const Regular&) = delete;

  static short word(int i, int of) { return static_cast<short>(i % 30'011 + of); }
  static int in_pairs(int k) { return k / 2 * 4 + k % 2; }
  static int in_cube(int k) { return k / kRows * 2 * kRows + kRows + k % kRows; }

  template <class Expected>
  static int count_wrong(const short* words, int count, Expected expected) {
    int wrong = 0;
    for (int i = 0; i < count; ++i) wrong += words[i] == expected(i) ? 0 : 1;
    return wrong;
  }
};

}  // namespace

CASE(regular_types_of_many_blocks) {
  const Regular regular;
  with_windows<short>(2 * Regular::kWords, -1, [&](TestWindow<short>& window) {
    const int count = 2 * Regular::kWords;
    MPI_Win_fence(0, window.win);
    MPI_Put(regular.data.data(), Regular::kWords, MPI_SHORT, right(), 0, 1, regular.up, window.win);
    MPI_Win_fence(0, window.win);
    const auto put = [](int i) { return i % 2 == 0 ? Regular::word(i / 2, left()) : short{-1}; };
    CHECK_EQUAL(Regular::count_wrong(window.data, count, put), 0);
    MPI_Win_fence(0, window.win);
    MPI_Accumulate(regular.data.data(), 1, regular.pairs, right(), 0, 1, regular.up, MPI_REPLACE, window.win);
    MPI_Win_fence(0, window.win);
    const auto replaced = [](int i, int of) {
      return i % 2 == 0 ? Regular::word(Regular::in_pairs(i / 2), of) : short{-1};
    };
    CHECK_EQUAL(Regular::count_wrong(window.data, count, [&](int i) { return replaced(i, left()); }), 0);
    std::vector<short> got(2 * Regular::kWords, -3);
    MPI_Get(got.data(), 1, regular.up, right(), 0, 1, regular.cube, window.win);
    MPI_Win_fence(0, window.win);
    const auto read = [&](int i) { return i % 2 == 0 ? replaced(Regular::in_cube(i / 2), rank) : short{-3}; };
    CHECK_EQUAL(Regular::count_wrong(got.data(), count, read), 0);
  });
}

// A type whose blocks are in no order: it is refused if a list of them would be enormous.
CASE(too_many_irregular_blocks_are_refused) {
  TestWindow<char> window(64, TestWindow<char>::Memory::allocated, 0);
  MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Datatype mixed = MPI_DATATYPE_NULL;
  MPI_Type_vector(1'000'000'000, 1, 2, MPI_CHAR, &vector);
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {4'000'000'000, 0};
  MPI_Type_create_hindexed(2, lengths, places, vector, &mixed);
  MPI_Type_commit(&mixed);
  const char data = 0;
  MPI_Win_lock_all(0, window.win);
  CHECK_EQUAL(class_of(MPI_Put(&data, 1, mixed, right(), 0, 1, mixed, window.win)), MPI_ERR_NO_MEM);
  CHECK_EQUAL(class_of(MPI_Accumulate(&data, 1, mixed, right(), 0, 1, mixed, MPI_REPLACE, window.win)), MPI_ERR_NO_MEM);
  MPI_Win_unlock_all(window.win);
  MPI_Type_free(&mixed);
  MPI_Type_free(&vector);
}

CASE(too_many_parts_of_distributed_arrays_are_refused) {
  TestWindow<char> window(64, TestWindow<char>::Memory::allocated, 0);
  MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
  MPI_Datatype cyclic = MPI_DATATYPE_NULL;
  const int size = 80'000'000;
  const int how = MPI_DISTRIBUTE_CYCLIC;
  const int argument = MPI_DISTRIBUTE_DFLT_DARG;
  const int processes = 2;
  MPI_Type_create_darray(2, 1, 1, &size, &how, &argument, &processes, MPI_ORDER_C, MPI_CHAR, &cyclic);
  MPI_Type_commit(&cyclic);
  const char data = 0;
  MPI_Win_lock_all(0, window.win);
  CHECK_EQUAL(class_of(MPI_Put(&data, 1, cyclic, right(), 0, 1, cyclic, window.win)), MPI_ERR_NO_MEM);
  MPI_Win_unlock_all(window.win);
  MPI_Type_free(&cyclic);
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
