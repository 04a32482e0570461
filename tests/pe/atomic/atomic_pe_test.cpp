// Every atomic of section 9.7 for every type, plain and with a context, under both names; values, then concurrency.
#include <pshmem.h>

#include <cmath>

#include "../../support/pe_test.hpp"
#include "../../support/types.hpp"

namespace {

using namespace pe_test;

// The entry points that the extended types (integers and floats) have.
template <class T>
struct ExtendedRow {
  const char* name;
  T (*fetch)(const T*, int);
  void (*set)(T*, T, int);
  T (*swap)(T*, T, int);
  void (*fetch_nbi)(T*, const T*, int);
  void (*swap_nbi)(T*, T*, T, int);
  T (*ctx_fetch)(shmem_ctx_t, const T*, int);
  void (*ctx_set)(shmem_ctx_t, T*, T, int);
  T (*ctx_swap)(shmem_ctx_t, T*, T, int);
  void (*ctx_fetch_nbi)(shmem_ctx_t, T*, const T*, int);
  void (*ctx_swap_nbi)(shmem_ctx_t, T*, T*, T, int);
};

// The additional entry points of the integer types.
template <class T>
struct IntegerRow {
  const char* name;
  T (*compare_swap)(T*, T, T, int);
  T (*fetch_inc)(T*, int);
  void (*inc)(T*, int);
  T (*fetch_add)(T*, T, int);
  void (*add)(T*, T, int);
  void (*compare_swap_nbi)(T*, T*, T, T, int);
  void (*fetch_inc_nbi)(T*, T*, int);
  void (*fetch_add_nbi)(T*, T*, T, int);
  T (*ctx_compare_swap)(shmem_ctx_t, T*, T, T, int);
  T (*ctx_fetch_inc)(shmem_ctx_t, T*, int);
  void (*ctx_inc)(shmem_ctx_t, T*, int);
  T (*ctx_fetch_add)(shmem_ctx_t, T*, T, int);
  void (*ctx_add)(shmem_ctx_t, T*, T, int);
  void (*ctx_compare_swap_nbi)(shmem_ctx_t, T*, T*, T, T, int);
  void (*ctx_fetch_inc_nbi)(shmem_ctx_t, T*, T*, int);
  void (*ctx_fetch_add_nbi)(shmem_ctx_t, T*, T*, T, int);
};

// One bitwise operator in its six forms.
template <class T>
struct BitwiseRow {
  const char* name;
  T (*apply)(T, T);
  T (*fetch_op)(T*, T, int);
  void (*op)(T*, T, int);
  void (*fetch_op_nbi)(T*, T*, T, int);
  T (*ctx_fetch_op)(shmem_ctx_t, T*, T, int);
  void (*ctx_op)(shmem_ctx_t, T*, T, int);
  void (*ctx_fetch_op_nbi)(shmem_ctx_t, T*, T*, T, int);
};

// A static word: atomics must accept globals like heap addresses.
alignas(8) unsigned char global_word[8];

// Calls test(word) for a word on the heap and one in static data; every PE works on its right neighbour's word.
template <class T, class Test>
void on_heap_and_static(const Test& test) {
  Symmetric<T> heap;
  for (T* word : {heap.get(), reinterpret_cast<T*>(global_word)}) {
    const Note where(word == heap.get() ? "heap" : "static data");
    *word = 0;
    shmem_barrier_all();
    test(word);
    shmem_barrier_all();
  }
}

template <class T>
void check_extended(const ExtendedRow<T>& row) {
  const Note note(row.name);
  shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
  on_heap_and_static<T>([&](T* word) {
    const int pe = right();
    const T a = value<T>(7 + static_cast<std::size_t>(me())), b = value<T>(91 + static_cast<std::size_t>(me()));
    T old = value<T>(3);
    row.set(word, a, pe);
    CHECK_EQUAL(row.fetch(word, pe), a);
    CHECK_EQUAL(row.swap(word, b, pe), a);
    row.fetch_nbi(&old, word, pe);
    shmem_quiet();
    CHECK_EQUAL(old, b);
    row.swap_nbi(&old, word, a, pe);
    shmem_quiet();
    CHECK_EQUAL(old, b);
    CHECK_EQUAL(row.ctx_fetch(ctx, word, pe), a);
    row.ctx_set(ctx, word, b, pe);
    CHECK_EQUAL(row.ctx_swap(ctx, word, a, pe), b);
    row.ctx_fetch_nbi(ctx, &old, word, pe);
    shmem_ctx_quiet(ctx);
    CHECK_EQUAL(old, a);
    row.ctx_swap_nbi(ctx, &old, word, b, pe);
    shmem_ctx_quiet(ctx);
    CHECK_EQUAL(old, a);
    shmem_barrier_all();
    CHECK_EQUAL(*word, value<T>(91 + static_cast<std::size_t>(left())));
  });
}

template <class T>
void check_integer_plain(const IntegerRow<T>& row, T* word, int pe) {
  T old = 55;
  CHECK_EQUAL(row.fetch_inc(word, pe), T{0});
  row.inc(word, pe);
  CHECK_EQUAL(row.fetch_add(word, 40, pe), T{2});
  row.add(word, 8, pe);
  CHECK_EQUAL(row.compare_swap(word, 49, 1, pe), T{50});
  CHECK_EQUAL(row.compare_swap(word, 50, 60, pe), T{50});
  row.compare_swap_nbi(&old, word, 60, 70, pe);
  shmem_quiet();
  CHECK_EQUAL(old, T{60});
  row.fetch_inc_nbi(&old, word, pe);
  shmem_quiet();
  CHECK_EQUAL(old, T{70});
  row.fetch_add_nbi(&old, word, static_cast<T>(-71), pe);
  shmem_quiet();
  CHECK_EQUAL(old, T{71});
}

template <class T>
void check_integer_ctx(const IntegerRow<T>& row, T* word, int pe) {
  shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
  T old = 55;
  CHECK_EQUAL(row.ctx_fetch_inc(ctx, word, pe), T{0});
  row.ctx_inc(ctx, word, pe);
  CHECK_EQUAL(row.ctx_fetch_add(ctx, word, static_cast<T>(-3), pe), T{2});
  row.ctx_add(ctx, word, 5, pe);
  CHECK_EQUAL(row.ctx_compare_swap(ctx, word, 5, 1, pe), T{4});
  CHECK_EQUAL(row.ctx_compare_swap(ctx, word, 4, 60, pe), T{4});
  row.ctx_compare_swap_nbi(ctx, &old, word, 60, 70, pe);
  shmem_ctx_quiet(ctx);
  CHECK_EQUAL(old, T{60});
  row.ctx_fetch_inc_nbi(ctx, &old, word, pe);
  shmem_ctx_quiet(ctx);
  CHECK_EQUAL(old, T{70});
  row.ctx_fetch_add_nbi(ctx, &old, word, 9, pe);
  shmem_ctx_quiet(ctx);
  CHECK_EQUAL(old, T{71});
}

// All PEs increment one word of each PE in turn: every form must be atomic with respect to every other form.
template <class T>
void check_integer_concurrent(const IntegerRow<T>& row, T* word) {
  constexpr int kRounds = 60;
  shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
  T sink = 0;
  *word = 0;
  shmem_barrier_all();
  for (int i = 0; i < kRounds; ++i) {
    const int pe = (me() + i) % pes();
    row.inc(word, pe);
    row.add(word, 2, pe);
    row.fetch_inc(word, pe);
    row.fetch_add(word, 3, pe);
    row.ctx_add(ctx, word, 1, pe);
    row.fetch_add_nbi(&sink, word, 1, pe);
    T seen = row.fetch_add(word, 0, pe);
    for (T found; (found = row.compare_swap(word, seen, static_cast<T>(seen + 1), pe)) != seen;) seen = found;
  }
  shmem_barrier_all();
  T total = 0;
  for (int pe = 0; pe < pes(); ++pe) total = static_cast<T>(total + row.fetch_add(word, 0, pe));
  CHECK_EQUAL(total, static_cast<T>(kRounds * 10 * pes()));
}

template <class T>
void check_integer(const IntegerRow<T>& row) {
  const Note note(row.name);
  on_heap_and_static<T>([&](T* word) {
    check_integer_plain(row, word, right());
    shmem_barrier_all();
    CHECK_EQUAL(*word, T{0});
    shmem_barrier_all();
    check_integer_ctx(row, word, right());
    shmem_barrier_all();
    CHECK_EQUAL(*word, T{80});
    shmem_barrier_all();
    check_integer_concurrent(row, word);
  });
}

template <class T>
void check_bitwise(const BitwiseRow<T>& row) {
  const Note note(row.name);
  shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
  on_heap_and_static<T>([&](T* word) {
    const int pe = right();
    const T masks[] = {static_cast<T>(0x5a5a5a5a5a5a5a5aull), static_cast<T>(0xfff0ff0ff0ff0f0full), static_cast<T>(3)};
    T expected = static_cast<T>(0x0123456789abcdefull), old = 0;
    shmem_putmem(word, &expected, sizeof expected, pe);
    shmem_quiet();
    for (const T mask : masks) {
      CHECK_EQUAL(row.fetch_op(word, mask, pe), expected);
      expected = row.apply(expected, mask);
      row.op(word, static_cast<T>(~mask), pe);
      expected = row.apply(expected, static_cast<T>(~mask));
      row.fetch_op_nbi(&old, word, static_cast<T>(mask << 1), pe);
      shmem_quiet();
      CHECK_EQUAL(old, expected);
      expected = row.apply(expected, static_cast<T>(mask << 1));
      CHECK_EQUAL(row.ctx_fetch_op(ctx, word, static_cast<T>(mask ^ 0x77), pe), expected);
      expected = row.apply(expected, static_cast<T>(mask ^ 0x77));
      row.ctx_op(ctx, word, static_cast<T>(mask | 0x1111), pe);
      expected = row.apply(expected, static_cast<T>(mask | 0x1111));
      row.ctx_fetch_op_nbi(ctx, &old, word, static_cast<T>(0x00ff00ff), pe);
      shmem_ctx_quiet(ctx);
      CHECK_EQUAL(old, expected);
      expected = row.apply(expected, static_cast<T>(0x00ff00ff));
    }
    T final_value = 0;
    shmem_getmem(&final_value, word, sizeof final_value, pe);
    CHECK_EQUAL(final_value, expected);
  });
}

template <class T>
T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
T bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
T bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}

}  // namespace

