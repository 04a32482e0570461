/* Routines that the standard deprecates and still requires (annex F). For the shape of the rows see api_table.h. */
#ifndef SHMEMX_OLD_AMO_EXTENDED_OPS
/* clang-format off */

/* ---- Atomics under their names before 1.4; no context form. Use shmem_atomic_*. ---- */
#define SHMEMX_OLD_AMO_EXTENDED_OPS(X, N, T) \
  X(N##fetch, T, T,    fetch, (source_, pe_),              const T *source_, int pe_) \
  X(N##set,   T, void, set,   (dest_, value_, pe_),        T *dest_, T value_, int pe_) \
  X(N##swap,  T, T,    swap,  (dest_, value_, pe_),        T *dest_, T value_, int pe_)

#define SHMEMX_OLD_AMO_STANDARD_OPS(X, N, T) \
  X(N##cswap, T, T,    cswap, (dest_, cond_, value_, pe_), T *dest_, T cond_, T value_, int pe_) \
  X(N##finc,  T, T,    finc,  (dest_, pe_),                T *dest_, int pe_) \
  X(N##inc,   T, void, inc,   (dest_, pe_),                T *dest_, int pe_) \
  X(N##fadd,  T, T,    fadd,  (dest_, value_, pe_),        T *dest_, T value_, int pe_) \
  X(N##add,   T, void, add,   (dest_, value_, pe_),        T *dest_, T value_, int pe_)

/* ---- 9.11.1 blocks until *ivar_ differs from cmp_value_. Use wait_until with SHMEM_CMP_NE. ---- */
#define SHMEMX_OLD_WAIT_OPS(X, N, T) \
  X(N##wait,  T, void, wait,  (ivar_, cmp_value_),         T *ivar_, T cmp_value_)

/* ---- Collectives on an active set: PE_size_ PEs from PE_start_ on, every (1 << logPE_stride_)-th. Use teams. ----
   All elements of pSync_ are SHMEM_SYNC_VALUE on all members before the call and again after it. Root numbers count
   within the set, and the root's own dest_ is not written. */
#define SHMEMX_OLD_COLLECTIVE_OPS(X, S, T) \
  X(_alltoall##S,  T, void, alltoall,  (dest_, source_, nelems_, PE_start_, logPE_stride_, PE_size_, pSync_),             void *dest_, const void *source_, size_t nelems_, int PE_start_, int logPE_stride_, int PE_size_, long *pSync_) \
  X(_alltoalls##S, T, void, alltoalls, (dest_, source_, dst_, sst_, nelems_, PE_start_, logPE_stride_, PE_size_, pSync_), void *dest_, const void *source_, ptrdiff_t dst_, ptrdiff_t sst_, size_t nelems_, int PE_start_, int logPE_stride_, int PE_size_, long *pSync_) \
  X(_broadcast##S, T, void, broadcast, (dest_, source_, nelems_, PE_root_, PE_start_, logPE_stride_, PE_size_, pSync_),   void *dest_, const void *source_, size_t nelems_, int PE_root_, int PE_start_, int logPE_stride_, int PE_size_, long *pSync_) \
  X(_collect##S,   T, void, collect,   (dest_, source_, nelems_, PE_start_, logPE_stride_, PE_size_, pSync_),             void *dest_, const void *source_, size_t nelems_, int PE_start_, int logPE_stride_, int PE_size_, long *pSync_) \
  X(_fcollect##S,  T, void, fcollect,  (dest_, source_, nelems_, PE_start_, logPE_stride_, PE_size_, pSync_),             void *dest_, const void *source_, size_t nelems_, int PE_start_, int logPE_stride_, int PE_size_, long *pSync_)

/* pWrk_ has max(nreduce_ / 2 + 1, SHMEM_REDUCE_MIN_WRKDATA_SIZE) elements. */
#define SHMEMX_TO_ALL_BITWISE_OPS(X, N, T) \
  X(N##and_to_all,  T, void, and_to_all,  (dest_, source_, nreduce_, PE_start_, logPE_stride_, PE_size_, pWrk_, pSync_), T *dest_, const T *source_, int nreduce_, int PE_start_, int logPE_stride_, int PE_size_, T *pWrk_, long *pSync_) \
  X(N##or_to_all,   T, void, or_to_all,   (dest_, source_, nreduce_, PE_start_, logPE_stride_, PE_size_, pWrk_, pSync_), T *dest_, const T *source_, int nreduce_, int PE_start_, int logPE_stride_, int PE_size_, T *pWrk_, long *pSync_) \
  X(N##xor_to_all,  T, void, xor_to_all,  (dest_, source_, nreduce_, PE_start_, logPE_stride_, PE_size_, pWrk_, pSync_), T *dest_, const T *source_, int nreduce_, int PE_start_, int logPE_stride_, int PE_size_, T *pWrk_, long *pSync_)

#define SHMEMX_TO_ALL_ORDER_OPS(X, N, T) \
  X(N##max_to_all,  T, void, max_to_all,  (dest_, source_, nreduce_, PE_start_, logPE_stride_, PE_size_, pWrk_, pSync_), T *dest_, const T *source_, int nreduce_, int PE_start_, int logPE_stride_, int PE_size_, T *pWrk_, long *pSync_) \
  X(N##min_to_all,  T, void, min_to_all,  (dest_, source_, nreduce_, PE_start_, logPE_stride_, PE_size_, pWrk_, pSync_), T *dest_, const T *source_, int nreduce_, int PE_start_, int logPE_stride_, int PE_size_, T *pWrk_, long *pSync_)

#define SHMEMX_TO_ALL_SUM_OPS(X, N, T) \
  X(N##sum_to_all,  T, void, sum_to_all,  (dest_, source_, nreduce_, PE_start_, logPE_stride_, PE_size_, pWrk_, pSync_), T *dest_, const T *source_, int nreduce_, int PE_start_, int logPE_stride_, int PE_size_, T *pWrk_, long *pSync_) \
  X(N##prod_to_all, T, void, prod_to_all, (dest_, source_, nreduce_, PE_start_, logPE_stride_, PE_size_, pWrk_, pSync_), T *dest_, const T *source_, int nreduce_, int PE_start_, int logPE_stride_, int PE_size_, T *pWrk_, long *pSync_)

/* ---- Which rows exist for which types ---- */
#define SHMEMX_OLD_AMO_TABLE(X)                                    \
  SHMEMX_FLOAT_TYPES(SHMEMX_OLD_AMO_EXTENDED_OPS, X)               \
  SHMEMX_OLD_AMO_TYPES(SHMEMX_OLD_AMO_EXTENDED_OPS, X)             \
  SHMEMX_OLD_AMO_TYPES(SHMEMX_OLD_AMO_STANDARD_OPS, X)

#define SHMEMX_OLD_WAIT_TABLE(X)     SHMEMX_OLD_INTEGER_TYPES(SHMEMX_OLD_WAIT_OPS, X)
#define SHMEMX_OLD_WAIT_UNTIL_TABLE(X) SHMEMX_OLD_WAIT_TYPES(SHMEMX_WAIT_OPS, X)
#define SHMEMX_OLD_COLLECTIVE_TABLE(X) SHMEMX_OLD_SIZES(SHMEMX_OLD_COLLECTIVE_OPS, X)

#define SHMEMX_TO_ALL_TABLE(X)                                     \
  SHMEMX_OLD_INTEGER_TYPES(SHMEMX_TO_ALL_BITWISE_OPS, X)           \
  SHMEMX_OLD_REAL_TYPES(SHMEMX_TO_ALL_ORDER_OPS, X)                \
  SHMEMX_OLD_REAL_TYPES(SHMEMX_TO_ALL_SUM_OPS, X)                  \
  SHMEMX_COMPLEX_TYPES(SHMEMX_TO_ALL_SUM_OPS, X)

/* ---- Waits on a long, without a type in their name: X(R, NAME, PARAMETERS) ---- */
#define SHMEMX_OLD_LONG_WAITS(X) \
  X(void, shmem_wait,       (long *ivar_, long cmp_value_)) \
  X(void, shmem_wait_until, (long *ivar_, int cmp_, long cmp_value_))

/* ---- The oldest names; they have no pshmem_ twin: X(R, NAME, PARAMETERS) ----
   start_pes ignores its argument and may be called often; a program that used it is finalised when it exits. */
#define SHMEMX_OLDEST_ROUTINES(X) \
  X(void,   start_pes,  (int npes_)) \
  X(int,    _my_pe,     (void)) \
  X(int,    _num_pes,   (void)) \
  X(void *, shmalloc,   (size_t size_)) \
  X(void,   shfree,     (void *ptr_)) \
  X(void *, shrealloc,  (void *ptr_, size_t size_)) \
  X(void *, shmemalign, (size_t alignment_, size_t size_))

/* clang-format on */
#endif
