// How soon does a PE that sleeps in a wait see a put that wakes nobody, and what does a long wait cost? The first half
// of the PEs puts the time into a word of its partner in the other half, after the partner has waited for a while. One
// line for each length of the wait: time from the put to the return of the wait; then the CPU time of a long wait.
#include <random>

#include "../support/cpu_time.hpp"
#include "../support/program.hpp"

namespace {
using namespace shmemx::bench;

struct Pair {
  Work& work;
  int partner;
  bool wakes;
  long* word() const { return reinterpret_cast<long*>(&work.shared->flag.value); }
};

// Both return when the put has been seen. The waiter returns the time since the put.
double wake_once(const Pair& pair, std::int64_t wait_us) {
  pair.work.job->sync();
  if (pair.wakes) {
    static std::minstd_rand random(static_cast<unsigned>(pair.work.pe) + 1);
    const std::int64_t us = wait_us + static_cast<std::int64_t>(random() % 1000);  // in no step with the waiter
    const timespec time{us / 1'000'000, us % 1'000'000 * 1000};
    nanosleep(&time, nullptr);
    shmem_long_p(pair.word(), now_ns(), pair.partner);
    shmem_quiet();
    return 0;
  }
  shmem_long_wait_until(pair.word(), SHMEM_CMP_NE, 0);
  const double us = static_cast<double>(now_ns() - *pair.word()) / 1000;
  *pair.word() = 0;
  return us;
}

std::string length(std::int64_t wait_ms) { return "waits " + std::to_string(wait_ms) + " ms"; }

bool reports(const Pair& pair) { return pair.work.pe == pair.work.pes / 2; }

void measure_wake(const Pair& pair, std::int64_t wait_ms, double budget_ms) {
  const auto rounds = std::max(5, static_cast<int>(budget_ms / static_cast<double>(wait_ms)));
  std::vector<double> us;
  for (int round = 0; round < rounds; ++round) us.push_back(wake_once(pair, 1000 * wait_ms));
  if (!reports(pair)) return;
  print_result({"net_rma_wake", pair.work.pes, 8, "us", length(wait_ms), "", summarize(us, false)});
}

void measure_cpu(const Pair& pair, double wait_ms) {
  const double cpu = cpu_ns();
  const std::int64_t begin = now_ns();
  wake_once(pair, static_cast<std::int64_t>(1000 * wait_ms));
  const double percent = 100 * (cpu_ns() - cpu) / static_cast<double>(now_ns() - begin);
  if (reports(pair))
    print_result({"net_rma_wait_cpu", pair.work.pes, 0, "%", length(static_cast<std::int64_t>(wait_ms)), "",
                  summarize({percent}, false)});
}
}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  Job job(options.pes, std::size_t{1} << 17);
  if (job.pes() % 2 != 0) die("net_rma_wake is for pairs of PEs");
  Work work = make_work(job, 4096);
  const int half = job.pes() / 2;
  const Pair pair{work, (job.pe() + half) % job.pes(), job.pe() < half};
  wake_once(pair, 1000);  // the first access asks for keys
  for (const std::int64_t wait_ms : {1, 10, 100, 1000}) measure_wake(pair, wait_ms, options.limits.budget_ms);
  measure_cpu(pair, options.limits.budget_ms);
  job.sync();
  return 0;
}
