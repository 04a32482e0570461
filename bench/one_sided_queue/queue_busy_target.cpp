// Measures operations that the target carries out, while the target computes without calling the library. Ours runs
// with SHMEMX_NODE_PATH=queue. The raw program wakes a thread of the computing process, which replies by a flag. One
// line for each operation and each of median, 99th percentile and maximum.
#include <array>

#include "../support/program.hpp"
#if defined(BENCH_RAW)
#include <linux/futex.h>
#include <sys/syscall.h>

#include <thread>

#include "../support/raw_gate.hpp"
#endif

namespace {
using namespace shmemx::bench;

#if defined(BENCH_RAW)

constexpr int kEnd = -1;

int* doorbell_of(Shared* shared) { return reinterpret_cast<int*>(&shared->flag.value); }

// In PE 1: sleeps until the doorbell rings, then sends the number back.
void answer_doorbell(Work& work) {
  int* doorbell = doorbell_of(work.shared);
  const std::atomic_ref number(*doorbell);
  for (int seen = 0;;) {
    syscall(SYS_futex, doorbell, FUTEX_WAIT, seen, nullptr, nullptr, 0);
    const int now = number.load();
    if (now == kEnd) return;
    if (now == seen) continue;
    seen = now;
    work.peer_shared->mailbox[0].sequence.store(seen, std::memory_order_release);  // edge `gate`
  }
}

void ring(Work& work, int number) {
  int* doorbell = doorbell_of(work.peer_shared);
  std::atomic_ref(*doorbell).store(number);
  syscall(SYS_futex, doorbell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void round_trip(Work& work) {
  ++work.sequence;
  ring(work, static_cast<int>(work.sequence));
  raw_await(work, work.shared->mailbox[0].sequence, work.sequence);
}

class Helper {
 public:
  explicit Helper(Work& work) : work_(work) {
    if (work.pe != 0) thread_ = std::thread(answer_doorbell, std::ref(work));
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  ~Helper() {
    work_.job->sync();
    if (work_.pe == 0) ring(work_, kEnd);
    if (thread_.joinable()) thread_.join();
  }

 private:
  Work& work_;
  std::thread thread_;
};

constexpr auto put = round_trip, get = round_trip, fetch_add = round_trip, put_signal = round_trip;

#else

// The library has a helper thread of its own.
struct Helper {
  explicit Helper(Work&) {}
};

void put(Work& work) {
  const long value = ++work.sequence;
  shmem_putmem(&work.shared->word.value, &value, sizeof value, work.peer);
  shmem_quiet();
}
void get(Work& work) { keep(shmem_long_g(&work.shared->word.value, work.peer)); }
void fetch_add(Work& work) { keep(shmem_long_atomic_fetch_add(&work.shared->value.value, 1, work.peer)); }
void put_signal(Work& work) {
  const long value = ++work.sequence;
  auto* signal = reinterpret_cast<std::uint64_t*>(&work.shared->flag.value);
  shmem_putmem_signal(&work.shared->word.value, &value, sizeof value, signal, static_cast<std::uint64_t>(value),
                      SHMEM_SIGNAL_SET, work.peer);
  shmem_quiet();
}

#endif

struct Operation {
  const char* name;
  void (*run)(Work&);
};
constexpr std::array kOperations = {Operation{"put + quiet", put}, Operation{"get", get},
                                    Operation{"fetch_add", fetch_add}, Operation{"put_signal + quiet", put_signal}};

void compute(std::int64_t ns) {
  const std::int64_t until = now_ns() + ns;
  while (now_ns() < until) {
  }
}

// Operations with pauses of 0 to 200 us between them: the target's helper is awake for some and asleep for others.
std::vector<double> latencies_us(Work& work, const Operation& operation, std::int64_t ns) {
  std::vector<double> samples;
  std::uint32_t random = 12345;
  const std::int64_t until = now_ns() + ns;
  while (now_ns() < until) {
    random = random * 1664525u + 1013904223u;
    compute((random >> 16) * 200'000ll >> 16);
    const std::int64_t begin = now_ns();
    operation.run(work);
    samples.push_back(static_cast<double>(now_ns() - begin) / 1000);
  }
  return samples;
}

void report(const Work& work, const Operation& operation, std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::pair<const char*, double> quantiles[] = {{"median", 0.5}, {"p99", 0.99}, {"maximum", 1}};
  for (const auto& [what, fraction] : quantiles) {
    const double value = quantile(samples, fraction);
    print_result({"queue_busy_target", work.pes, 8, "us", operation.name, what, {value, value, 0, samples.size()}});
  }
}

void measure(Work& work, const Operation& operation, double budget_ms) {
  const auto ns = static_cast<std::int64_t>(budget_ms * 1e6);
  work.job->sync();
  if (work.pe == 0) {
    compute(1'000'000);  // PE 1 has left the library by then
    report(work, operation, latencies_us(work, operation, ns));
  } else {
    compute(ns + 20'000'000);
  }
  work.job->sync();
}
}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  Job job(options.pes, std::size_t{1} << 17);
  if (job.pes() != 2) die("queue_busy_target is for two PEs");
  Work work = make_work(job, 4096);
  {
    Helper helper(work);  // before the pinning, as the library's helper: it may run on any CPU
    pin(options, job.pe(), job.pes());
    for (const Operation& operation : kOperations)
      if (options.only.empty() || options.only == operation.name) measure(work, operation, options.limits.budget_ms);
  }
  return 0;
}
