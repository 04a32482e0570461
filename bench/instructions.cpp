// How many instructions does one call execute? Runs under `valgrind --tool=callgrind`: each loop is dumped under its
// name with its length, and the reader of the dumps subtracts two lengths and two loops. The
// reference loop does all but the call, for which a nop stands, so the figure goes from a routine's first instruction
// to its return.
#include "support/counted_loops.hpp"
#include "support/program.hpp"

namespace {
using namespace shmemx::bench;

// Looks like a call to the compiler: takes the three arguments and clobbers the registers that a callee may.
inline void call_nothing(const long* where, long value, int pe) {
  asm volatile("nop" : "+D"(where), "+S"(value), "+d"(pe) : : "rax", "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
}

[[gnu::noinline]] void loop_reference(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) call_nothing(work.words(), i, work.peer);
}
#if defined(BENCH_RAW)
[[gnu::noinline]] void loop_p(Work& work, long iterations) {
  long* word = work.peer_words();
  for (long i = 0; i < iterations; ++i) {
    call_nothing(work.words(), i, work.peer);
    asm volatile("mov %0, (%1)" : : "r"(i), "r"(word) : "memory");
  }
}
[[gnu::noinline]] void loop_g(Work& work, long iterations) {
  long* word = work.peer_words();
  for (long i = 0; i < iterations; ++i) {
    long value;
    call_nothing(work.words(), i, work.peer);
    asm volatile("mov (%1), %0" : "=r"(value) : "r"(word) : "memory");
  }
}
[[gnu::noinline]] void loop_fadd(Work& work, long iterations) {
  long* word = work.peer_words();
  long value = 1;
  for (long i = 0; i < iterations; ++i) {
    call_nothing(work.words(), i, work.peer);
    asm volatile("lock xadd %0, (%1)" : "+r"(value) : "r"(word) : "memory", "cc");
  }
}
#else
[[gnu::noinline]] void loop_p(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) shmem_long_p(work.words(), i, work.peer);
}
[[gnu::noinline]] void loop_g(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) shmem_long_g(work.words(), work.peer);
}
[[gnu::noinline]] void loop_fadd(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) shmem_long_atomic_fetch_add(work.words(), i, work.peer);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  Job job(options.pes, std::size_t{1} << 17);
  Work work = make_work(job, 4096);
  job.sync();
  if (job.pe() == 0) {
    count("reference", loop_reference, work);
    count("p", loop_p, work);
    count("g", loop_g, work);
    count("fadd", loop_fadd, work);
  }
  job.sync();
  return 0;
}
