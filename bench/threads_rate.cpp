// Measures whether threads with contexts of their own disturb each other. One and two threads of PE 0 put words of 8
// bytes to PE 1, each through its private context; PE 1 sleeps. Prints the rate of one thread (k=1) and of two
// together (k=2).
#include <array>
#include <thread>

#include "support/program.hpp"

namespace {
using namespace shmemx::bench;

constexpr long kWindow = 64;
constexpr long kWindows = 4000;
constexpr int kThreads = 2;

#if defined(BENCH_RAW)
void put_windows(Work& work, int thread) {
  volatile long* dest = work.peer_words() + 1024 * thread;
  for (long i = 0; i < kWindows; ++i) {
    for (long k = 0; k < kWindow; ++k) dest[k] = i;
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}
#else
std::array<shmem_ctx_t, kThreads> contexts;

void put_windows(Work& work, int thread) {
  long* dest = work.words() + 1024 * thread;
  const shmem_ctx_t context = contexts[static_cast<std::size_t>(thread)];
  for (long i = 0; i < kWindows; ++i) {
    for (long k = 0; k < kWindow; ++k) shmem_ctx_long_p(context, &dest[k], i, work.peer);
    shmem_ctx_quiet(context);
  }
}
#endif

struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// Threads begin together, after all have a core; the sample lasts from the first begin to the last end.
double sample(Work& work, const Options& options, int threads) {
  std::atomic<int> arrived{0};
  std::array<Span, kThreads> spans;
  std::vector<std::thread> crew;
  for (int thread = 0; thread < threads; ++thread)
    crew.emplace_back([&, thread] {
      pin(options, thread, threads);
      put_windows(work, thread);
      ++arrived;
      while (arrived.load() < threads) sched_yield();
      Span& span = spans[static_cast<std::size_t>(thread)];
      span.begin = now_ns();
      put_windows(work, thread);
      span.end = now_ns();
    });
  for (std::thread& thread : crew) thread.join();
  Span all = spans[0];
  for (int thread = 1; thread < threads; ++thread) {
    all.begin = std::min(all.begin, spans[static_cast<std::size_t>(thread)].begin);
    all.end = std::max(all.end, spans[static_cast<std::size_t>(thread)].end);
  }
  return static_cast<double>(threads * kWindows * kWindow) * 1000 / static_cast<double>(all.end - all.begin);
}

void measure(Work& work, const Options& options) {
  std::array<std::vector<double>, kThreads> rates;
  const std::int64_t end = now_ns() + static_cast<std::int64_t>(options.limits.budget_ms * 1e6);
  do {
    for (int threads = 1; threads <= kThreads; ++threads)
      rates[static_cast<std::size_t>(threads - 1)].push_back(sample(work, options, threads));
  } while (now_ns() < end);
  for (int threads = 1; threads <= kThreads; ++threads)
    print_result({"threads_rate", work.pes, 8, "Mops/s", "k=" + std::to_string(threads), "",
                  summarize(rates[static_cast<std::size_t>(threads - 1)], true)});
}

// PE 1 may be on another node.
void tell_end(Work& work) {
#if defined(BENCH_RAW)
  std::atomic_ref(work.peer_shared->flag.value).store(1);
#else
  shmem_long_p(&work.shared->flag.value, 1, work.peer);
  shmem_quiet();
#endif
}

void run(const Options& options) {
  Job job(options.pes, std::size_t{1} << 17);
  Work work = make_work(job, std::size_t{1} << 15);
#if !defined(BENCH_RAW)
  for (shmem_ctx_t& context : contexts)
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &context) != 0) die("no private context");
#endif
  job.sync();
  if (job.pe() == 0) {
    measure(work, options);
    tell_end(work);
  } else {
    while (std::atomic_ref(work.shared->flag.value).load() == 0) sleep_ms(1);
  }
#if !defined(BENCH_RAW)
  for (shmem_ctx_t context : contexts) shmem_ctx_destroy(context);
#endif
  job.sync();
}
}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
#if !defined(BENCH_RAW)
  int provided = 0;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  if (provided != SHMEM_THREAD_MULTIPLE) die("threads_rate: the library does not give SHMEM_THREAD_MULTIPLE");
#endif
  run(options);
  return 0;
}
