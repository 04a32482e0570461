// A program of cases that all ranks run together. It uses MPI only, as a user's program does.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace mpi_test {

inline int rank = 0;
inline int ranks = 1;
inline int failures = 0;
inline const char* case_name = "";

inline int right(int distance = 1) { return (rank + distance) % ranks; }
inline int left(int distance = 1) { return (rank + ranks * distance - distance) % ranks; }

using Case = std::pair<const char*, void (*)()>;
inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}
struct Register {
  Register(const char* name, void (*function)()) { cases().push_back({name, function}); }
};

inline void check(bool holds, const char* what, const char* file, int line) {
  if (holds) return;
  ++failures;
  if (failures <= 10) std::fprintf(stderr, "[rank %d] %s:%d: %s: not true: %s\n", rank, file, line, case_name, what);
}
template <class A, class B>
void check_equal(const A& here, const B& expected, const char* what, const char* file, int line) {
  if (here == expected) return;
  const std::string text = std::string(what) + ", " + std::to_string(here) + " and " + std::to_string(expected);
  check(false, text.c_str(), file, line);
}

#define CASE(name)                                               \
  static void name();                                            \
  static const mpi_test::Register register_##name{#name, &name}; \
  static void name()
#define CHECK(what) mpi_test::check((what), #what, __FILE__, __LINE__)
#define CHECK_EQUAL(here, expected) \
  mpi_test::check_equal((here), (expected), #here " == " #expected, __FILE__, __LINE__)

// A window over MPI_COMM_WORLD, of memory that MPI allocates or of memory of the program's.
template <class T>
class TestWindow {
 public:
  enum class Memory { allocated, own };
  TestWindow(std::size_t count, Memory memory, T value = T(), MPI_Comm communicator = MPI_COMM_WORLD)
      : data(nullptr), own_(memory == Memory::own ? count : 0) {
    const auto bytes = static_cast<MPI_Aint>(count * sizeof(T));
    if (memory == Memory::own) {
      data = own_.data();
      MPI_Win_create(data, bytes, sizeof(T), MPI_INFO_NULL, communicator, &win);
    } else {
      MPI_Win_allocate(bytes, sizeof(T), MPI_INFO_NULL, communicator, &data, &win);
    }
    for (std::size_t i = 0; i < count; ++i) data[i] = value;
    MPI_Barrier(communicator);
  }
  ~TestWindow() { MPI_Win_free(&win); }
  TestWindow(const TestWindow&) = delete;
  TestWindow& operator=(const TestWindow&) = delete;

  T* data;
  MPI_Win win = MPI_WIN_NULL;

 private:
  std::vector<T> own_;
};

// Calls a function with windows of both kinds of memory.
template <class T, class Function>
void with_windows(std::size_t count, T value, Function function) {
  for (const auto memory : {TestWindow<T>::Memory::allocated, TestWindow<T>::Memory::own}) {
    TestWindow<T> window(count, memory, value);
    function(window);
  }
}

// Runs all cases, or those whose names contain the first argument.
inline int run(int argc, char** argv, int level = MPI_THREAD_SINGLE) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int count = 0;
  for (const auto& [name, function] : cases()) {
    if (argc > 1 && std::strstr(name, argv[1]) == nullptr) continue;
    case_name = name;
    function();
    MPI_Barrier(MPI_COMM_WORLD);
    ++count;
  }
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d cases on %d ranks, %d failures\n", count, ranks, all);
  MPI_Finalize();
  return all == 0 && count != 0 ? 0 : 1;
}

}  // namespace mpi_test
