// Measures the rate of contiguous puts and gets of 4 KiB to 16 MiB. The same two buffers are reused; the peer does
// not touch them meanwhile.
#include <array>

#include "support/program.hpp"
#if defined(BENCH_RAW)
#include "support/raw_copy.hpp"
#endif

namespace {
using namespace shmemx::bench;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;

void put(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
#if defined(BENCH_RAW)
    raw_copy(work.method, work.peer_dest, work.source, work.bytes);
#else
    shmem_putmem(work.dest, work.source, work.bytes, work.peer);
#endif
  }
#if !defined(BENCH_RAW)
  shmem_quiet();
#endif
}

void get(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
#if defined(BENCH_RAW)
    raw_copy(work.method, work.dest, work.peer_source, work.bytes);
#else
    shmem_getmem(work.dest, work.source, work.bytes, work.peer);
#endif
  }
}

constexpr Case row(const char* name, void (*kernel)(Work&, long), std::size_t bytes) {
  return {name, bytes, Unit::gb_per_s, Role::alone, "", one_operation, kernel, nullptr, 4};
}

constexpr std::array kCases = {
    row("put", put, 4 * kKiB),  row("put", put, 16 * kKiB), row("put", put, 64 * kKiB),  row("put", put, 256 * kKiB),
    row("put", put, kMiB),      row("put", put, 4 * kMiB),  row("put", put, 16 * kMiB),  row("get", get, 4 * kKiB),
    row("get", get, 16 * kKiB), row("get", get, 64 * kKiB), row("get", get, 256 * kKiB), row("get", get, kMiB),
    row("get", get, 4 * kMiB),  row("get", get, 16 * kMiB),
};
}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, kCases, 16 * kMiB); }
