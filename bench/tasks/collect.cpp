// fcollect by size: which algorithm it takes between nodes is a variable of the environment. Built for MPI, too, with
// BENCH_MPI: MPI_Allgather.
//   collect [--rounds n]
#include "processes.hpp"
#include "program.hpp"

namespace {
using namespace shmemx::bench;

constexpr std::size_t kSizes[] = {8, 1024, 16384, 131072};  // of each PE
constexpr std::size_t kMostBytes = 131072;

#if defined(BENCH_MPI)
char* allocate(std::size_t bytes) { return static_cast<char*>(std::calloc(bytes, 1)); }
void collect(char* dest, const char* source, std::size_t bytes) {
  const int count = static_cast<int>(bytes);
  MPI_Allgather(source, count, MPI_BYTE, dest, count, MPI_BYTE, MPI_COMM_WORLD);
}
#else
char* allocate(std::size_t bytes) { return static_cast<char*>(shmem_calloc(bytes, 1)); }
void collect(char* dest, const char* source, std::size_t bytes) {
  shmem_char_fcollect(SHMEM_TEAM_WORLD, dest, source, bytes);
}
#endif

// Microseconds of one of several, which follow each other.
double measure(char* dest, const char* source, std::size_t bytes, int count) {
  synchronize();
  const std::int64_t begin = now_ns();
  for (int i = 0; i < count; ++i) collect(dest, source, bytes);
  synchronize();
  return seconds_since(begin) * 1e6 / count;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  begin_job(&argc, &argv);
  char* const source = allocate(kMostBytes);
  char* const dest = allocate(kMostBytes * static_cast<std::size_t>(pes()));
  for (const std::size_t bytes : kSizes) {
    const int count = options.rounds <= 1 ? 2 : bytes > 16384 ? 10 : 50;
    measure(dest, source, bytes, 2);  // not counted: connections and memory
    std::vector<double> samples;
    for (int round = 0; round < options.rounds; ++round) samples.push_back(measure(dest, source, bytes, count));
    if (me() == 0) print_figure({"tasks_fcollect", bytes, "us", ""}, pes(), samples, "");
  }
  end_job();
  return 0;
}
