// How many instructions does a put or get of a word execute past the CPU of a PE of another node? As
// ../instructions.cpp, but nothing is counted between two loops, where the puts are completed.
#include <valgrind/callgrind.h>

#include "../support/program.hpp"

namespace {
using namespace shmemx::bench;

constexpr long kShort = 1000;
constexpr long kLong = 3000;

[[gnu::noinline]] void loop_p(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) shmem_long_p(work.words(), i, work.peer);
}
[[gnu::noinline]] void loop_g(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) keep(shmem_long_g(work.words(), work.peer));
}
[[gnu::noinline]] void loop_put_nbi(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) shmem_putmem_nbi(work.words(), work.source, sizeof(long), work.peer);
}

void count(const char* name, void (*loop)(Work&, long), Work& work) {
  loop(work, kShort);  // asks for keys, makes requests
  for (const long iterations : {kShort, kLong}) {
    shmem_quiet();
    char label[64];
    std::snprintf(label, sizeof label, "%s %ld", name, iterations);
    CALLGRIND_ZERO_STATS;
    loop(work, iterations);
    CALLGRIND_DUMP_STATS_AT(label);
  }
}
}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  Job job(options.pes, std::size_t{1} << 17);
  Work work = make_work(job, 4096);
  job.sync();
  if (job.pe() == 0) {
    count("p", loop_p, work);
    count("g", loop_g, work);
    count("put_nbi", loop_put_nbi, work);
    shmem_quiet();
  }
  job.sync();
  return 0;
}
