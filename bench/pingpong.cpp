// Measures the time of a word to a PE that waits for it. A token circulates through all PEs by put and wait_until;
// with two PEs that is the ping-pong. The figure is one hop.
#include <array>

#include "support/program.hpp"

namespace {
using namespace shmemx::bench;

void send(Work& work, long number) {
#if defined(BENCH_RAW)
  std::atomic_ref(work.peer_shared->flag.value).store(number, std::memory_order_release);  // edge `token`
#else
  shmem_putmem(&work.shared->flag.value, &number, sizeof number, work.peer);
#endif
}

void receive(Work& work, long number) {
#if defined(BENCH_RAW)
  const std::atomic_ref flag(work.shared->flag.value);
  while (flag.load(std::memory_order_acquire) != number) {  // edge `token`
    if (work.crowded) sched_yield();
    if (work.method == 1) __builtin_ia32_pause();
  }
#else
  shmem_long_wait_until(&work.shared->flag.value, SHMEM_CMP_EQ, number);
#endif
}

void circulate(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    ++work.sequence;
    if (work.pe != 0) receive(work, work.sequence);
    send(work, work.sequence);
    if (work.pe == 0) receive(work, work.sequence);
  }
}

double hops(const Work& work) { return work.pes; }

constexpr std::array kCases = {Case{"pingpong", 8, Unit::ns, Role::together, "", hops, circulate, nullptr, 2}};
}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, kCases, 4096); }
