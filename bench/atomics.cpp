// Measures one atomic operation on a peer's word, with the word idle and while the peer operates on it too.
#include <array>
#include <bit>

#include "support/program.hpp"

namespace {
using namespace shmemx::bench;

// Each kernel works on PE 1's word: PE 0 remotely, and PE 1, as the companion, locally.
#if defined(BENCH_RAW)
std::atomic_ref<long> target(Work& work) {
  return std::atomic_ref(work.pe == 0 ? work.peer_shared->word.value : work.shared->word.value);
}

void fetch_add(Work& work, long iterations) {
  const auto word = target(work);
  for (long i = 0; i < iterations; ++i) keep(word.fetch_add(1));
}

void compare_swap(Work& work, long iterations) {
  const auto word = target(work);
  long expected = 0;
  for (long i = 0; i < iterations; ++i) {
    long old = expected;
    word.compare_exchange_strong(old, i);
    expected = old == expected ? i : old;
  }
}

void swap(Work& work, long iterations) {
  const auto word = target(work);
  for (long i = 0; i < iterations; ++i) keep(word.exchange(i));
}

void add_real(Work& work, long iterations) {
  double& word = work.pe == 0 ? work.peer_shared->real.value : work.shared->real.value;
  const std::atomic_ref real(reinterpret_cast<long&>(word));
  for (long i = 0; i < iterations; ++i) {
    long old = real.load(std::memory_order_relaxed);  // relaxed: the exchange orders
    while (!real.compare_exchange_weak(old, std::bit_cast<long>(std::bit_cast<double>(old) + 1.0))) {
    }
  }
}
#else
constexpr int kOwner = 1;

void fetch_add(Work& work, long iterations) {
  long* word = &work.shared->word.value;
  for (long i = 0; i < iterations; ++i) keep(shmem_long_atomic_fetch_add(word, 1, kOwner));
}

void compare_swap(Work& work, long iterations) {
  long* word = &work.shared->word.value;
  long expected = 0;
  for (long i = 0; i < iterations; ++i) {
    const long old = shmem_long_atomic_compare_swap(word, expected, i, kOwner);
    expected = old == expected ? i : old;
  }
}

void swap(Work& work, long iterations) {
  long* word = &work.shared->word.value;
  for (long i = 0; i < iterations; ++i) keep(shmem_long_atomic_swap(word, i, kOwner));
}

// The standard has no addition for floating types: a user loops over compare_swap on the bits.
void add_real(Work& work, long iterations) {
  long* bits = reinterpret_cast<long*>(&work.shared->real.value);
  for (long i = 0; i < iterations; ++i) {
    long expected = shmem_long_atomic_fetch(bits, kOwner);
    for (;;) {
      const long sum = std::bit_cast<long>(std::bit_cast<double>(expected) + 1.0);
      const long old = shmem_long_atomic_compare_swap(bits, expected, sum, kOwner);
      if (old == expected) break;
      expected = old;
    }
  }
}
#endif

template <void (*kernel)(Work&, long)>
void slice(Work& work) {
  kernel(work, 32);
}

constexpr std::array kCases = {
    // clang-format off
    Case{"fadd",       8, Unit::ns, Role::alone,   "idle word",   one_operation, fetch_add,    nullptr,             1},
    Case{"fadd",       8, Unit::ns, Role::against, "word in use", one_operation, fetch_add,    slice<fetch_add>,    1},
    Case{"cswap",      8, Unit::ns, Role::alone,   "idle word",   one_operation, compare_swap, nullptr,             1},
    Case{"cswap",      8, Unit::ns, Role::against, "word in use", one_operation, compare_swap, slice<compare_swap>, 1},
    Case{"swap",       8, Unit::ns, Role::alone,   "idle word",   one_operation, swap,         nullptr,             1},
    Case{"swap",       8, Unit::ns, Role::against, "word in use", one_operation, swap,         slice<swap>,         1},
    Case{"add_double", 8, Unit::ns, Role::alone,   "idle word",   one_operation, add_real,     nullptr,             1},
    Case{"add_double", 8, Unit::ns, Role::against, "word in use", one_operation, add_real,     slice<add_real>,     1},
    // clang-format on
};
}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, kCases, 4096); }
