// Measures operations that the target carries out while it is inside the library: waiting for a word, or in a
// barrier. Ours runs with SHMEMX_NODE_PATH=queue; the raw program sends a flag there and back.
#include <array>

#include "../support/program.hpp"
#if defined(BENCH_RAW)
#include "../support/raw_gate.hpp"
#endif

namespace {
using namespace shmemx::bench;

#if defined(BENCH_RAW)

void round_trips(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) raw_round_trip(work);
}
constexpr auto puts = round_trips, gets = round_trips, fetch_adds = round_trips;
constexpr auto puts_barrier = round_trips, gets_barrier = round_trips, fetch_adds_barrier = round_trips;

#else

void put(Work& work, long number) {
  shmem_putmem(&work.shared->word.value, &number, sizeof number, work.peer);
  shmem_quiet();
}
void get(Work& work, long) { keep(shmem_long_g(&work.shared->word.value, work.peer)); }
void fetch_add(Work& work, long number) {
  keep(shmem_long_atomic_fetch_add(&work.shared->value.value, number, work.peer));
}

template <void (*operation)(Work&, long)>
void against_wait(Work& work, long iterations) {
  ++work.sequence;
  if (work.pe == 0) {
    for (long i = 0; i < iterations; ++i) operation(work, i);
    shmem_long_p(&work.shared->flag.value, work.sequence, work.peer);
  } else {
    shmem_long_wait_until(&work.shared->flag.value, SHMEM_CMP_EQ, work.sequence);
  }
}

template <void (*operation)(Work&, long)>
void against_barrier(Work& work, long iterations) {
  if (work.pe == 0)
    for (long i = 0; i < iterations; ++i) operation(work, i);
  shmem_barrier_all();
}

constexpr auto puts = against_wait<put>, gets = against_wait<get>, fetch_adds = against_wait<fetch_add>;
constexpr auto puts_barrier = against_barrier<put>, gets_barrier = against_barrier<get>,
               fetch_adds_barrier = against_barrier<fetch_add>;

#endif

constexpr Case row(const char* name, void (*kernel)(Work&, long), const char* note) {
  return {name, 8, Unit::ns, Role::together, note, one_operation, kernel, nullptr, 2};
}

constexpr std::array kCases = {
    row("queue_put", puts, "target in wait_until"),        row("queue_put", puts_barrier, "target in barrier"),
    row("queue_get", gets, "target in wait_until"),        row("queue_get", gets_barrier, "target in barrier"),
    row("queue_fadd", fetch_adds, "target in wait_until"), row("queue_fadd", fetch_adds_barrier, "target in barrier"),
};
}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, kCases, 4096); }
