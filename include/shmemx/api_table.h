/* One row for each typed routine of OpenSHMEM 1.6; deprecated ones stand in api_deprecated.h.

   A row is X(TAIL, T, R, OP, ARGS, parameters...):
     TAIL  the name after `shmem` or `shmem_ctx`: _float_put, _put32_nbi, _putmem_signal
     T     the element type                     R    the result type
     OP    the operation: name of the function template behind it, and of the C11/C++ generic after `shmem_`
     ARGS  the parameters' names, in brackets   then the parameters themselves
   Prototypes, twins, overloads and definitions are all made from these rows, so they cannot differ.

   Parameter names end in an underscore: a user's `#define pe 3` or `#define dest buffer` before the include does no
   harm. TAIL is pasted and never expanded, so neither does `#define put ...`.

   Common to all rows below. dest_ at a put, source_ at a get and the target of an atomic are addresses of symmetric
   objects: this PE's address names the object, pe_ the PE whose copy is meant. pe_ counts within the team of the
   context, for routines without context within the world. Lengths and strides count elements of T (bytes for ..mem).
   Wrong arguments (a PE that does not exist, an address that is not symmetric, a range that leaves the object's window,
   a handle that is none) end the job with one line that names routine, argument and value. */
#ifndef SHMEMX_RMA_OPS
/* clang-format off */

