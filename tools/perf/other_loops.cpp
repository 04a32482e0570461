#include "perf/loops.hpp"

namespace shmemx::perf {
namespace {

constexpr int kTag = 1;

void send_signal(const Work& work) {
  shmem_putmem_signal(work.remote, work.local, work.bytes, work.signal, work.rounds, SHMEM_SIGNAL_SET, work.peer);
}

void wait_for_signal(const Work& work) { shmem_signal_wait_until(work.signal, SHMEM_CMP_GE, work.rounds); }

}  // namespace

void put_signal_lead(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    ++work.rounds;
    send_signal(work);
    wait_for_signal(work);
  }
}

void put_signal_reply(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    ++work.rounds;
    wait_for_signal(work);
    send_signal(work);
  }
}

void message_lead(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    shmemx_send(work.local, work.bytes, work.peer, kTag);
    shmemx_recv(work.remote, work.bytes, work.peer, kTag, nullptr);
  }
}

void message_reply(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    shmemx_recv(work.remote, work.bytes, work.peer, kTag, nullptr);
    shmemx_send(work.local, work.bytes, work.peer, kTag);
  }
}

void barrier(Work&, long iterations) {
  for (long i = 0; i < iterations; ++i) shmem_barrier_all();
}

void sync(Work&, long iterations) {
  for (long i = 0; i < iterations; ++i) shmem_sync_all();
}

void broadcast(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) shmem_broadcastmem(SHMEM_TEAM_WORLD, work.remote, work.local, work.bytes, 0);
}

void reduce(Work& work, long iterations) {
  auto* const dest = reinterpret_cast<long*>(work.remote);
  const auto* const source = reinterpret_cast<const long*>(work.local);
  for (long i = 0; i < iterations; ++i)
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, work.bytes / sizeof(long));
}

void fcollect(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) shmem_fcollectmem(SHMEM_TEAM_WORLD, work.remote, work.local, work.bytes);
}

void collect(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) shmem_collectmem(SHMEM_TEAM_WORLD, work.remote, work.local, work.bytes);
}

void alltoall(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) shmem_alltoallmem(SHMEM_TEAM_WORLD, work.remote, work.local, work.bytes);
}

}  // namespace shmemx::perf
