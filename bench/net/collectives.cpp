// Barriers and collectives of PEs on several hosts, by this library and Open MPI's OSHMEM, or by an MPI (BENCH_MPI).
// Beside the barrier, samples of a bare TCP connection between two of the hosts: one way.
#include "../support/program.hpp"
#include "cases.hpp"
#if defined(BENCH_MPI) || defined(BENCH_PEER)
#define BENCH_NO_RIVAL
#else
#include "raw_kernels.hpp"
#endif
#if !defined(BENCH_MPI)
#include "../support/shmem_coll.hpp"
#endif

namespace {
using namespace shmemx::bench;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr int kMostPes = 16;

std::size_t count_of(const Work& work) { return work.bytes / sizeof(long); }

#if defined(BENCH_MPI)
void barrier_all() { MPI_Barrier(MPI_COMM_WORLD); }
void reduce_once(Work& work) {
  MPI_Allreduce(work.source, work.dest, static_cast<int>(count_of(work)), MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}
void broadcast_once(Work& work) {
  MPI_Bcast(work.pe == 0 ? work.source : work.dest, static_cast<int>(count_of(work)), MPI_LONG, 0, MPI_COMM_WORLD);
}
void exchange_once(Work& work) {
  const int count = static_cast<int>(count_of(work));
  MPI_Alltoall(work.source, count, MPI_LONG, work.dest, count, MPI_LONG, MPI_COMM_WORLD);
}
#else
void barrier_all() { shmem_barrier_all(); }
const long* source_words(const Work& work) { return reinterpret_cast<const long*>(work.source); }
void reduce_once(Work& work) { sum(work, work.words(), source_words(work), count_of(work)); }
void broadcast_once(Work& work) { broadcast(work, work.words(), source_words(work), count_of(work)); }
void exchange_once(Work& work) { exchange(work, work.words(), source_words(work), count_of(work)); }
#endif

template <void (*operation)(Work&)>
void repeat(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) operation(work);
}
void barrier_once(Work&) { barrier_all(); }

// A broadcast lets its root run ahead; without the barrier it would be a stream. The barrier alone is a row of its
// own.
void broadcast_all(Work& work) {
  broadcast_once(work);
  barrier_all();
}

#if defined(BENCH_NO_RIVAL)
constexpr Loop kOneWay = nullptr;
void prepare(Work&) {
#if !defined(BENCH_MPI)
  prepare_collectives();
#endif
}
#else
void prepare(Work& work) {
  prepare_collectives();
  connect_raw(work);
}
// One way: a sample of the rival is half of its trips.
void one_way_trips(Work& work, long iterations) { raw_round_trip(work, (iterations + 1) / 2); }
constexpr Loop kOneWay = one_way_trips;
#endif

constexpr Case row(const char* name, std::size_t bytes, Loop loop, Loop rival = nullptr) {
  return {name,    bytes, Unit::us, Role::together, "",      one_operation, loop,
          nullptr, 1,     1,        prepare,        nullptr, rival,         kStreamSampleNs};
}

constexpr std::array kCases = {
    row("net_barrier", 0, repeat<barrier_once>, kOneWay), row("net_reduce", 8, repeat<reduce_once>),
    row("net_reduce", kMiB, repeat<reduce_once>),         row("net_alltoall", 8, repeat<exchange_once>),
    row("net_alltoall", kKiB, repeat<exchange_once>),     row("net_alltoall", 16 * kKiB, repeat<exchange_once>),
    row("net_broadcast", 8, repeat<broadcast_all>),       row("net_broadcast", 64 * kKiB, repeat<broadcast_all>),
    row("net_broadcast", kMiB, repeat<broadcast_all>),
};
}  // namespace

// An all-to-all needs room for each PE.
int main(int argc, char** argv) { return run_program(argc, argv, kCases, kMiB + kMostPes * 16 * kKiB); }