/* ==== RMA: section 9.6; each row also with a context ==== */
#define SHMEMX_RMA_OPS(X, N, T)                                                                                                                                     \
  /* 9.6.1.1 put: writes nelems_ elements. On return source_ may be changed; the data are in place by the next quiet. */                                            \
  X(N##put,     T, void, put,     (dest_, source_, nelems_, pe_),                               T *dest_, const T *source_, size_t nelems_, int pe_)                \
  /* 9.6.1.2 p: writes one element given by value. */                                                                                                               \
  X(N##p,       T, void, p,       (dest_, value_, pe_),                                         T *dest_, T value_, int pe_)                                        \
  /* 9.6.1.3 iput: element i goes from source_[i * sst_] to dest_[i * dst_]; strides are at least 1. */                                                             \
  X(N##iput,    T, void, iput,    (dest_, source_, dst_, sst_, nelems_, pe_),                   T *dest_, const T *source_, ptrdiff_t dst_, ptrdiff_t sst_, size_t nelems_, int pe_) \
  /* 9.6.1.4 ibput: nblocks_ blocks of bsize_ elements; strides run from block start to block start and are at least bsize_. */                                     \
  X(N##ibput,   T, void, ibput,   (dest_, source_, dst_, sst_, bsize_, nblocks_, pe_),          T *dest_, const T *source_, ptrdiff_t dst_, ptrdiff_t sst_, size_t bsize_, size_t nblocks_, int pe_) \
  /* 9.6.1.5 get: reads nelems_ elements; they are in dest_ on return. */                                                                                           \
  X(N##get,     T, void, get,     (dest_, source_, nelems_, pe_),                               T *dest_, const T *source_, size_t nelems_, int pe_)                \
  /* 9.6.1.6 g: reads one element and returns it. */                                                                                                                \
  X(N##g,       T, T,    g,       (source_, pe_),                                               const T *source_, int pe_)                                          \
  /* 9.6.1.7 iget: as iput in the other direction; the data are in dest_ on return. */                                                                              \
  X(N##iget,    T, void, iget,    (dest_, source_, dst_, sst_, nelems_, pe_),                   T *dest_, const T *source_, ptrdiff_t dst_, ptrdiff_t sst_, size_t nelems_, int pe_) \
  /* 9.6.1.8 ibget: as ibput in the other direction; the data are in dest_ on return. */                                                                            \
  X(N##ibget,   T, void, ibget,   (dest_, source_, dst_, sst_, bsize_, nblocks_, pe_),          T *dest_, const T *source_, ptrdiff_t dst_, ptrdiff_t sst_, size_t bsize_, size_t nblocks_, int pe_) \
  /* 9.6.2.1 put_nbi: source_ stays in use until quiet. */                                                                                                          \
  X(N##put_nbi, T, void, put_nbi, (dest_, source_, nelems_, pe_),                               T *dest_, const T *source_, size_t nelems_, int pe_)                \
  /* 9.6.2.2 get_nbi: dest_ holds the data after quiet. */                                                                                                          \
  X(N##get_nbi, T, void, get_nbi, (dest_, source_, nelems_, pe_),                               T *dest_, const T *source_, size_t nelems_, int pe_)

/* 9.8.3, 9.8.4 put_signal: a put, then an update of *sig_addr_ on the target: set to signal_ or increased by it, as
   sig_op_ says (SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD). The update follows the data of this put. nbi: source_ stays in
   use until quiet. */
#define SHMEMX_PUT_SIGNAL_OPS(X, N, T) \
  X(N##put_signal,     T, void, put_signal,     (dest_, source_, nelems_, sig_addr_, signal_, sig_op_, pe_), T *dest_, const T *source_, size_t nelems_, uint64_t *sig_addr_, uint64_t signal_, int sig_op_, int pe_) \
  X(N##put_signal_nbi, T, void, put_signal_nbi, (dest_, source_, nelems_, sig_addr_, signal_, sig_op_, pe_), T *dest_, const T *source_, size_t nelems_, uint64_t *sig_addr_, uint64_t signal_, int sig_op_, int pe_)

/* The same by size: S is the element's size in bits, or mem for bytes. */
#define SHMEMX_SIZED_RMA_OPS(X, S, T) \
  X(_put##S,       T, void, put,     (dest_, source_, nelems_, pe_), void *dest_, const void *source_, size_t nelems_, int pe_) \
  X(_get##S,       T, void, get,     (dest_, source_, nelems_, pe_), void *dest_, const void *source_, size_t nelems_, int pe_) \
  X(_put##S##_nbi, T, void, put_nbi, (dest_, source_, nelems_, pe_), void *dest_, const void *source_, size_t nelems_, int pe_) \
  X(_get##S##_nbi, T, void, get_nbi, (dest_, source_, nelems_, pe_), void *dest_, const void *source_, size_t nelems_, int pe_) \
  X(_put##S##_signal,     T, void, put_signal,     (dest_, source_, nelems_, sig_addr_, signal_, sig_op_, pe_), void *dest_, const void *source_, size_t nelems_, uint64_t *sig_addr_, uint64_t signal_, int sig_op_, int pe_) \
  X(_put##S##_signal_nbi, T, void, put_signal_nbi, (dest_, source_, nelems_, sig_addr_, signal_, sig_op_, pe_), void *dest_, const void *source_, size_t nelems_, uint64_t *sig_addr_, uint64_t signal_, int sig_op_, int pe_)

/* The strided routines have no mem form. */
#define SHMEMX_SIZED_STRIDED_OPS(X, S, T) \
  X(_iput##S,  T, void, iput,  (dest_, source_, dst_, sst_, nelems_, pe_),          void *dest_, const void *source_, ptrdiff_t dst_, ptrdiff_t sst_, size_t nelems_, int pe_) \
  X(_iget##S,  T, void, iget,  (dest_, source_, dst_, sst_, nelems_, pe_),          void *dest_, const void *source_, ptrdiff_t dst_, ptrdiff_t sst_, size_t nelems_, int pe_) \
  X(_ibput##S, T, void, ibput, (dest_, source_, dst_, sst_, bsize_, nblocks_, pe_), void *dest_, const void *source_, ptrdiff_t dst_, ptrdiff_t sst_, size_t bsize_, size_t nblocks_, int pe_) \
  X(_ibget##S, T, void, ibget, (dest_, source_, dst_, sst_, bsize_, nblocks_, pe_), void *dest_, const void *source_, ptrdiff_t dst_, ptrdiff_t sst_, size_t bsize_, size_t nblocks_, int pe_)

/* ==== Atomics: section 9.7; each row also with a context ====
   Atomic with respect to atomics, waits and tests of the same type on the same object. Fetching routines return the
   old value; the _nbi ones write it to *fetch_, which is valid after quiet. Non-fetching ones complete by the next
   quiet. */
#define SHMEMX_AMO_EXTENDED_OPS(X, N, T)      /* 9.7.1.1, .2, .4; 9.7.2.1, .3: also for float and double */ \
  X(N##atomic_fetch,            T, T,    atomic_fetch,            (source_, pe_),                      const T *source_, int pe_) \
  X(N##atomic_set,              T, void, atomic_set,              (dest_, value_, pe_),                T *dest_, T value_, int pe_) \
  X(N##atomic_swap,             T, T,    atomic_swap,             (dest_, value_, pe_),                T *dest_, T value_, int pe_) \
  X(N##atomic_fetch_nbi,        T, void, atomic_fetch_nbi,        (fetch_, source_, pe_),              T *fetch_, const T *source_, int pe_) \
  X(N##atomic_swap_nbi,         T, void, atomic_swap_nbi,         (fetch_, dest_, value_, pe_),        T *fetch_, T *dest_, T value_, int pe_)

#define SHMEMX_AMO_STANDARD_OPS(X, N, T)      /* 9.7.1.3, .5 to .8; 9.7.2.2, .4, .5: compare_swap writes value_ where it finds cond_ */ \
  X(N##atomic_compare_swap,     T, T,    atomic_compare_swap,     (dest_, cond_, value_, pe_),         T *dest_, T cond_, T value_, int pe_) \
  X(N##atomic_fetch_inc,        T, T,    atomic_fetch_inc,        (dest_, pe_),                        T *dest_, int pe_) \
  X(N##atomic_inc,              T, void, atomic_inc,              (dest_, pe_),                        T *dest_, int pe_) \
  X(N##atomic_fetch_add,        T, T,    atomic_fetch_add,        (dest_, value_, pe_),                T *dest_, T value_, int pe_) \
  X(N##atomic_add,              T, void, atomic_add,              (dest_, value_, pe_),                T *dest_, T value_, int pe_) \
  X(N##atomic_compare_swap_nbi, T, void, atomic_compare_swap_nbi, (fetch_, dest_, cond_, value_, pe_), T *fetch_, T *dest_, T cond_, T value_, int pe_) \
  X(N##atomic_fetch_inc_nbi,    T, void, atomic_fetch_inc_nbi,    (fetch_, dest_, pe_),                T *fetch_, T *dest_, int pe_) \
  X(N##atomic_fetch_add_nbi,    T, void, atomic_fetch_add_nbi,    (fetch_, dest_, value_, pe_),        T *fetch_, T *dest_, T value_, int pe_)

#define SHMEMX_AMO_BITWISE_OPS(X, N, T)       /* 9.7.1.9 to .14; 9.7.2.6 to .8 */ \
  X(N##atomic_fetch_and,        T, T,    atomic_fetch_and,        (dest_, value_, pe_),                T *dest_, T value_, int pe_) \
  X(N##atomic_and,              T, void, atomic_and,              (dest_, value_, pe_),                T *dest_, T value_, int pe_) \
  X(N##atomic_fetch_or,         T, T,    atomic_fetch_or,         (dest_, value_, pe_),                T *dest_, T value_, int pe_) \
  X(N##atomic_or,               T, void, atomic_or,               (dest_, value_, pe_),                T *dest_, T value_, int pe_) \
  X(N##atomic_fetch_xor,        T, T,    atomic_fetch_xor,        (dest_, value_, pe_),                T *dest_, T value_, int pe_) \
  X(N##atomic_xor,              T, void, atomic_xor,              (dest_, value_, pe_),                T *dest_, T value_, int pe_) \
  X(N##atomic_fetch_and_nbi,    T, void, atomic_fetch_and_nbi,    (fetch_, dest_, value_, pe_),        T *fetch_, T *dest_, T value_, int pe_) \
  X(N##atomic_fetch_or_nbi,     T, void, atomic_fetch_or_nbi,     (fetch_, dest_, value_, pe_),        T *fetch_, T *dest_, T value_, int pe_) \
  X(N##atomic_fetch_xor_nbi,    T, void, atomic_fetch_xor_nbi,    (fetch_, dest_, value_, pe_),        T *fetch_, T *dest_, T value_, int pe_)

/* ==== Waits and tests on this PE's own symmetric words: section 9.11 ====
   cmp_ is one of SHMEM_CMP_*. After a wait returns, or a test succeeds, everything that the updating PE ordered
   before its update is visible here too. */
#define SHMEMX_WAIT_OPS(X, N, T)              /* 9.11.1 blocks until *ivar_ cmp_ cmp_value_; 9.11.8 compares once: 1 or 0 */ \
  X(N##wait_until, T, void, wait_until, (ivar_, cmp_, cmp_value_), T *ivar_, int cmp_, T cmp_value_) \
  X(N##test,       T, int,  test,       (ivar_, cmp_, cmp_value_), T *ivar_, int cmp_, T cmp_value_)

/* 9.11.2 to .7 and .9 to .14, over ivars_[0..nelems_-1]. status_[i] != 0 excludes element i; a null status_ excludes
   none. An empty set satisfies _all at once. _any returns an index, or SIZE_MAX for an empty set or (test) if no
   element matches. _some returns the number of matches and writes their indices. The _vector forms compare each
   element with its own value. */
#define SHMEMX_WAIT_ARRAY_OPS(X, N, T) \
  X(N##wait_until_all,         T, void,   wait_until_all,         (ivars_, nelems_, status_, cmp_, cmp_value_),            T *ivars_, size_t nelems_, const int *status_, int cmp_, T cmp_value_) \
  X(N##wait_until_any,         T, size_t, wait_until_any,         (ivars_, nelems_, status_, cmp_, cmp_value_),            T *ivars_, size_t nelems_, const int *status_, int cmp_, T cmp_value_) \
  X(N##wait_until_some,        T, size_t, wait_until_some,        (ivars_, nelems_, indices_, status_, cmp_, cmp_value_),  T *ivars_, size_t nelems_, size_t *indices_, const int *status_, int cmp_, T cmp_value_) \
  X(N##wait_until_all_vector,  T, void,   wait_until_all_vector,  (ivars_, nelems_, status_, cmp_, cmp_values_),           T *ivars_, size_t nelems_, const int *status_, int cmp_, const T *cmp_values_) \
  X(N##wait_until_any_vector,  T, size_t, wait_until_any_vector,  (ivars_, nelems_, status_, cmp_, cmp_values_),           T *ivars_, size_t nelems_, const int *status_, int cmp_, const T *cmp_values_) \
  X(N##wait_until_some_vector, T, size_t, wait_until_some_vector, (ivars_, nelems_, indices_, status_, cmp_, cmp_values_), T *ivars_, size_t nelems_, size_t *indices_, const int *status_, int cmp_, const T *cmp_values_) \
  X(N##test_all,               T, int,    test_all,               (ivars_, nelems_, status_, cmp_, cmp_value_),            T *ivars_, size_t nelems_, const int *status_, int cmp_, T cmp_value_) \
  X(N##test_any,               T, size_t, test_any,               (ivars_, nelems_, status_, cmp_, cmp_value_),            T *ivars_, size_t nelems_, const int *status_, int cmp_, T cmp_value_) \
  X(N##test_some,              T, size_t, test_some,              (ivars_, nelems_, indices_, status_, cmp_, cmp_value_),  T *ivars_, size_t nelems_, size_t *indices_, const int *status_, int cmp_, T cmp_value_) \
  X(N##test_all_vector,        T, int,    test_all_vector,        (ivars_, nelems_, status_, cmp_, cmp_values_),           T *ivars_, size_t nelems_, const int *status_, int cmp_, const T *cmp_values_) \
  X(N##test_any_vector,        T, size_t, test_any_vector,        (ivars_, nelems_, status_, cmp_, cmp_values_),           T *ivars_, size_t nelems_, const int *status_, int cmp_, const T *cmp_values_) \
  X(N##test_some_vector,       T, size_t, test_some_vector,       (ivars_, nelems_, indices_, status_, cmp_, cmp_values_), T *ivars_, size_t nelems_, size_t *indices_, const int *status_, int cmp_, const T *cmp_values_)

/* ==== Collectives of a team: section 9.10 ====
   All PEs of team_ call, in the same order. On return this PE's dest_ is complete and its source_ may be changed;
   other PEs may still be inside. No quiet is implied. They return 0, or non-zero on failure. Zero lengths are legal. */
#define SHMEMX_COLLECTIVE_OPS(X, N, T) \
  /* 9.10.5 alltoall: block k of PE l becomes block l of PE k; nelems_ is the length of a block. */ \
  X(N##alltoall,  T, int, alltoall,  (team_, dest_, source_, nelems_),             shmem_team_t team_, T *dest_, const T *source_, size_t nelems_) \
  /* 9.10.6 alltoalls: element j of block l stands at index (l * nelems_ + j) * stride. */ \
  X(N##alltoalls, T, int, alltoalls, (team_, dest_, source_, dst_, sst_, nelems_), shmem_team_t team_, T *dest_, const T *source_, ptrdiff_t dst_, ptrdiff_t sst_, size_t nelems_) \
  /* 9.10.7 broadcast: source_ of team PE root_ goes to dest_ of all, the root's too. */ \
  X(N##broadcast, T, int, broadcast, (team_, dest_, source_, nelems_, root_),      shmem_team_t team_, T *dest_, const T *source_, size_t nelems_, int root_) \
  /* 9.10.8 collect: all sources one after the other, in PE order; nelems_ may differ from PE to PE, for fcollect not. */ \
  X(N##collect,   T, int, collect,   (team_, dest_, source_, nelems_),             shmem_team_t team_, T *dest_, const T *source_, size_t nelems_) \
  X(N##fcollect,  T, int, fcollect,  (team_, dest_, source_, nelems_),             shmem_team_t team_, T *dest_, const T *source_, size_t nelems_)

/* The same on bytes. */
#define SHMEMX_MEM_COLLECTIVE_OPS(X, S, T) \
  X(_alltoall##S,  T, int, alltoall,  (team_, dest_, source_, nelems_),             shmem_team_t team_, void *dest_, const void *source_, size_t nelems_) \
  X(_alltoalls##S, T, int, alltoalls, (team_, dest_, source_, dst_, sst_, nelems_), shmem_team_t team_, void *dest_, const void *source_, ptrdiff_t dst_, ptrdiff_t sst_, size_t nelems_) \
  X(_broadcast##S, T, int, broadcast, (team_, dest_, source_, nelems_, root_),      shmem_team_t team_, void *dest_, const void *source_, size_t nelems_, int root_) \
  X(_collect##S,   T, int, collect,   (team_, dest_, source_, nelems_),             shmem_team_t team_, void *dest_, const void *source_, size_t nelems_) \
  X(_fcollect##S,  T, int, fcollect,  (team_, dest_, source_, nelems_),             shmem_team_t team_, void *dest_, const void *source_, size_t nelems_)

/* 9.10.9 reductions: element i of dest_ combines element i of all sources, the same on all PEs. source_ and dest_
   are the same array or do not overlap. */
#define SHMEMX_REDUCE_BITWISE_OPS(X, N, T) \
  X(N##and_reduce,  T, int, and_reduce,  (team_, dest_, source_, nreduce_), shmem_team_t team_, T *dest_, const T *source_, size_t nreduce_) \
  X(N##or_reduce,   T, int, or_reduce,   (team_, dest_, source_, nreduce_), shmem_team_t team_, T *dest_, const T *source_, size_t nreduce_) \
  X(N##xor_reduce,  T, int, xor_reduce,  (team_, dest_, source_, nreduce_), shmem_team_t team_, T *dest_, const T *source_, size_t nreduce_)

#define SHMEMX_REDUCE_ORDER_OPS(X, N, T) \
  X(N##max_reduce,  T, int, max_reduce,  (team_, dest_, source_, nreduce_), shmem_team_t team_, T *dest_, const T *source_, size_t nreduce_) \
  X(N##min_reduce,  T, int, min_reduce,  (team_, dest_, source_, nreduce_), shmem_team_t team_, T *dest_, const T *source_, size_t nreduce_)

#define SHMEMX_REDUCE_SUM_OPS(X, N, T) \
  X(N##sum_reduce,  T, int, sum_reduce,  (team_, dest_, source_, nreduce_), shmem_team_t team_, T *dest_, const T *source_, size_t nreduce_) \
  X(N##prod_reduce, T, int, prod_reduce, (team_, dest_, source_, nreduce_), shmem_team_t team_, T *dest_, const T *source_, size_t nreduce_) \
  /* 9.10.10 scans: dest_ on PE k sums the sources of PEs 0..k (inscan) or 0..k-1 (exscan; zero on PE 0). */ \
  X(N##sum_inscan,  T, int, sum_inscan,  (team_, dest_, source_, nelems_),  shmem_team_t team_, T *dest_, const T *source_, size_t nelems_) \
  X(N##sum_exscan,  T, int, sum_exscan,  (team_, dest_, source_, nelems_),  shmem_team_t team_, T *dest_, const T *source_, size_t nelems_)

/* ==== Which rows exist for which types ==== */
#define SHMEMX_RMA_TABLE(X)                                        /* with and without a context */ \
  SHMEMX_RMA_TYPES(SHMEMX_RMA_OPS, X)                              \
  SHMEMX_RMA_TYPES(SHMEMX_PUT_SIGNAL_OPS, X)                       \
  SHMEMX_SIZES(SHMEMX_SIZED_RMA_OPS, X)                            \
  SHMEMX_MEM(SHMEMX_SIZED_RMA_OPS, X)                              \
  SHMEMX_SIZES(SHMEMX_SIZED_STRIDED_OPS, X)

#define SHMEMX_AMO_TABLE(X)                                        /* with and without a context */ \
  SHMEMX_AMO_TYPES(SHMEMX_AMO_EXTENDED_OPS, X)                     \
  SHMEMX_FLOAT_TYPES(SHMEMX_AMO_EXTENDED_OPS, X)                   \
  SHMEMX_AMO_TYPES(SHMEMX_AMO_STANDARD_OPS, X)                     \
  SHMEMX_BITWISE_AMO_TYPES(SHMEMX_AMO_BITWISE_OPS, X)

#define SHMEMX_WAIT_TABLE(X)                                       \
  SHMEMX_AMO_TYPES(SHMEMX_WAIT_OPS, X)                             \
  SHMEMX_AMO_TYPES(SHMEMX_WAIT_ARRAY_OPS, X)

#define SHMEMX_COLLECTIVE_TABLE(X)                                 \
  SHMEMX_RMA_TYPES(SHMEMX_COLLECTIVE_OPS, X)                       \
  SHMEMX_MEM(SHMEMX_MEM_COLLECTIVE_OPS, X)

#define SHMEMX_REDUCE_TABLE(X)                                     \
  SHMEMX_BITWISE_REDUCE_TYPES(SHMEMX_REDUCE_BITWISE_OPS, X)        \
  SHMEMX_RMA_TYPES(SHMEMX_REDUCE_ORDER_OPS, X)                     \
  SHMEMX_RMA_TYPES(SHMEMX_REDUCE_SUM_OPS, X)                       \
  SHMEMX_COMPLEX_TYPES(SHMEMX_REDUCE_SUM_OPS, X)

/* clang-format on */
#endif
