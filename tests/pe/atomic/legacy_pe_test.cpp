// The deprecated names of atomics (section 9.7, table of deprecations in Annex F).
#include <pshmem.h>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

template <class T>
void check_old_extended(const char* name, T (*fetch)(const T*, int), void (*set)(T*, T, int), T (*swap)(T*, T, int)) {
  const Note note(name);
  Symmetric<T> word;
  set(word.get(), static_cast<T>(5 + me()), right());
  CHECK_EQUAL(fetch(word.get(), right()), static_cast<T>(5 + me()));
  CHECK_EQUAL(swap(word.get(), static_cast<T>(77), right()), static_cast<T>(5 + me()));
  shmem_barrier_all();
  CHECK_EQUAL(*word, static_cast<T>(77));
}

template <class T>
void check_old_integer(const char* name, T (*cswap)(T*, T, T, int), T (*finc)(T*, int), void (*inc)(T*, int),
                       T (*fadd)(T*, T, int), void (*add)(T*, T, int)) {
  const Note note(name);
  Symmetric<T> word;
  CHECK_EQUAL(finc(word.get(), right()), T{0});
  inc(word.get(), right());
  CHECK_EQUAL(fadd(word.get(), 10, right()), T{2});
  add(word.get(), -5, right());
  CHECK_EQUAL(cswap(word.get(), 6, 1, right()), T{7});
  CHECK_EQUAL(cswap(word.get(), 7, 100, right()), T{7});
  shmem_barrier_all();
  CHECK_EQUAL(*word, T{100});
  shmem_barrier_all();
  for (int i = 0; i < 100; ++i) {
    inc(word.get(), 0);
    add(word.get(), 2, 0);
    finc(word.get(), 0);
    fadd(word.get(), 1, 0);
  }
  shmem_barrier_all();
  if (me() == 0) CHECK_EQUAL(*word, static_cast<T>(100 + 500 * pes()));
}

}  // namespace

#define OLD_EXTENDED(P, N) check_old_extended(#P "_" #N, P##_##N##_fetch, P##_##N##_set, P##_##N##_swap);
#define OLD_INTEGER(P, N) \
  check_old_integer(#P "_" #N, P##_##N##_cswap, P##_##N##_finc, P##_##N##_inc, P##_##N##_fadd, P##_##N##_add);
#define OLD_ALL(P)                                                                                              \
  OLD_EXTENDED(P, float)                                                                                        \
  OLD_EXTENDED(P, double)                                                                                       \
  OLD_EXTENDED(P, int) OLD_EXTENDED(P, long) OLD_EXTENDED(P, longlong) OLD_INTEGER(P, int) OLD_INTEGER(P, long) \
      OLD_INTEGER(P, longlong)

PE_TEST(old_names_of_atomics_work){OLD_ALL(shmem)} PE_TEST(profiling_names_of_old_atomics_work) { OLD_ALL(pshmem) }
