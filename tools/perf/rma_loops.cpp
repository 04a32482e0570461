#include <cstdio>

#include "perf/loops.hpp"

namespace shmemx::perf {
namespace {

[[noreturn, gnu::cold]] void window_failed(int error) {
  std::fprintf(stderr, "shmem_perf: PE %d: an operation on a window failed: %s\n", shmem_my_pe(),
               shmemx_error_text(error));
  shmem_global_exit(1);
  __builtin_unreachable();
}

inline void check(int error) {
  if (error != SHMEMX_SUCCESS) [[unlikely]]
    window_failed(error);
}

// Operations on symmetric memory.
struct Symmetric {
  static void put(const Work& w) { shmem_putmem(w.remote, w.local, w.bytes, w.peer); }
  static void get(const Work& w) { shmem_getmem(w.local, w.remote, w.bytes, w.peer); }
  static void start_put(const Work& w) { shmem_putmem_nbi(w.remote, w.local, w.bytes, w.peer); }
  static void start_get(const Work& w) { shmem_getmem_nbi(w.local, w.remote, w.bytes, w.peer); }
  static void complete_put(const Work&) { shmem_quiet(); }
  static void complete_all(const Work&) { shmem_quiet(); }
};

// Operations on a window. A blocking put is complete at the target when it returns.
struct Windowed {
  static void put(const Work& w) { check(shmemx_window_put(w.window, w.remote, w.local, w.bytes)); }
  static void get(const Work& w) { check(shmemx_window_get(w.window, w.local, w.remote, w.bytes)); }
  static void start_put(const Work& w) { check(shmemx_window_put_nbi(w.window, w.remote, w.local, w.bytes, nullptr)); }
  static void start_get(const Work& w) { check(shmemx_window_get_nbi(w.window, w.local, w.remote, w.bytes, nullptr)); }
  static void complete_put(const Work&) {}
  static void complete_all(const Work& w) { check(shmemx_window_flush(w.window)); }
};

template <class Memory>
void put_loop(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    Memory::put(work);
    Memory::complete_put(work);
  }
}

template <class Memory>
void get_loop(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) Memory::get(work);
}

template <class Memory>
void put_bursts(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    for (long k = 0; k < work.burst; ++k) Memory::start_put(work);
    Memory::complete_all(work);
  }
}

template <class Memory>
void get_bursts(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    for (long k = 0; k < work.burst; ++k) Memory::start_get(work);
    Memory::complete_all(work);
  }
}

long* word_of(const Work& work) { return reinterpret_cast<long*>(work.remote); }

// Lets the compiler assume that `value` is used.
inline void keep(long value) { asm volatile("" : : "r"(value)); }

}  // namespace

void put_each(Work& work, long iterations) { put_loop<Symmetric>(work, iterations); }
void get_each(Work& work, long iterations) { get_loop<Symmetric>(work, iterations); }
void put_burst(Work& work, long iterations) { put_bursts<Symmetric>(work, iterations); }
void get_burst(Work& work, long iterations) { get_bursts<Symmetric>(work, iterations); }
void window_put_each(Work& work, long iterations) { put_loop<Windowed>(work, iterations); }
void window_get_each(Work& work, long iterations) { get_loop<Windowed>(work, iterations); }
void window_put_burst(Work& work, long iterations) { put_bursts<Windowed>(work, iterations); }
void window_get_burst(Work& work, long iterations) { get_bursts<Windowed>(work, iterations); }

void p_each(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    shmem_long_p(word_of(work), i, work.peer);
    shmem_quiet();
  }
}

void g_each(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) keep(shmem_long_g(word_of(work), work.peer));
}

void p_burst(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    for (long k = 0; k < work.burst; ++k) shmem_long_p(word_of(work), k, work.peer);
    shmem_quiet();
  }
}

void add_each(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    shmem_long_atomic_add(word_of(work), 1, work.peer);
    shmem_quiet();
  }
}

void add_burst(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    for (long k = 0; k < work.burst; ++k) shmem_long_atomic_add(word_of(work), 1, work.peer);
    shmem_quiet();
  }
}

void fetch_add_each(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) keep(shmem_long_atomic_fetch_add(word_of(work), 1, work.peer));
}

void compare_swap_each(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) keep(shmem_long_atomic_compare_swap(word_of(work), i, i + 1, work.peer));
}

void window_fetch_add_each(Work& work, long iterations) {
  constexpr std::int64_t kOne = 1;
  std::int64_t old = 0;
  for (long i = 0; i < iterations; ++i)
    check(shmemx_window_fetch_op(work.window, work.remote, &kOne, &old, SHMEMX_INT64, SHMEMX_OP_SUM));
}

void window_compare_swap_each(Work& work, long iterations) {
  std::int64_t old = 0;
  for (std::int64_t i = 0; i < iterations; ++i) {
    const std::int64_t value = i + 1;
    check(shmemx_window_compare_swap(work.window, work.remote, &i, &value, &old, SHMEMX_INT64));
  }
}

}  // namespace shmemx::perf
