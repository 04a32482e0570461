#include "interpose/waiting.hpp"

#include <sched.h>
#include <shmemx.h>
#include <time.h>

#include <vector>

#include "interpose/below.hpp"
#include "interpose/job.hpp"

namespace shmemx::interpose {
namespace {

constexpr unsigned kYields = 2000;
constexpr unsigned kLongSpins = 3000;  // some 100 us
constexpr unsigned kSpinsOfPoll = 10;  // spins that take as long as one poll for messages

}  // namespace

bool yields_early() { return spins_before_yield != kLongSpins; }

// A launcher may have bound each process to a core of its own, so the cores of all processes of the node count.
void choose_spins(std::span<const int> pe_of_rank) {
  cpu_set_t own;
  CPU_ZERO(&own);
  static_cast<void>(::sched_getaffinity(0, sizeof own, &own));
  std::vector<cpu_set_t> all(pe_of_rank.size());
  below().Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (shmemx_node_pe(pe_of_rank[rank]) < 0) continue;
    CPU_OR(&cores, &cores, &all[rank]);
  }
  if (shmemx_node_n_pes() <= CPU_COUNT(&cores)) spins_before_yield = kLongSpins;
}

void release_core(unsigned steps) {
  constexpr unsigned kShortSleeps = 100;
  if (steps < kYields) {
    ::sched_yield();
    return;
  }
  const timespec pause{0, steps - kYields < kShortSleeps ? 20'000 : 100'000};
  ::nanosleep(&pause, nullptr);
}

void wait_for_counter(const long* counter) {
  constexpr int kPolls = 100;  // longer than a reply takes whose sender is awake
  for (int polls = 0; polls < kPolls; ++polls) {
    if (__atomic_load_n(counter, __ATOMIC_ACQUIRE) == 0) return;
    shmemx_am_poll();
  }
  shmemx_event_t events[2] = {};
  events[0].kind = SHMEMX_EVENT_COUNTER;
  events[0].object = counter;
  events[1].kind = SHMEMX_EVENT_FUNCTION;  // the MPI makes progress at least once a millisecond
  events[1].function = [](void*) {
    poll_mpi();
    return 0;
  };
  shmemx_event_wait(events, 2);
}

void wait_a_little(unsigned steps) {
  const bool polls = awaits_messages.load(std::memory_order_relaxed);
  const unsigned spins = polls ? spins_before_yield / kSpinsOfPoll : spins_before_yield;
  constexpr unsigned kStepsPerProbe = 16;  // probing the MPI may take longer than all else
  if (steps < spins) {
    if (polls) {
      shmemx_am_poll();
      if (steps % kStepsPerProbe == kStepsPerProbe - 1) poll_mpi();
    } else {
      __builtin_ia32_pause();
    }
    return;
  }
  const bool yields = steps < spins + kYields;
  if (!yields || steps % kStepsPerProbe == kStepsPerProbe - 1) poll_mpi();
  shmemx_am_poll();
  release_core(steps - spins);
}

}  // namespace shmemx::interpose
