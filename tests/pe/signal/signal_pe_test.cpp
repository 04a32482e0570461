// Put-with-signal of every type, and the signal routines (section 9.8).
#include <pshmem.h>

#include <vector>

#include "../../support/pe_test.hpp"
#include "../../support/types.hpp"

namespace {

using namespace pe_test;

template <class T, class A>
struct SignalRow {
  using Plain = void(A*, const A*, size_t, uint64_t*, uint64_t, int, int);
  using WithCtx = void(shmem_ctx_t, A*, const A*, size_t, uint64_t*, uint64_t, int, int);
  const char* name;
  Plain *put, *put_nbi;
  WithCtx *ctx_put, *ctx_put_nbi;
};

alignas(16) unsigned char static_dest[300 * 16];
uint64_t static_signal;

// Sends `n` elements around the ring; the receiver waits for the signal only.
template <class T, class Send>
void ring(T* dest, uint64_t* signal, const Send& send) {
  constexpr std::size_t kWords = 257;
  std::vector<T> source(kWords);
  uint64_t expected = 0;
  *signal = 0;
  shmem_barrier_all();
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{5}, kWords}) {
    for (const int op : {SHMEM_SIGNAL_ADD, SHMEM_SIGNAL_SET}) {
      const std::size_t seed = n * 10 + static_cast<std::size_t>(op);
      for (std::size_t i = 0; i < n; ++i) source[i] = value<T>(seed + i + static_cast<std::size_t>(me()));
      ++expected;
      send(dest, static_cast<const T*>(source.data()), n, signal, op == SHMEM_SIGNAL_SET ? expected : 1, op, right());
      CHECK_EQUAL(shmem_signal_wait_until(signal, SHMEM_CMP_GE, expected), expected);
      std::size_t bad = 0;
      for (std::size_t i = 0; i < n; ++i) bad += !(dest[i] == value<T>(seed + i + static_cast<std::size_t>(left())));
      CHECK_EQUAL(bad, 0u);
      shmem_barrier_all();
    }
  }
}

template <class T, class A>
void exercise(const SignalRow<T, A>& row) {
  const Note note(row.name);
  Symmetric<T> heap(300);
  Symmetric<uint64_t> heap_signal;
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  if (shmem_ctx_create(0, &ctx) != 0) ctx = SHMEM_CTX_DEFAULT;
  T* const global = reinterpret_cast<T*>(static_dest);
  ring<T>(heap.get(), heap_signal.get(), [&](auto... args) { row.put(args...); });
  // dest and signal may live in different segments.
  ring<T>(global, heap_signal.get(), [&](auto... args) { row.ctx_put(ctx, args...); });
  ring<T>(heap.get(), &static_signal, [&](auto... args) {
    row.put_nbi(args...);
    shmem_quiet();
  });
  ring<T>(global, &static_signal, [&](auto... args) {
    row.ctx_put_nbi(ctx, args...);
    shmem_ctx_quiet(ctx);
  });
  if (ctx != SHMEM_CTX_DEFAULT) shmem_ctx_destroy(ctx);
}

}  // namespace

// clang-format off
#define TYPED(P, N, T) exercise(SignalRow<T, T>{#P "_" #N, P##_##N##_put_signal, P##_##N##_put_signal_nbi,  \
  P##_ctx_##N##_put_signal, P##_ctx_##N##_put_signal_nbi});
#define SIZED(P, N, T) exercise(SignalRow<T, void>{#P "_put" #N, P##_put##N##_signal,                       \
  P##_put##N##_signal_nbi, P##_ctx_put##N##_signal, P##_ctx_put##N##_signal_nbi});
#define MEM(P) exercise(SignalRow<unsigned char, void>{#P "_putmem", P##_putmem_signal,                     \
  P##_putmem_signal_nbi, P##_ctx_putmem_signal, P##_ctx_putmem_signal_nbi});
// clang-format on

