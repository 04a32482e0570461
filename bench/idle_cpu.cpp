// Measures the CPU time of a PE that is blocked in wait_until, in a barrier or in a lock. PE 1 sleeps and then
// releases PE 0. The raw programs sleep on a futex.
#include "support/cpu_time.hpp"
#include "support/program.hpp"
#if defined(BENCH_RAW)
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

namespace {
using namespace shmemx::bench;

struct Waiting {
  const char* name;
  void (*prepare)(Work&);  // PE 1, before PE 0 waits
  void (*wait)(Work&);     // PE 0
  void (*release)(Work&);  // PE 1
};

#if defined(BENCH_RAW)
void nothing(Work&) {}

void wait_futex(Work& work) {
  auto* word = reinterpret_cast<int*>(&work.shared->flag.value);
  const std::atomic_ref flag(*word);
  while (flag.load() == 0) syscall(SYS_futex, word, FUTEX_WAIT, 0, nullptr, nullptr, 0);
  flag.store(0);
}

void wake_futex(Work& work) {
  auto* word = reinterpret_cast<int*>(&work.peer_shared->flag.value);
  std::atomic_ref(*word).store(1);
  syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

constexpr Waiting kWaitings[] = {{"wait_until", nothing, wait_futex, wake_futex},
                                 {"barrier", nothing, wait_futex, wake_futex},
                                 {"lock", nothing, wait_futex, wake_futex}};
#else
void nothing(Work&) {}
void wait_word(Work& work) {
  shmem_long_wait_until(&work.shared->flag.value, SHMEM_CMP_EQ, 1);
  work.shared->flag.value = 0;
}
void set_word(Work& work) { shmem_long_p(&work.shared->flag.value, 1, work.peer); }
void barrier(Work&) { shmem_barrier_all(); }
void take_lock(Work& work) { shmem_set_lock(&work.shared->word.value); }
void give_lock(Work& work) { shmem_clear_lock(&work.shared->word.value); }
void take_and_give_lock(Work& work) {
  take_lock(work);
  give_lock(work);
}

constexpr Waiting kWaitings[] = {{"wait_until", nothing, wait_word, set_word},
                                 {"barrier", nothing, barrier, barrier},
                                 {"lock", take_lock, take_and_give_lock, give_lock}};
#endif

void measure(Work& work, const Waiting& waiting, double wait_ms) {
  if (work.pe == 1) waiting.prepare(work);
  work.job->sync();
  if (work.pe == 0) {
    const double cpu = cpu_ns();
    const std::int64_t begin = now_ns();
    waiting.wait(work);
    const double percent = 100 * (cpu_ns() - cpu) / static_cast<double>(now_ns() - begin);
    print_result({"idle_cpu", work.pes, 0, "%", waiting.name, "", summarize({percent}, false)});
  } else if (work.pe == 1) {
    sleep_ms(static_cast<long>(wait_ms));
    waiting.release(work);
  }
  work.job->sync();
}
}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  Job job(options.pes, std::size_t{1} << 17);
  Work work = make_work(job, 4096);
  pin(options, job.pe(), job.pes());
  job.sync();
  if (job.pes() != 2) die("idle_cpu is for two PEs");
  for (const Waiting& waiting : kWaitings)
    if (options.only.empty() || options.only == waiting.name) measure(work, waiting, options.limits.budget_ms);
  return 0;
}