// clang-format off
#define EXTENDED(P, N, T) check_extended(ExtendedRow<T>{#P "_" #N,                                                  \
  P##_##N##_atomic_fetch, P##_##N##_atomic_set, P##_##N##_atomic_swap,                                              \
  P##_##N##_atomic_fetch_nbi, P##_##N##_atomic_swap_nbi,                                                            \
  P##_ctx_##N##_atomic_fetch, P##_ctx_##N##_atomic_set, P##_ctx_##N##_atomic_swap,                                  \
  P##_ctx_##N##_atomic_fetch_nbi, P##_ctx_##N##_atomic_swap_nbi});
#define INTEGER(P, N, T) check_integer(IntegerRow<T>{#P "_" #N,                                                     \
  P##_##N##_atomic_compare_swap, P##_##N##_atomic_fetch_inc, P##_##N##_atomic_inc,                                  \
  P##_##N##_atomic_fetch_add, P##_##N##_atomic_add, P##_##N##_atomic_compare_swap_nbi,                              \
  P##_##N##_atomic_fetch_inc_nbi, P##_##N##_atomic_fetch_add_nbi,                                                   \
  P##_ctx_##N##_atomic_compare_swap, P##_ctx_##N##_atomic_fetch_inc, P##_ctx_##N##_atomic_inc,                      \
  P##_ctx_##N##_atomic_fetch_add, P##_ctx_##N##_atomic_add, P##_ctx_##N##_atomic_compare_swap_nbi,                  \
  P##_ctx_##N##_atomic_fetch_inc_nbi, P##_ctx_##N##_atomic_fetch_add_nbi});
