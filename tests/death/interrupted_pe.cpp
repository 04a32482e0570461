// Programs whose signal handler, or handler of an active message, ends the process while a call of the library is under
// way. Run by interrupted_test: interrupted_pe WHAT STATUS SEED.
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

int status = 0;
long target[1000];
long block[10000];

void leave(int) { std::exit(status); }

// Messages of all kinds, without an end.
[[noreturn]] void communicate() {
  static long here[10000];
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  for (long i = 0;; ++i) {
    shmem_long_p(&target[i % 1000], i, next);
    if (i % 8 == 0) shmem_long_atomic_fetch_add(&target[0], 1, next);
    if (i % 16 == 0) shmem_long_put(block, here, 1000, next);
    if (i % 32 == 0) shmem_long_get(here, block, 10000, next);
    if (i % 64 == 0) shmem_quiet();
    if (i % 256 == 0) shmemx_am_poll();
  }
}

// All PEs get a signal at some time.
void by_timer(unsigned seed) {
  std::srand(seed * 100 + static_cast<unsigned>(shmem_my_pe()));
  signal(SIGALRM, leave);
  itimerval timer{};
  timer.it_value.tv_usec = 20'000 + std::rand() % 30'000;
  setitimer(ITIMER_REAL, &timer, nullptr);
  communicate();
}

// One PE gets a signal while the others wait for it.
void in_barrier(unsigned seed) {
  if (shmem_my_pe() == shmem_n_pes() - 1) by_timer(seed);
  shmem_barrier_all();
}

// PE 0 comes when the others have got their signal.
void in_finalize(unsigned) {
  static long processes[16];
  shmem_long_p(&processes[shmem_my_pe()], getpid(), 0);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    constexpr int kMostLooks = 2000;
    for (int pe = 1, look = 0; pe < shmem_n_pes() && look < kMostLooks; ++look) {
      if (kill(static_cast<pid_t>(processes[pe]), 0) != 0)
        ++pe;
      else
        usleep(1000);
    }
  } else {
    signal(SIGALRM, leave);
    ualarm(50'000, 0);
  }
  shmem_finalize();
}

std::atomic<bool> has_sent{false};
std::atomic<bool> has_missed{false};

// Whose own message is not on its way yet would leave the next PE without one.
void leave_by_message(int, const void*, size_t, void*) {
  has_missed = true;
  if (has_sent) std::exit(status);
}

void by_active_message(unsigned) {
  shmemx_am_register(1, leave_by_message, nullptr);
  shmem_barrier_all();
  shmemx_am_send((shmem_my_pe() + 1) % shmem_n_pes(), 1, nullptr, 0);
  has_sent = true;
  if (has_missed) shmemx_am_send(shmem_my_pe(), 1, nullptr, 0);
  communicate();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  status = std::atoi(argv[2]);
  const auto seed = static_cast<unsigned>(std::atoi(argv[3]));
  shmem_init();
  shmem_barrier_all();
  const struct {
    const char* name;
    void (*run)(unsigned);
  } kinds[] = {{"timer", by_timer}, {"barrier", in_barrier}, {"finalize", in_finalize}, {"active", by_active_message}};
  for (const auto& kind : kinds) {
    if (std::strcmp(kind.name, argv[1]) == 0) kind.run(seed);
  }
  return 0;
}
