// All RMA entry points of one type in one struct, so that one test function covers every type, prefix and context form.
#pragma once

#include <pshmem.h>
#include <shmem.h>

#include "../../support/types.hpp"

namespace pe_test {

// T is the element; A is what the pointers of the prototypes point to (T, or void for sized and mem routines).
template <class T, class A = T>
struct RmaRow {
  using Copy = void(A*, const A*, size_t, int);
  using CtxCopy = void(shmem_ctx_t, A*, const A*, size_t, int);
  using Strided = void(A*, const A*, ptrdiff_t, ptrdiff_t, size_t, int);
  using CtxStrided = void(shmem_ctx_t, A*, const A*, ptrdiff_t, ptrdiff_t, size_t, int);
  using Blocked = void(A*, const A*, ptrdiff_t, ptrdiff_t, size_t, size_t, int);
  using CtxBlocked = void(shmem_ctx_t, A*, const A*, ptrdiff_t, ptrdiff_t, size_t, size_t, int);

  const char* name;
  Copy *put, *get, *put_nbi, *get_nbi;
  CtxCopy *ctx_put, *ctx_get, *ctx_put_nbi, *ctx_get_nbi;
  Strided *iput = nullptr, *iget = nullptr;
  CtxStrided *ctx_iput = nullptr, *ctx_iget = nullptr;
  Blocked *ibput = nullptr, *ibget = nullptr;
  CtxBlocked *ctx_ibput = nullptr, *ctx_ibget = nullptr;
  void (*p)(T*, T, int) = nullptr;
  T (*g)(const T*, int) = nullptr;
  void (*ctx_p)(shmem_ctx_t, T*, T, int) = nullptr;
  T (*ctx_g)(shmem_ctx_t, const T*, int) = nullptr;
};

// The way a routine is called: without a context argument, or with one.
struct Via {
  bool with_ctx;
  shmem_ctx_t ctx;
  void quiet() const {
    if (with_ctx)
      shmem_ctx_quiet(ctx);
    else
      shmem_quiet();
  }
};

template <class F, class G, class... Args>
auto call(const Via& via, F* plain, G* with_ctx, Args... args) {
  return via.with_ctx ? with_ctx(via.ctx, args...) : plain(args...);
}

}  // namespace pe_test

// clang-format off
#define RMA_TYPED_ROW(P, N, T)                                                                                      \
  ::pe_test::RmaRow<T>{#P "_" #N, P##_##N##_put, P##_##N##_get, P##_##N##_put_nbi, P##_##N##_get_nbi,               \
    P##_ctx_##N##_put, P##_ctx_##N##_get, P##_ctx_##N##_put_nbi, P##_ctx_##N##_get_nbi,                             \
    P##_##N##_iput, P##_##N##_iget, P##_ctx_##N##_iput, P##_ctx_##N##_iget,                                         \
    P##_##N##_ibput, P##_##N##_ibget, P##_ctx_##N##_ibput, P##_ctx_##N##_ibget,                                     \
    P##_##N##_p, P##_##N##_g, P##_ctx_##N##_p, P##_ctx_##N##_g}
#define RMA_SIZED_ROW(P, N, T)                                                                                      \
  ::pe_test::RmaRow<T, void>{#P "_sized_" #N, P##_put##N, P##_get##N, P##_put##N##_nbi, P##_get##N##_nbi,           \
    P##_ctx_put##N, P##_ctx_get##N, P##_ctx_put##N##_nbi, P##_ctx_get##N##_nbi,                                     \
    P##_iput##N, P##_iget##N, P##_ctx_iput##N, P##_ctx_iget##N,                                                     \
    P##_ibput##N, P##_ibget##N, P##_ctx_ibput##N, P##_ctx_ibget##N}
#define RMA_MEM_ROW(P)                                                                                              \
  ::pe_test::RmaRow<unsigned char, void>{#P "_mem", P##_putmem, P##_getmem, P##_putmem_nbi, P##_getmem_nbi,         \
    P##_ctx_putmem, P##_ctx_getmem, P##_ctx_putmem_nbi, P##_ctx_getmem_nbi}
// clang-format on