#define BITWISE_OP(P, N, T, OP) check_bitwise(BitwiseRow<T>{#P "_" #N "_atomic_" #OP, bit_##OP<T>,                  \
  P##_##N##_atomic_fetch_##OP, P##_##N##_atomic_##OP, P##_##N##_atomic_fetch_##OP##_nbi,                            \
  P##_ctx_##N##_atomic_fetch_##OP, P##_ctx_##N##_atomic_##OP, P##_ctx_##N##_atomic_fetch_##OP##_nbi});
#define BITWISE(P, N, T) BITWISE_OP(P, N, T, and) BITWISE_OP(P, N, T, or) BITWISE_OP(P, N, T, xor)
// clang-format on

PE_TEST(fetch_set_and_swap_of_every_type){
    TEST_AMO_INTEGER_TYPES(EXTENDED, shmem)
        TEST_AMO_FLOAT_TYPES(EXTENDED, shmem)} PE_TEST(arithmetic_atomics_of_every_type){
    TEST_AMO_INTEGER_TYPES(INTEGER, shmem)} PE_TEST(bitwise_atomics_of_every_type){
    TEST_AMO_BITWISE_TYPES(BITWISE, shmem)} PE_TEST(profiling_names_of_atomics_do_the_same){
    TEST_AMO_INTEGER_TYPES(EXTENDED, pshmem) TEST_AMO_FLOAT_TYPES(EXTENDED, pshmem)
        TEST_AMO_INTEGER_TYPES(INTEGER, pshmem) TEST_AMO_BITWISE_TYPES(BITWISE, pshmem)}

