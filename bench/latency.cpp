// Measures small operations to a peer: p, g, put + quiet, and the rate of non-blocking puts.
#include <array>

#include "support/program.hpp"

namespace {
using namespace shmemx::bench;

constexpr long kMask = 511;  // the words occupy 4 KiB
constexpr long kWindow = 256;

void put_words(Work& work, long iterations) {
#if defined(BENCH_RAW)
  volatile long* dest = work.peer_words();
  for (long i = 0; i < iterations; ++i) dest[i & kMask] = i;
#else
  long* dest = work.words();
  for (long i = 0; i < iterations; ++i) shmem_long_p(&dest[i & kMask], i, work.peer);
#endif
}

void get_words(Work& work, long iterations) {
  long sum = 0;
#if defined(BENCH_RAW)
  const volatile long* source = work.peer_words();
  for (long i = 0; i < iterations; ++i) sum += source[i & kMask];
#else
  const long* source = work.words();
  for (long i = 0; i < iterations; ++i) sum += shmem_long_g(&source[i & kMask], work.peer);
#endif
  keep(sum);
}

void put_quiet(Work& work, long iterations) {
#if defined(BENCH_RAW)
  long* dest = work.peer_words();
  for (long i = 0; i < iterations; ++i) {
    std::memcpy(&dest[i & kMask], &i, sizeof i);
    forget_memory();
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
#else
  long* dest = work.words();
  for (long i = 0; i < iterations; ++i) {
    shmem_putmem(&dest[i & kMask], &i, sizeof i, work.peer);
    shmem_quiet();
  }
#endif
}

void put_nbi_window(Work& work, long iterations) {
  const long* source = reinterpret_cast<const long*>(work.source);
#if defined(BENCH_RAW)
  volatile long* dest = work.peer_words();
  for (long i = 0; i < iterations; ++i) {
    for (long k = 0; k < kWindow; ++k) {
      dest[k] = source[k];
      forget_memory();
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
#else
  long* dest = work.words();
  for (long i = 0; i < iterations; ++i) {
    for (long k = 0; k < kWindow; ++k) shmem_putmem_nbi(&dest[k], &source[k], sizeof(long), work.peer);
    shmem_quiet();
  }
#endif
}

void read_own_words(Work& work) {
  const volatile long* words = work.words();
  long sum = 0;
  for (long i = 0; i <= kMask; i += 8) sum += words[i];
  keep(sum);
}

void write_own_words(Work& work) {
  volatile long* words = work.words();
  for (long i = 0; i <= kMask; i += 8) words[i] = i;
}

double window_operations(const Work&) { return kWindow; }

constexpr std::array kCases = {
    // clang-format off
    Case{"p",            8, Unit::ns,         Role::alone,   "idle word",   one_operation,     put_words,      nullptr,         1},
    Case{"p",            8, Unit::ns,         Role::against, "word in use", one_operation,     put_words,      read_own_words,  1},
    Case{"g",            8, Unit::ns,         Role::alone,   "idle word",   one_operation,     get_words,      nullptr,         1},
    Case{"g",            8, Unit::ns,         Role::against, "word in use", one_operation,     get_words,      write_own_words, 1},
    Case{"put_quiet",    8, Unit::ns,         Role::alone,   "",            one_operation,     put_quiet,      nullptr,         1},
    Case{"put_nbi_rate", 8, Unit::mops_per_s, Role::alone,   "",            window_operations, put_nbi_window, nullptr,         1},
    // clang-format on
};
}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, kCases, std::size_t{1} << 16); }