PE_TEST(put_signal_of_every_type){TEST_RMA_TYPES(TYPED, shmem) TEST_SIZES(SIZED, shmem) MEM(shmem)}

PE_TEST(profiling_names_of_put_signal_do_the_same){TEST_RMA_TYPES(TYPED, pshmem) TEST_SIZES(SIZED, pshmem) MEM(pshmem)}

// Sections 9.8.5 and 9.8.7.
PE_TEST(signals_are_added_set_and_fetched_without_data) {
  Symmetric<uint64_t> heap;
  for (uint64_t* signal : {heap.get(), &static_signal}) {
    *signal = 0;
    shmem_barrier_all();
    for (int pe = 0; pe < pes(); ++pe) {
      shmem_signal_add(signal, 3, pe);
      shmem_ctx_signal_add(SHMEM_CTX_DEFAULT, signal, 4, pe);
      pshmem_signal_add(signal, 5, pe);
      pshmem_ctx_signal_add(SHMEM_CTX_DEFAULT, signal, ~uint64_t{0}, pe);  // wraps: minus one
    }
    const uint64_t all = 11u * static_cast<uint64_t>(pes());
    CHECK_EQUAL(shmem_signal_wait_until(signal, SHMEM_CMP_EQ, all), all);
    shmem_barrier_all();
    CHECK_EQUAL(shmem_signal_fetch(signal), all);
    CHECK_EQUAL(pshmem_signal_fetch(signal), all);
    shmem_barrier_all();
    shmem_signal_set(signal, 70, right());
    shmem_barrier_all();
    CHECK_EQUAL(shmem_signal_fetch(signal), 70u);
    shmem_barrier_all();
    shmem_ctx_signal_set(SHMEM_CTX_DEFAULT, signal, 71, right());
    shmem_barrier_all();
    CHECK_EQUAL(shmem_signal_fetch(signal), 71u);
    shmem_barrier_all();
    pshmem_signal_set(signal, 72, right());
    shmem_barrier_all();
    CHECK_EQUAL(shmem_signal_fetch(signal), 72u);
    shmem_barrier_all();
    pshmem_ctx_signal_set(SHMEM_CTX_DEFAULT, signal, 73, right());
    CHECK_EQUAL(pshmem_signal_wait_until(signal, SHMEM_CMP_GT, 72), 73u);
    shmem_barrier_all();
  }
}

// Section 6: the operators are integer constant expressions.
PE_TEST(signal_operators_are_constants_and_distinct) {
  switch (me() + 1000) {
    case SHMEM_SIGNAL_SET:
      CHECK(false);
      break;
    case SHMEM_SIGNAL_ADD:
      CHECK(false);
      break;
    default:
      CHECK(SHMEM_SIGNAL_SET != SHMEM_SIGNAL_ADD);
  }
}

// Section 9.8.1: updates with the same operator are atomic with each other, whichever routine makes them.
PE_TEST(concurrent_signal_additions_lose_nothing) {
  Symmetric<uint64_t> signal;
  Symmetric<long> dest(static_cast<std::size_t>(pes()));
  const long word = me();
  for (int i = 0; i < 500; ++i) {
    shmem_long_put_signal(&dest[static_cast<std::size_t>(me())], &word, 1, signal.get(), 1, SHMEM_SIGNAL_ADD, 0);
    shmem_signal_add(signal.get(), 1, 0);
    shmem_long_put_signal_nbi(&dest[static_cast<std::size_t>(me())], &word, 1, signal.get(), 1, SHMEM_SIGNAL_ADD, 0);
  }
  if (me() == 0) {
    const uint64_t all = 1500u * static_cast<uint64_t>(pes());
    CHECK_EQUAL(shmem_signal_wait_until(signal.get(), SHMEM_CMP_GE, all), all);
    for (int pe = 0; pe < pes(); ++pe) CHECK_EQUAL(dest[static_cast<std::size_t>(pe)], pe);
  }
}
