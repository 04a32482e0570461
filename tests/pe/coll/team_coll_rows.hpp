// All collectives of one type on teams (section 9.10), gathered so that one body serves every type and prefix.
#pragma once

#include <pshmem.h>
#include <shmem.h>

#include "../../support/types.hpp"

namespace pe_test {

// A is the pointee of the prototypes: T, or void for the mem forms, whose elements are bytes.
template <class T, class A = T>
struct MoveRow {
  const char* name;
  int (*broadcast)(shmem_team_t, A*, const A*, size_t, int);
  int (*collect)(shmem_team_t, A*, const A*, size_t);
  int (*fcollect)(shmem_team_t, A*, const A*, size_t);
  int (*alltoall)(shmem_team_t, A*, const A*, size_t);
  int (*alltoalls)(shmem_team_t, A*, const A*, ptrdiff_t, ptrdiff_t, size_t);
};

template <class T>
using Reduce = int(shmem_team_t, T*, const T*, size_t);

template <class T>
struct ReduceRow {
  const char* name;
  Reduce<T>*sum, *prod, *inscan, *exscan;
  Reduce<T>*max, *min;           // null for complex types
  Reduce<T>*all, *any, *parity;  // and, or, xor; null for types without
};

// T is deduced from the routine's type, so it does not depend on the header's name for complex types.
template <class T>
ReduceRow<T> arithmetic_row(const char* name, int (*sum)(shmem_team_t, T*, const T*, size_t), Reduce<T>* prod,
                            Reduce<T>* inscan, Reduce<T>* exscan) {
  return {name, sum, prod, inscan, exscan, nullptr, nullptr, nullptr, nullptr, nullptr};
}

}  // namespace pe_test

// clang-format off
#define MOVE_ROW(P, N, T) ::pe_test::MoveRow<T>{#P "_" #N, P##_##N##_broadcast, P##_##N##_collect,               \
  P##_##N##_fcollect, P##_##N##_alltoall, P##_##N##_alltoalls}
#define MOVE_MEM_ROW(P) ::pe_test::MoveRow<unsigned char, void>{#P "_mem", P##_broadcastmem, P##_collectmem,     \
  P##_fcollectmem, P##_alltoallmem, P##_alltoallsmem}
#define SCALAR_REDUCE_ROW(P, N, T) ::pe_test::ReduceRow<T>{#P "_" #N, P##_##N##_sum_reduce,                      \
  P##_##N##_prod_reduce, P##_##N##_sum_inscan, P##_##N##_sum_exscan, P##_##N##_max_reduce,                       \
  P##_##N##_min_reduce, nullptr, nullptr, nullptr}
#define COMPLEX_REDUCE_ROW(P, N) ::pe_test::arithmetic_row(#P "_" #N, P##_##N##_sum_reduce,                      \
  P##_##N##_prod_reduce, P##_##N##_sum_inscan, P##_##N##_sum_exscan)
// clang-format on
