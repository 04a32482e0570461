// How many instructions does a put or get of a word execute past the CPU of a PE of another node? As
// ../instructions.cpp, but nothing is counted between two loops, where the puts are completed.
#include "../support/counted_loops.hpp"
#include "../support/program.hpp"

namespace {
using namespace shmemx::bench;

[[gnu::noinline]] void loop_p(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) shmem_long_p(work.words(), i, work.peer);
}
[[gnu::noinline]] void loop_g(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) keep(shmem_long_g(work.words(), work.peer));
}
[[gnu::noinline]] void loop_put_nbi(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) shmem_putmem_nbi(work.words(), work.source, sizeof(long), work.peer);
}

// The same through a context that only this thread uses.
shmem_ctx_t own_context = SHMEM_CTX_DEFAULT;

[[gnu::noinline]] void loop_private_p(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) shmem_ctx_long_p(own_context, work.words(), i, work.peer);
}
[[gnu::noinline]] void loop_private_g(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) keep(shmem_ctx_long_g(own_context, work.words(), work.peer));
}
[[gnu::noinline]] void loop_private_put_nbi(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i)
    shmem_ctx_putmem_nbi(own_context, work.words(), work.source, sizeof(long), work.peer);
}
void quiet_private() { shmem_ctx_quiet(own_context); }

// A loop may have to wait for the network, with as many polls as the machine's other load brings: the least of several
// counts is that of the calls.
constexpr int kRounds = 7;

void count_call(const char* name, void (*loop)(Work&, long), Work& work) { count(name, loop, work, shmem_quiet); }

void count_all(Work& work) {
  count_call("p", loop_p, work);
  count_call("g", loop_g, work);
  count_call("put_nbi", loop_put_nbi, work);
  shmem_quiet();
  count("p_private", loop_private_p, work, quiet_private);
  count("g_private", loop_private_g, work, quiet_private);
  count("put_nbi_private", loop_private_put_nbi, work, quiet_private);
}
}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  Job job(options.pes, std::size_t{1} << 17);
  Work work = make_work(job, 4096);
  job.sync();
  if (job.pe() == 0) {
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &own_context) != 0) die("net_rma_instructions: there is no context");
    for (int round = 0; round < kRounds; ++round) count_all(work);
    shmem_ctx_destroy(own_context);
  }
  job.sync();
  return 0;
}
