// Collectives in the background: alltoall by size, and a reduction with one PE 20 ms late, while the others compute.
// Built for MPI, too, with BENCH_MPI.
//   background [--rounds n] [--case tasks_alltoall|tasks_late_reduce]
#include "processes.hpp"
#include "program.hpp"

namespace {
using namespace shmemx::bench;

constexpr long kLateMs = 20;
constexpr std::size_t kSizes[] = {8, 32, 128, 512};

#if defined(BENCH_MPI)
using Request = MPI_Request;
void wait(Request* request) { MPI_Wait(request, MPI_STATUS_IGNORE); }
void begin_sum(double* dest, const double* source, Request* request) {
  MPI_Iallreduce(source, dest, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}
void begin_alltoall(char* dest, const char* source, std::size_t bytes, Request* request) {
  const int count = static_cast<int>(bytes);
  MPI_Ialltoall(source, count, MPI_BYTE, dest, count, MPI_BYTE, MPI_COMM_WORLD, request);
}
#else
using Request = shmemx_request_t;
void wait(Request* request) { shmemx_wait(request, nullptr); }
void begin_sum(double* dest, const double* source, Request* request) {
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, dest, source, 1, SHMEMX_DOUBLE, SHMEMX_OP_SUM, request);
}
void begin_alltoall(char* dest, const char* source, std::size_t bytes, Request* request) {
  shmemx_alltoall_nb(SHMEM_TEAM_WORLD, dest, source, bytes, request);
}
#endif

void measure_alltoall(const Options& options) {
  for (const std::size_t bytes : kSizes) {
    std::vector<char> source(bytes * static_cast<std::size_t>(pes()), 1), dest(source.size());
    std::vector<double> times;
    synchronize();
    for (int i = 0; i < 10 * options.rounds; ++i) {
      Request request;
      const std::int64_t begin = now_ns();
      begin_alltoall(dest.data(), source.data(), bytes, &request);
      wait(&request);
      times.push_back(seconds_since(begin) * 1e6);
    }
    if (me() == 0) print_figure({"tasks_alltoall", bytes, "us", ""}, pes(), times, "");
  }
}

// Milliseconds that PE 0 computes of the 20 that the last PE is late, if it computes as long and then waits.
void measure_late_reduce(const Options& options) {
  std::vector<double> computed;
  for (int round = 0; round < options.rounds; ++round) {
    double source = 1, dest = 0;
    Request request;
    synchronize();
    const bool is_late = me() == pes() - 1;
    if (is_late) sleep_ms(kLateMs);
    const std::int64_t begin = now_ns();
    begin_sum(&dest, &source, &request);
    if (!is_late) compute_ns(kLateMs * 1'000'000);
    wait(&request);
    computed.push_back(static_cast<double>(kLateMs) * static_cast<double>(kLateMs) / (seconds_since(begin) * 1e3));
  }
  if (me() == 0) print_figure({"tasks_late_reduce", 8, "ms", "computed of 20 ms", true}, pes(), computed, "");
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  begin_job(&argc, &argv);
  if (options.wants("tasks_alltoall")) measure_alltoall(options);
  if (options.wants("tasks_late_reduce")) measure_late_reduce(options);
  end_job();
  return 0;
}
