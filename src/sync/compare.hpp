// The comparisons of the standard's wait and test routines, and how they read a word that others write.
#pragma once

#include <shmemx/types.h>

namespace shmemx::sync {

constexpr bool valid_comparison(int cmp) noexcept {
  return cmp == SHMEM_CMP_EQ || cmp == SHMEM_CMP_NE || cmp == SHMEM_CMP_GT || cmp == SHMEM_CMP_GE ||
         cmp == SHMEM_CMP_LT || cmp == SHMEM_CMP_LE;
}

// As bootstrap/awaited.cpp names them.
static_assert(SHMEM_CMP_EQ == 1 && SHMEM_CMP_NE == 2 && SHMEM_CMP_GT == 3 && SHMEM_CMP_GE == 4 && SHMEM_CMP_LT == 5 &&
              SHMEM_CMP_LE == 6);

// Reads a word atomically; later reads see what the writer of the value wrote before it.
template <class T>
inline T load(const T* at) noexcept {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

template <class T>
inline bool compares(T value, int cmp, T against) noexcept {
  switch (cmp) {
    case SHMEM_CMP_EQ:
      return value == against;
    case SHMEM_CMP_NE:
      return value != against;
    case SHMEM_CMP_GT:
      return value > against;
    case SHMEM_CMP_GE:
      return value >= against;
    case SHMEM_CMP_LT:
      return value < against;
    default:
      return value <= against;
  }
}

}  // namespace shmemx::sync
