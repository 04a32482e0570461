// Goodput of puts of 1 MiB: all bytes that are complete, by the time that they took, so that a pause after a loss
// counts. PE 0 puts to PE 1, which waits in the library. Jobs that are to compete start together: BENCH_START_NS names
// the moment on the machine's monotonic clock.
#include "../support/program.hpp"

namespace {
using namespace shmemx::bench;

constexpr std::size_t kBytes = std::size_t{1} << 20;
constexpr int kAtOnce = 4;  // puts until they are known to be complete

void await_start() {
  const char* const start = std::getenv("BENCH_START_NS");
  if (start == nullptr) return;
  const std::int64_t at = std::atoll(start);
  if (now_ns() > at) die("the job was not ready at the common start");
  while (now_ns() < at) sleep_ms(1);
}

// Returns megabytes per second.
double put_for(Work& work, double budget_ms) {
  const std::int64_t begin = now_ns();
  const std::int64_t until = begin + static_cast<std::int64_t>(budget_ms * 1e6);
  double bytes = 0;
  while (now_ns() < until) {
    for (int i = 0; i < kAtOnce; ++i) shmem_putmem(work.dest, work.source, kBytes, 1);
    shmem_quiet();
    bytes += static_cast<double>(kAtOnce * kBytes);
  }
  return bytes / static_cast<double>(now_ns() - begin) * 1e3;
}

void measure(Work& work, double budget_ms) {
  if (work.pe == 0) {
    const double rate = put_for(work, budget_ms);
    print_result({"eth_goodput", work.pes, kBytes, "MB/s", "", "", summarize({rate}, true)});
    shmem_long_p(&work.shared->flag.value, 1, 1);
  } else if (work.pe == 1) {
    shmem_long_wait_until(&work.shared->flag.value, SHMEM_CMP_EQ, 1);
  }
}
}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  Job job(options.pes, 2 * kBytes + (std::size_t{1} << 17));
  if (job.pes() < 2) die("goodput takes two PEs");
  Work work = make_work(job, kBytes);
  work.job->sync();
  shmem_putmem(work.dest, work.source, kBytes, work.peer);  // the route is open when the time begins
  work.job->sync();
  await_start();
  measure(work, options.limits.budget_ms);
  work.job->sync();
  return 0;
}
