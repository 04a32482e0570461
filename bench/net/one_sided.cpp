// One-sided operations between two PEs on different hosts; the target waits for a word in the library. Samples of a
// bare TCP connection between the same two processes alternate with them (not with BENCH_PEER, the build for another
// OpenSHMEM).
#include "../support/program.hpp"
#include "cases.hpp"
#if !defined(BENCH_PEER)
#include "raw_kernels.hpp"
#endif

namespace {
using namespace shmemx::bench;

std::uint64_t signal_word;  // symmetric, like the next one
std::uint64_t stream_signal;

long* flag_of(Work& work) { return &work.shared->flag.value; }

void pingpong(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    ++work.sequence;
    if (work.pe == 0) shmem_putmem(flag_of(work), &work.sequence, sizeof(long), work.peer);
    shmem_long_wait_until(flag_of(work), SHMEM_CMP_EQ, work.sequence);
    if (work.pe != 0) shmem_putmem(flag_of(work), &work.sequence, sizeof(long), work.peer);
  }
}

void await_end(Work& work) { shmem_long_wait_until(flag_of(work), SHMEM_CMP_EQ, work.sequence); }
void tell_end(Work& work) { shmem_long_p(flag_of(work), work.sequence, work.peer); }

// PE 0 carries out `operation` while its peer waits for the end.
template <void (*operation)(Work&, long)>
void against_wait(Work& work, long iterations) {
  ++work.sequence;
  if (work.pe == 0) {
    operation(work, iterations);
    tell_end(work);
  } else {
    await_end(work);
  }
}

void put_quiet(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    shmem_putmem(&work.shared->word.value, &i, sizeof i, work.peer);
    shmem_quiet();
  }
}
void get(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) shmem_getmem(work.dest, work.source, work.bytes, work.peer);
}
void fadd(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) keep(shmem_long_atomic_fetch_add(&work.shared->value.value, 1, work.peer));
}
void put_rate(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    for (long k = 0; k < kBurst; ++k)
      shmem_putmem_nbi(work.words() + k, reinterpret_cast<const long*>(work.source) + k, sizeof(long), work.peer);
    shmem_quiet();
  }
}
void put(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) shmem_putmem(work.dest, work.source, work.bytes, work.peer);
  shmem_quiet();
}

void put_with_signal(void* dest, const void* source, std::size_t bytes, std::uint64_t* signal, std::uint64_t number,
                     int pe) {
#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION > 4
  shmem_putmem_signal(dest, source, bytes, signal, number, SHMEM_SIGNAL_SET, pe);
#else
  shmem_putmem(dest, source, bytes, pe);
  shmem_fence();
  shmem_uint64_p(signal, number, pe);
#endif
}
void send_with_signal(Work& work) {
  put_with_signal(work.dest, work.source, work.bytes, &signal_word, static_cast<std::uint64_t>(work.sequence),
                  work.peer);
}
void await_signal(Work& work) {
  shmem_uint64_wait_until(&signal_word, SHMEM_CMP_EQ, static_cast<std::uint64_t>(work.sequence));
}
void put_signal(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    ++work.sequence;
    if (work.pe == 0) send_with_signal(work);
    await_signal(work);
    if (work.pe != 0) send_with_signal(work);
  }
}

// Small operations in a loop, as programs write it, each on the next word.
template <void (*operation)(Work&, long k)>
void streamed(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    for (long k = 0; k < kStreamed; ++k) operation(work, k);
    shmem_quiet();
  }
}
void p(Work& work, long k) { shmem_long_p(work.words() + k, k, work.peer); }
void add(Work& work, long k) { shmem_long_atomic_add(work.words() + k, k, work.peer); }
void word_with_signal(Work& work, long k) {
  put_with_signal(work.words() + k, work.source, sizeof(long), &stream_signal, static_cast<std::uint64_t>(k),
                  work.peer);
}

void get_word(Work& work, long k) {
  shmem_getmem_nbi(reinterpret_cast<long*>(work.dest) + k, work.words() + k, sizeof(long), work.peer);
}
void fetch_add(Work& work, long k) {
  long* const result = reinterpret_cast<long*>(work.dest) + k;
#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION > 4
  shmem_long_atomic_fetch_add_nbi(result, work.words() + k, 1, work.peer);
#else
  *result = shmem_long_atomic_fetch_add(work.words() + k, 1, work.peer);
#endif
}

constexpr Loops kLoops{pingpong,
                       against_wait<put_quiet>,
                       against_wait<get>,
                       against_wait<fadd>,
                       put_signal,
                       against_wait<put_rate>,
                       against_wait<put>,
                       against_wait<streamed<p>>,
                       against_wait<streamed<add>>,
                       against_wait<streamed<word_with_signal>>,
                       against_wait<streamed<get_word>>,
                       against_wait<streamed<fetch_add>>};
#if defined(BENCH_PEER)
constexpr Rivals kRivals;
constexpr void (*prepare)(Work&) = nullptr;
#else
constexpr Rivals kRivals{raw_pingpong, raw_round_trip, raw_fetch, raw_records, raw_stream_out, raw_stream_in};
constexpr auto prepare = connect_raw;
#endif

constexpr auto with_preparation() {
  auto cases = one_sided_cases(kLoops, kRivals);
  for (Case& one : cases) one.begin = prepare;
  return cases;
}
constexpr auto kCases = with_preparation();
}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, kCases, kLargestBytes); }
