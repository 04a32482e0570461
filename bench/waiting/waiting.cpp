// Measures waiting and polling loops of PEs on cores of their own, on cores shared with other programs, and with more
// PEs than cores. Uses OpenSHMEM 1.4 only, so that it builds with other libraries.
// waiting [--case NAME] [--ms N] prints one line for each case: name, PEs, mean and best batch (or median) in
// microseconds.
#include <shmem.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../support/clock.hpp"
#include "../support/stats.hpp"

namespace {
using shmemx::bench::median_of;
using shmemx::bench::now_ns;
using shmemx::bench::sleep_ms;

constexpr int kBatch = 64;
constexpr double kWorkUs = 20;

int me;
int n_pes;
std::int64_t duration_ns = 500'000'000;

struct Words {
  alignas(128) long token;
  alignas(128) long stop;
  alignas(128) long count;
  alignas(128) long never;
};
Words* words;

void report(const char* name, double mean_us, double best_us) {
  std::printf("%s,%d,%.3f,%.3f\n", name, n_pes, mean_us, best_us);
  std::fflush(stdout);
}

void wait_token(long value) { shmem_long_wait_until(&words->token, SHMEM_CMP_GE, value); }
void test_token(long value) {
  while (shmem_long_test(&words->token, SHMEM_CMP_GE, value) == 0) {
  }
}
void get_own(long value) {
  while (shmem_long_g(&words->token, me) < value) {
  }
}
void fetch_own(long value) {
  while (shmem_long_atomic_fetch(&words->token, me) < value) {
  }
}
// The token is on the PE before this one.
void get_neighbour(long value) {
  while (shmem_long_g(&words->token, (me + n_pes - 1) % n_pes) < value) {
  }
}
void swap_own(long value) {
  while (shmem_long_atomic_compare_swap(&words->token, value, value, me) != value) {
  }
}

// Passes a token round among `members` PEs; a hop is one pass from PE to PE. The last value sent ends the case.
struct Ring {
  const char* name;
  void (*await)(long value);
  bool on_neighbour;
  int members;  // 0: all
};
constexpr Ring kRings[] = {
    {"pingpong", wait_token, false, 2},           {"ring wait_until", wait_token, false, 0},
    {"ring test", test_token, false, 0},          {"ring g own", get_own, false, 0},
    {"ring g neighbour", get_neighbour, true, 0}, {"ring atomic_fetch", fetch_own, false, 0},
    {"ring compare_swap", swap_own, false, 0},
};

void pass(const Ring& ring, long value, int members) {
  const int to = ring.on_neighbour ? me : (me + 1) % members;
  shmem_long_p(&words->token, value, to);
}

void run_ring(const Ring& ring) {
  const int members = ring.members == 0 ? n_pes : ring.members;
  words->token = words->stop = 0;
  shmem_barrier_all();
  if (me < members && members > 1) {
    double best = 1e12;
    long turns = 0;
    const std::int64_t begin = now_ns();
    std::int64_t batch_begin = begin;
    for (long turn = 1;; ++turn) {
      if (me == 0) {
        const std::int64_t now = now_ns();
        if (turn % kBatch == 0) {
          best = std::min(best, static_cast<double>(now - batch_begin) / kBatch);
          batch_begin = now;
        }
        const bool last = now - begin > duration_ns;
        if (last) {
          for (int pe = 0; pe < members; ++pe) shmem_long_p(&words->stop, turn, pe);
          shmem_fence();
        }
        pass(ring, turn, members);
        ring.await(turn);
        turns = turn;
        if (last) break;
      } else {
        ring.await(turn);
        pass(ring, turn, members);
        if (words->stop == turn) break;
      }
    }
    if (me == 0) {
      const double hops = static_cast<double>(turns) * members;
      report(ring.name, static_cast<double>(now_ns() - begin) / hops / 1e3, best / members / 1e3);
    }
  }
  shmem_barrier_all();
}

void run_barrier() {
  shmem_barrier_all();
  words->stop = 0;
  shmem_barrier_all();
  const std::int64_t begin = now_ns();
  std::int64_t batch_begin = begin;
  double best = 1e12;
  long turns = 0;
  for (;; ++turns) {
    if (me == 0 && turns % kBatch == kBatch - 1) {
      const std::int64_t now = now_ns();
      best = std::min(best, static_cast<double>(now - batch_begin) / kBatch);
      batch_begin = now;
      if (now - begin > duration_ns)
        for (int pe = 0; pe < n_pes; ++pe) shmem_long_p(&words->stop, 1, pe);
    }
    shmem_barrier_all();
    if (turns % kBatch == kBatch - 1 && words->stop != 0) break;
  }
  if (me == 0) report("barrier", static_cast<double>(now_ns() - begin) / static_cast<double>(turns) / 1e3, best / 1e3);
  shmem_barrier_all();
}

// PE 0 polls between pieces of work of 20 us; the others wait for the end in a polling loop or in wait_until.
void run_polling(const char* name, bool others_poll) {
  words->stop = 0;
  shmem_barrier_all();
  if (me == 0) {
    std::vector<double> samples;
    const std::int64_t begin = now_ns();
    std::int64_t before = begin;
    while (before - begin < duration_ns) {
      while (now_ns() - before < static_cast<std::int64_t>(kWorkUs * 1e3)) {
      }
      if (shmem_long_test(&words->never, SHMEM_CMP_NE, 0) != 0) std::abort();
      const std::int64_t after = now_ns();
      samples.push_back(static_cast<double>(after - before) / 1e3);
      before = after;
    }
    report(name, static_cast<double>(before - begin) / static_cast<double>(samples.size()) / 1e3, median_of(samples));
    for (int pe = 1; pe < n_pes; ++pe) shmem_long_p(&words->stop, 1, pe);
  } else if (others_poll) {
    while (shmem_long_test(&words->stop, SHMEM_CMP_NE, 0) == 0) {
    }
  } else {
    shmem_long_wait_until(&words->stop, SHMEM_CMP_NE, 0);
  }
  shmem_barrier_all();
}

// PE 0 adds to a word of the last PE, which does something else meanwhile.
enum class Pastime { sleep, wait, test };
void run_target(const char* name, Pastime pastime) {
  words->stop = 0;
  const int target = n_pes - 1;
  shmem_barrier_all();
  if (me == 0 && target != 0) {
    sleep_ms(50);
    std::vector<double> samples;
    const std::int64_t begin = now_ns();
    std::int64_t before = begin;
    while (before - begin < duration_ns) {
      static_cast<void>(shmem_long_atomic_fetch_add(&words->count, 1, target));
      const std::int64_t after = now_ns();
      samples.push_back(static_cast<double>(after - before) / 1e3);
      before = after;
    }
    report(name, static_cast<double>(before - begin) / static_cast<double>(samples.size()) / 1e3, median_of(samples));
    for (int pe = 1; pe < n_pes; ++pe) shmem_long_p(&words->stop, 1, pe);
  } else if (pastime == Pastime::sleep) {
    sleep_ms(static_cast<long>(duration_ns / 1'000'000) + 100);
  } else if (pastime == Pastime::wait) {
    shmem_long_wait_until(&words->stop, SHMEM_CMP_NE, 0);
  } else {
    while (shmem_long_test(&words->stop, SHMEM_CMP_NE, 0) == 0) {
    }
  }
  shmem_barrier_all();
}

// Measures the time from a put to the return of a PE that slept in wait_until for a while. The value is the time of
// the put, so all PEs must share one clock.
void run_wake() {
  if (n_pes == 1) return;  // there is nobody to wake it
  words->token = words->count = 0;
  shmem_barrier_all();
  const int peer = n_pes - 1;
  constexpr int kTurns = 50;
  if (me == 0) {
    for (int turn = 1; turn <= kTurns; ++turn) {
      sleep_ms(5);
      shmem_long_p(&words->token, now_ns(), peer);
      shmem_long_wait_until(&words->count, SHMEM_CMP_EQ, turn);  // the peer may be held up for longer than it slept
    }
  } else if (me == peer) {
    std::vector<double> samples;
    double sum = 0;
    long last = 0;
    for (int turn = 1; turn <= kTurns; ++turn) {
      shmem_long_wait_until(&words->token, SHMEM_CMP_NE, last);
      last = words->token;
      samples.push_back(static_cast<double>(now_ns() - last) / 1e3);
      sum += samples.back();
      shmem_long_p(&words->count, turn, 0);
    }
    report("wake", sum / kTurns, median_of(samples));
  }
  shmem_barrier_all();
}
}  // namespace

int main(int argc, char** argv) {
  const char* only = "";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--case") == 0) only = argv[i + 1];
    if (std::strcmp(argv[i], "--ms") == 0) duration_ns = std::atol(argv[i + 1]) * 1'000'000;
  }
  shmem_init();
  me = shmem_my_pe();
  n_pes = shmem_n_pes();
  words = static_cast<Words*>(shmem_align(128, sizeof(Words)));
  std::memset(static_cast<void*>(words), 0, sizeof(Words));
  const auto chosen = [only](const char* name) { return std::strstr(name, only) != nullptr; };
  for (const Ring& ring : kRings)
    if (chosen(ring.name)) run_ring(ring);
  if (chosen("barrier")) run_barrier();
  if (chosen("polling, others poll")) run_polling("polling, others poll", true);
  if (chosen("polling, others wait")) run_polling("polling, others wait", false);
  if (chosen("fetch_add, target sleeps")) run_target("fetch_add, target sleeps", Pastime::sleep);
  if (chosen("fetch_add, target waits")) run_target("fetch_add, target waits", Pastime::wait);
  if (chosen("fetch_add, target polls")) run_target("fetch_add, target polls", Pastime::test);
  if (chosen("wake")) run_wake();
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
