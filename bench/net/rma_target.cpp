// Measures puts and gets of 8 bytes while the target sleeps in a wait, polls, or computes without calling the library:
// over a network that needs no CPU of the target these differ by the core that it leaves to others. One line for each
// operation and each target: mean time.
#include <array>

#include "../support/program.hpp"

namespace {
using namespace shmemx::bench;

void put(Work& work) {
  const long value = ++work.sequence;
  shmem_putmem(&work.shared->word.value, &value, sizeof value, work.peer);
  shmem_quiet();
}
void get(Work& work) { keep(shmem_long_g(&work.shared->word.value, work.peer)); }

struct Operation {
  const char* name;
  void (*run)(Work&);
};
constexpr std::array kOperations = {Operation{"net_rma_put_busy", put}, Operation{"net_rma_get_busy", get}};

void compute(std::int64_t ns) {
  const std::int64_t until = now_ns() + ns;
  while (now_ns() < until) {
  }
}

long* flag_of(Work& work) { return reinterpret_cast<long*>(&work.shared->flag.value); }

struct Target {
  const char* name;
  bool is_ended;  // by a put of PE 0
  void (*act)(Work&, long round, std::int64_t ns);
};
void sleep_in_wait(Work& work, long round, std::int64_t) { shmem_long_wait_until(flag_of(work), SHMEM_CMP_EQ, round); }
void poll(Work& work, long round, std::int64_t) {
  while (shmem_long_test(flag_of(work), SHMEM_CMP_EQ, round) == 0) continue;
}
void compute_alone(Work&, long, std::int64_t ns) { compute(ns + 20'000'000); }

constexpr std::array kTargets = {Target{"target waits", true, sleep_in_wait}, Target{"target polls", true, poll},
                                 Target{"target computes", false, compute_alone}};

void report(Work& work, const Operation& operation, const Target& target, std::int64_t ns) {
  std::size_t count = 0;
  const std::int64_t begin = now_ns();
  std::int64_t end = begin;
  for (; end - begin < ns; end = now_ns()) {
    operation.run(work);
    ++count;
  }
  const double mean_us = static_cast<double>(end - begin) / 1000 / static_cast<double>(count);
  print_result({operation.name, work.pes, 8, "us", target.name, "", {mean_us, mean_us, 0, count}});
}

void measure(Work& work, const Operation& operation, const Target& target, double budget_ms) {
  static long round = 0;
  ++round;
  const auto ns = static_cast<std::int64_t>(budget_ms * 1e6);
  if (work.pe == 0) operation.run(work);  // the first access asks for keys
  work.job->sync();
  if (work.pe == 0) {
    compute(5'000'000);  // PE 1 sleeps by then, or has left the library
    report(work, operation, target, ns);
    if (target.is_ended) shmem_long_p(flag_of(work), round, work.peer);
    shmem_quiet();
  } else {
    target.act(work, round, ns);
  }
  work.job->sync();
}
}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  Job job(options.pes, std::size_t{1} << 17);
  if (job.pes() != 2) die("net_rma_target is for two PEs");
  Work work = make_work(job, 4096);
  pin(options, job.pe(), job.pes());
  for (const Operation& operation : kOperations) {
    for (const Target& target : kTargets) measure(work, operation, target, options.limits.budget_ms);
  }
  return 0;
}