// All bits that different PEs set in one word must remain set.
PE_TEST(concurrent_bitwise_atomics_lose_nothing) {
  Symmetric<uint64_t> word;
  const uint64_t mine = uint64_t{1} << (me() % 64);
  for (int i = 0; i < 301; ++i) {
    shmem_uint64_atomic_xor(word.get(), mine, 0);
    shmem_uint64_atomic_or(word.get(), mine, pes() - 1);
  }
  shmem_barrier_all();
  const uint64_t all = pes() >= 64 ? ~uint64_t{0} : (uint64_t{1} << pes()) - 1;
  if (pes() > 1 && pes() <= 64) CHECK_EQUAL(shmem_uint64_atomic_fetch(word.get(), 0), all);
  CHECK((shmem_uint64_atomic_fetch(word.get(), pes() - 1) & mine) != 0 || pes() == 1);
  shmem_barrier_all();
  shmem_uint64_atomic_and(word.get(), ~mine, pes() - 1);
  shmem_barrier_all();
  CHECK_EQUAL(shmem_uint64_atomic_fetch(word.get(), pes() - 1) & mine, 0u);
}

// Section 3.2: swaps of the same floating type are atomic with each other, so no token is duplicated or lost.
PE_TEST(swapped_doubles_are_never_lost) {
  Symmetric<double> slot;
  *slot = 0;
  shmem_barrier_all();
  double hand = me() + 1;
  for (int i = 0; i < 2000; ++i) hand = shmem_double_atomic_swap(slot.get(), hand, 0);
  Symmetric<double> hands(static_cast<std::size_t>(pes()) + 1);
  shmem_double_p(&hands[static_cast<std::size_t>(me())], hand, 0);
  shmem_barrier_all();
  if (me() == 0) {
    double sum = *slot;
    for (int pe = 0; pe < pes(); ++pe) sum += hands[static_cast<std::size_t>(pe)];
    CHECK_EQUAL(sum, pes() * (pes() + 1) / 2.0);
  }
}

// Section 3.2: wait and test belong to the same exclusive set as the atomics; a waiting PE never sees a part of an
// update.
PE_TEST_MIN(atomics_satisfy_waits, 2) {
  Symmetric<long> word;
  for (long i = 1; i <= 2000; ++i) {
    if (me() == 0) {
      shmem_long_atomic_inc(word.get(), 1);
      shmem_long_wait_until(word.get(), SHMEM_CMP_GE, i);
      CHECK_EQUAL(*word, i);
    } else if (me() == 1) {
      shmem_long_wait_until(word.get(), SHMEM_CMP_GE, i);
      CHECK_EQUAL(*word, i);
      shmem_long_atomic_add(word.get(), 1, 0);
    }
  }
}
