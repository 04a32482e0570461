// What a stream of long puts costs the PE that receives it, as in the Open-MX paper's figures on the receive copy: CPU
// time of the calling thread and of the whole process, by wall time, and the time that copying the same bytes once
// takes, by the CPU time of the process. The payloads are handled by the caller, which waits in the library, or by the
// progress thread while the caller sleeps. SHMEMX_PROGRESS=off leaves the first only. Times of the other PE are not
// included; what the kernel does to deliver a frame belongs to whoever runs at that moment.
//   net_receive_* of two PEs on two hosts; --budget is the time of each line.
#include <algorithm>
#include <vector>

#include "../support/cpu_time.hpp"
#include "../support/program.hpp"

namespace {
using namespace shmemx::bench;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kSizes[] = {4 * kKiB, 32 * kKiB, 64 * kKiB, 256 * kKiB, 1024 * kKiB, 4096 * kKiB};
constexpr std::size_t kLongest = 4096 * kKiB;

struct CpuTime {
  double caller_ns, process_ns;
};

CpuTime cpu_now() { return {cpu_ns(RUSAGE_THREAD), cpu_ns(RUSAGE_SELF)}; }

struct Handling {
  const char* name;
  bool caller_waits;
};
constexpr Handling kHandlings[] = {{"caller", true}, {"progress thread", false}};

// Nanoseconds to copy `bytes` once to `dest`, which is as it is after a receive, from a small area as that of frames
// which have just arrived.
double copy_ns(Work& work, std::size_t bytes) {
  constexpr int kTimes = 16;
  constexpr std::size_t kArea = 128 * kKiB;
  static std::vector<std::byte> area(kArea, std::byte{1});
  const std::int64_t begin = now_ns();
  for (int i = 0; i < kTimes; ++i)
    for (std::size_t at = 0; at < bytes; at += kArea) {
      std::memcpy(work.dest + at, area.data(), std::min(kArea, bytes - at));
      forget_memory();
    }
  return static_cast<double>(now_ns() - begin) / kTimes;
}

// PE 0: puts for the time, then says how many.
void send_for(Work& work, std::size_t bytes, double budget_ms) {
  const std::int64_t until = now_ns() + static_cast<std::int64_t>(budget_ms * 1e6);
  long count = 0;
  do {
    shmem_putmem(work.dest, work.source, bytes, work.peer);
    ++count;
  } while (now_ns() < until);
  shmem_quiet();
  shmem_long_p(&work.shared->value.value, count, work.peer);
  shmem_fence();
  shmem_long_p(&work.shared->flag.value, 1, work.peer);
}

long receive_all(Work& work, const Handling& handling) {
  volatile long* const flag = &work.shared->flag.value;
  if (handling.caller_waits) {
    shmem_long_wait_until(&work.shared->flag.value, SHMEM_CMP_EQ, 1);
  } else {
    while (*flag == 0) sleep_ms(1);
  }
  *flag = 0;
  return work.shared->value.value;
}

void print(const Work& work, std::size_t bytes, const char* name, const char* unit, const Handling& handling,
           double value) {
  print_result({name, work.pes, bytes, unit, handling.name, "", summarize({value}, false)});
}

void measure(Work& work, std::size_t bytes, const Handling& handling, double budget_ms) {
  work.job->sync();
  if (work.pe == 0) send_for(work, bytes, budget_ms);
  if (work.pe == 1) {
    const CpuTime before = cpu_now();
    const std::int64_t begin = now_ns();
    const long count = receive_all(work, handling);
    const double wall = static_cast<double>(now_ns() - begin);
    const CpuTime after = cpu_now();
    const double process = after.process_ns - before.process_ns;
    const double all_bytes = static_cast<double>(count) * static_cast<double>(bytes);
    print(work, bytes, "eth_receive_rate", "GB/s", handling, all_bytes / wall);
    print(work, bytes, "eth_receive_caller_cpu", "%", handling, 100 * (after.caller_ns - before.caller_ns) / wall);
    print(work, bytes, "eth_receive_process_cpu", "%", handling, 100 * process / wall);
    const double copies = static_cast<double>(count) * copy_ns(work, bytes);
    print(work, bytes, "eth_receive_copy", "%", handling, 100 * copies / std::max(process, 1.0));
  }
  work.job->sync();
}

bool has_progress_thread() {
  const char* const progress = std::getenv("SHMEMX_PROGRESS");
  return progress == nullptr || std::strcmp(progress, "off") != 0;
}
}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  Job job(options.pes, 2 * kLongest + (std::size_t{1} << 17));
  if (job.pes() != 2) die("receive_cpu is for two PEs");
  Work work = make_work(job, kLongest);
  pin(options, job.pe(), job.pes());
  for (const Handling& handling : kHandlings)
    for (const std::size_t bytes : kSizes)
      if (handling.caller_waits || has_progress_thread()) measure(work, bytes, handling, options.limits.budget_ms);
  return 0;
}
