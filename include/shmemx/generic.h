/* Type-generic names: C11 _Generic macros and C++ overloads (section 5 and the synopses of OpenSHMEM 1.6).

   C11. The type is taken from what the first pointer points to. A value in a controlling expression loses its
   qualifiers, so `const T *` and `volatile T *` select the routine of T. Whether a context comes first follows from the
   number of arguments; nothing is nested, so a type that fits no routine gives one short error. What a macro sees as
   one argument has no comma outside brackets: a compound literal with several elements needs brackets around it, as in
   any macro. The macros named SHMEMX_ stay defined, since the generics need them at the place of use. */
#ifndef SHMEMX_GENERIC_H
#define SHMEMX_GENERIC_H

/* clang-format off */
#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L

/* ---- Associations, one for each distinct type ---- */
/* RMA, moving collectives, max and min */
#define SHMEMX_G_RMA(P, OP) \
  float: P##float##OP, double: P##double##OP, long double: P##longdouble##OP, \
  char: P##char##OP, signed char: P##schar##OP, short: P##short##OP, \
  int: P##int##OP, long: P##long##OP, long long: P##longlong##OP, \
  unsigned char: P##uchar##OP, unsigned short: P##ushort##OP, unsigned int: P##uint##OP, \
  unsigned long: P##ulong##OP, unsigned long long: P##ulonglong##OP

/* sum, prod, scans */
#define SHMEMX_G_SUM(P, OP) \
  float: P##float##OP, double: P##double##OP, long double: P##longdouble##OP, \
  char: P##char##OP, signed char: P##schar##OP, short: P##short##OP, \
  int: P##int##OP, long: P##long##OP, long long: P##longlong##OP, \
  unsigned char: P##uchar##OP, unsigned short: P##ushort##OP, unsigned int: P##uint##OP, \
  unsigned long: P##ulong##OP, unsigned long long: P##ulonglong##OP, double _Complex: P##complexd##OP, \
  float _Complex: P##complexf##OP

/* atomics, waits and tests over arrays */
#define SHMEMX_G_AMO(P, OP) \
  int: P##int##OP, long: P##long##OP, long long: P##longlong##OP, \
  unsigned int: P##uint##OP, unsigned long: P##ulong##OP, unsigned long long: P##ulonglong##OP

/* fetch, set, swap */
#define SHMEMX_G_AMO_EXTENDED(P, OP) \
  float: P##float##OP, double: P##double##OP, int: P##int##OP, \
  long: P##long##OP, long long: P##longlong##OP, unsigned int: P##uint##OP, \
  unsigned long: P##ulong##OP, unsigned long long: P##ulonglong##OP

/* and, or, xor */
#define SHMEMX_G_AMO_BITWISE(P, OP) \
  unsigned int: P##uint##OP, unsigned long: P##ulong##OP, unsigned long long: P##ulonglong##OP, \
  int32_t: P##int32##OP, int64_t: P##int64##OP

/* wait_until and test on one word */
#define SHMEMX_G_WAIT(P, OP) \
  short: P##short##OP, unsigned short: P##ushort##OP, int: P##int##OP, \
  long: P##long##OP, long long: P##longlong##OP, unsigned int: P##uint##OP, \
  unsigned long: P##ulong##OP, unsigned long long: P##ulonglong##OP

/* bitwise reductions */
#define SHMEMX_G_REDUCE_BITWISE(P, OP) \
  unsigned char: P##uchar##OP, unsigned short: P##ushort##OP, unsigned int: P##uint##OP, \
  unsigned long: P##ulong##OP, unsigned long long: P##ulonglong##OP, int8_t: P##int8##OP, \
  int16_t: P##int16##OP, int32_t: P##int32##OP, int64_t: P##int64##OP

/* deprecated atomics */
#define SHMEMX_G_OLD(P, OP) \
  int: P##int##OP, long: P##long##OP, long long: P##longlong##OP

/* deprecated fetch, set, swap */
#define SHMEMX_G_OLD_EXTENDED(P, OP) \
  float: P##float##OP, double: P##double##OP, int: P##int##OP, \
  long: P##long##OP, long long: P##longlong##OP

/* ---- Selection ---- */
#define SHMEMX_G_CALL(LIST, OP, first_, ...)             _Generic(*(first_), LIST(shmem_, OP))(first_, __VA_ARGS__)
#define SHMEMX_G_CALL_CTX(LIST, OP, ctx_, first_, ...)   _Generic(*(first_), LIST(shmem_ctx_, OP))(ctx_, first_, __VA_ARGS__)
#define SHMEMX_G_CALL_TEAM(LIST, OP, team_, first_, ...) _Generic(*(first_), LIST(shmem_, OP))(team_, first_, __VA_ARGS__)

/* SHMEMX_G_n: n arguments make the call without a context, n + 1 the one with it. Any other number is an error that says
   so. */
#define SHMEMX_G_NINTH(a1_, a2_, a3_, a4_, a5_, a6_, a7_, a8_, pick_, ...) pick_
#define SHMEMX_G_WRONG(NAME) \
  ((int)sizeof(struct { _Static_assert(0, NAME ": wrong number of arguments; man " NAME " shows what it takes, without and with a context"); int none; }))
#define SHMEMX_G_BAD(LIST, OP, ...)    SHMEMX_G_WRONG("shmem" #OP)
#define SHMEMX_G_BAD_SIGNAL_ADD(...)   SHMEMX_G_WRONG("shmem_signal_add")
#define SHMEMX_G_BAD_SIGNAL_SET(...)   SHMEMX_G_WRONG("shmem_signal_set")
#define SHMEMX_G_BAD_SYNC(...)         SHMEMX_G_WRONG("shmem_sync")
#define SHMEMX_G_2(LIST, OP, ...) \
  SHMEMX_G_NINTH(__VA_ARGS__, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_CALL_CTX, SHMEMX_G_CALL, SHMEMX_G_BAD, 0)(LIST, OP, __VA_ARGS__)
#define SHMEMX_G_3(LIST, OP, ...) \
  SHMEMX_G_NINTH(__VA_ARGS__, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_CALL_CTX, SHMEMX_G_CALL, SHMEMX_G_BAD, SHMEMX_G_BAD, 0)(LIST, OP, __VA_ARGS__)
#define SHMEMX_G_4(LIST, OP, ...) \
  SHMEMX_G_NINTH(__VA_ARGS__, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_CALL_CTX, SHMEMX_G_CALL, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_BAD, 0)(LIST, OP, __VA_ARGS__)
#define SHMEMX_G_5(LIST, OP, ...) \
  SHMEMX_G_NINTH(__VA_ARGS__, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_CALL_CTX, SHMEMX_G_CALL, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_BAD, 0)(LIST, OP, __VA_ARGS__)
#define SHMEMX_G_6(LIST, OP, ...) \
  SHMEMX_G_NINTH(__VA_ARGS__, SHMEMX_G_BAD, SHMEMX_G_CALL_CTX, SHMEMX_G_CALL, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_BAD, 0)(LIST, OP, __VA_ARGS__)
#define SHMEMX_G_7(LIST, OP, ...) \
  SHMEMX_G_NINTH(__VA_ARGS__, SHMEMX_G_CALL_CTX, SHMEMX_G_CALL, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_BAD, SHMEMX_G_BAD, 0)(LIST, OP, __VA_ARGS__)

/* ---- RMA and atomics: with or without a context. OP begins with an underscore, for users who define `put`. ---- */
#define shmem_put(...)                  SHMEMX_G_4(SHMEMX_G_RMA, _put, __VA_ARGS__)
#define shmem_get(...)                  SHMEMX_G_4(SHMEMX_G_RMA, _get, __VA_ARGS__)
#define shmem_put_nbi(...)              SHMEMX_G_4(SHMEMX_G_RMA, _put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...)              SHMEMX_G_4(SHMEMX_G_RMA, _get_nbi, __VA_ARGS__)
#define shmem_p(...)                    SHMEMX_G_3(SHMEMX_G_RMA, _p, __VA_ARGS__)
#define shmem_g(...)                    SHMEMX_G_2(SHMEMX_G_RMA, _g, __VA_ARGS__)
#define shmem_iput(...)                 SHMEMX_G_6(SHMEMX_G_RMA, _iput, __VA_ARGS__)
#define shmem_iget(...)                 SHMEMX_G_6(SHMEMX_G_RMA, _iget, __VA_ARGS__)
#define shmem_ibput(...)                SHMEMX_G_7(SHMEMX_G_RMA, _ibput, __VA_ARGS__)
#define shmem_ibget(...)                SHMEMX_G_7(SHMEMX_G_RMA, _ibget, __VA_ARGS__)
#define shmem_put_signal(...)           SHMEMX_G_7(SHMEMX_G_RMA, _put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...)       SHMEMX_G_7(SHMEMX_G_RMA, _put_signal_nbi, __VA_ARGS__)
#define shmem_atomic_fetch(...)         SHMEMX_G_2(SHMEMX_G_AMO_EXTENDED, _atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...)           SHMEMX_G_3(SHMEMX_G_AMO_EXTENDED, _atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...)          SHMEMX_G_3(SHMEMX_G_AMO_EXTENDED, _atomic_swap, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...)     SHMEMX_G_3(SHMEMX_G_AMO_EXTENDED, _atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...)      SHMEMX_G_4(SHMEMX_G_AMO_EXTENDED, _atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap(...)  SHMEMX_G_4(SHMEMX_G_AMO, _atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...)     SHMEMX_G_2(SHMEMX_G_AMO, _atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_inc(...)           SHMEMX_G_2(SHMEMX_G_AMO, _atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...)     SHMEMX_G_3(SHMEMX_G_AMO, _atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_add(...)           SHMEMX_G_3(SHMEMX_G_AMO, _atomic_add, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...) SHMEMX_G_3(SHMEMX_G_AMO, _atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) SHMEMX_G_5(SHMEMX_G_AMO, _atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...) SHMEMX_G_4(SHMEMX_G_AMO, _atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_and(...)     SHMEMX_G_3(SHMEMX_G_AMO_BITWISE, _atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_and(...)           SHMEMX_G_3(SHMEMX_G_AMO_BITWISE, _atomic_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...)      SHMEMX_G_3(SHMEMX_G_AMO_BITWISE, _atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_or(...)            SHMEMX_G_3(SHMEMX_G_AMO_BITWISE, _atomic_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...)     SHMEMX_G_3(SHMEMX_G_AMO_BITWISE, _atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_xor(...)           SHMEMX_G_3(SHMEMX_G_AMO_BITWISE, _atomic_xor, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...) SHMEMX_G_4(SHMEMX_G_AMO_BITWISE, _atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...)  SHMEMX_G_4(SHMEMX_G_AMO_BITWISE, _atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...) SHMEMX_G_4(SHMEMX_G_AMO_BITWISE, _atomic_fetch_xor_nbi, __VA_ARGS__)

/* ---- Waits and tests ---- */
#define shmem_wait_until(...)               SHMEMX_G_CALL(SHMEMX_G_WAIT, _wait_until, __VA_ARGS__)
#define shmem_test(...)                     SHMEMX_G_CALL(SHMEMX_G_WAIT, _test, __VA_ARGS__)
#define shmem_wait_until_all(...)           SHMEMX_G_CALL(SHMEMX_G_AMO, _wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...)           SHMEMX_G_CALL(SHMEMX_G_AMO, _wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...)          SHMEMX_G_CALL(SHMEMX_G_AMO, _wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...)    SHMEMX_G_CALL(SHMEMX_G_AMO, _wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...)    SHMEMX_G_CALL(SHMEMX_G_AMO, _wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...)   SHMEMX_G_CALL(SHMEMX_G_AMO, _wait_until_some_vector, __VA_ARGS__)
#define shmem_test_all(...)                 SHMEMX_G_CALL(SHMEMX_G_AMO, _test_all, __VA_ARGS__)
#define shmem_test_any(...)                 SHMEMX_G_CALL(SHMEMX_G_AMO, _test_any, __VA_ARGS__)
#define shmem_test_some(...)                SHMEMX_G_CALL(SHMEMX_G_AMO, _test_some, __VA_ARGS__)
#define shmem_test_all_vector(...)          SHMEMX_G_CALL(SHMEMX_G_AMO, _test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...)          SHMEMX_G_CALL(SHMEMX_G_AMO, _test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...)         SHMEMX_G_CALL(SHMEMX_G_AMO, _test_some_vector, __VA_ARGS__)

/* ---- Collectives of a team ---- */
#define shmem_alltoall(...)       SHMEMX_G_CALL_TEAM(SHMEMX_G_RMA, _alltoall, __VA_ARGS__)
#define shmem_alltoalls(...)      SHMEMX_G_CALL_TEAM(SHMEMX_G_RMA, _alltoalls, __VA_ARGS__)
#define shmem_broadcast(...)      SHMEMX_G_CALL_TEAM(SHMEMX_G_RMA, _broadcast, __VA_ARGS__)
#define shmem_collect(...)        SHMEMX_G_CALL_TEAM(SHMEMX_G_RMA, _collect, __VA_ARGS__)
#define shmem_fcollect(...)       SHMEMX_G_CALL_TEAM(SHMEMX_G_RMA, _fcollect, __VA_ARGS__)
#define shmem_and_reduce(...)     SHMEMX_G_CALL_TEAM(SHMEMX_G_REDUCE_BITWISE, _and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...)      SHMEMX_G_CALL_TEAM(SHMEMX_G_REDUCE_BITWISE, _or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...)     SHMEMX_G_CALL_TEAM(SHMEMX_G_REDUCE_BITWISE, _xor_reduce, __VA_ARGS__)
#define shmem_max_reduce(...)     SHMEMX_G_CALL_TEAM(SHMEMX_G_RMA, _max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...)     SHMEMX_G_CALL_TEAM(SHMEMX_G_RMA, _min_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...)     SHMEMX_G_CALL_TEAM(SHMEMX_G_SUM, _sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...)    SHMEMX_G_CALL_TEAM(SHMEMX_G_SUM, _prod_reduce, __VA_ARGS__)
#define shmem_sum_inscan(...)     SHMEMX_G_CALL_TEAM(SHMEMX_G_SUM, _sum_inscan, __VA_ARGS__)
#define shmem_sum_exscan(...)     SHMEMX_G_CALL_TEAM(SHMEMX_G_SUM, _sum_exscan, __VA_ARGS__)

/* ---- Deprecated atomics ---- */
#define shmem_fetch(...)  SHMEMX_G_CALL(SHMEMX_G_OLD_EXTENDED, _fetch, __VA_ARGS__)
#define shmem_set(...)    SHMEMX_G_CALL(SHMEMX_G_OLD_EXTENDED, _set, __VA_ARGS__)
#define shmem_swap(...)   SHMEMX_G_CALL(SHMEMX_G_OLD_EXTENDED, _swap, __VA_ARGS__)
#define shmem_cswap(...)  SHMEMX_G_CALL(SHMEMX_G_OLD, _cswap, __VA_ARGS__)
#define shmem_finc(...)   SHMEMX_G_CALL(SHMEMX_G_OLD, _finc, __VA_ARGS__)
#define shmem_inc(...)    SHMEMX_G_CALL(SHMEMX_G_OLD, _inc, __VA_ARGS__)
#define shmem_fadd(...)   SHMEMX_G_CALL(SHMEMX_G_OLD, _fadd, __VA_ARGS__)
#define shmem_add(...)    SHMEMX_G_CALL(SHMEMX_G_OLD, _add, __VA_ARGS__)

/* ---- Names that are routines too: the number of arguments tells which one is meant ---- */
#define SHMEMX_G_FIFTH(a1_, a2_, a3_, a4_, pick_, ...) pick_
#define shmem_signal_add(...) \
  SHMEMX_G_FIFTH(__VA_ARGS__, shmem_ctx_signal_add, shmem_signal_add, SHMEMX_G_BAD_SIGNAL_ADD, SHMEMX_G_BAD_SIGNAL_ADD, 0)(__VA_ARGS__)
#define shmem_signal_set(...) \
  SHMEMX_G_FIFTH(__VA_ARGS__, shmem_ctx_signal_set, shmem_signal_set, SHMEMX_G_BAD_SIGNAL_SET, SHMEMX_G_BAD_SIGNAL_SET, 0)(__VA_ARGS__)
#define shmem_sync(...) \
  SHMEMX_G_FIFTH(__VA_ARGS__, shmem_sync, SHMEMX_G_BAD_SYNC, SHMEMX_G_BAD_SYNC, shmem_team_sync, 0)(__VA_ARGS__)

#elif defined(__cplusplus)

/* C++: overloads made from the table's rows. extern "C++", since a user may include shmem.h inside extern "C". OP is
   only pasted and never passed to another macro, where a user's `#define put` would expand it. */
#define SHMEMX_UNWRAP(...) __VA_ARGS__
#define SHMEMX_OVERLOAD(TAIL, T, R, OP, ARGS, ...) \
  inline R shmem_##OP(__VA_ARGS__) SHMEMX_NOEXCEPT { return shmem##TAIL(SHMEMX_UNWRAP ARGS); }
#define SHMEMX_OVERLOAD_CTX(TAIL, T, R, OP, ARGS, ...) \
  inline R shmem_##OP(__VA_ARGS__) SHMEMX_NOEXCEPT { return shmem##TAIL(SHMEMX_UNWRAP ARGS); } \
  inline R shmem_##OP(shmem_ctx_t ctx_, __VA_ARGS__) SHMEMX_NOEXCEPT { return shmem_ctx##TAIL(ctx_, SHMEMX_UNWRAP ARGS); }

extern "C++" {
SHMEMX_RMA_DISTINCT_TYPES(SHMEMX_RMA_OPS, SHMEMX_OVERLOAD_CTX)
SHMEMX_RMA_DISTINCT_TYPES(SHMEMX_PUT_SIGNAL_OPS, SHMEMX_OVERLOAD_CTX)
SHMEMX_AMO_DISTINCT_TYPES(SHMEMX_AMO_EXTENDED_OPS, SHMEMX_OVERLOAD_CTX)
SHMEMX_FLOAT_TYPES(SHMEMX_AMO_EXTENDED_OPS, SHMEMX_OVERLOAD_CTX)
SHMEMX_AMO_DISTINCT_TYPES(SHMEMX_AMO_STANDARD_OPS, SHMEMX_OVERLOAD_CTX)
SHMEMX_BITWISE_AMO_DISTINCT_TYPES(SHMEMX_AMO_BITWISE_OPS, SHMEMX_OVERLOAD_CTX)
SHMEMX_NOT_LONG_TYPES(SHMEMX_WAIT_OPS, SHMEMX_OVERLOAD)
SHMEMX_OLD_WAIT_TYPES(SHMEMX_WAIT_OPS, SHMEMX_OVERLOAD)
SHMEMX_AMO_DISTINCT_TYPES(SHMEMX_WAIT_ARRAY_OPS, SHMEMX_OVERLOAD)
SHMEMX_RMA_DISTINCT_TYPES(SHMEMX_COLLECTIVE_OPS, SHMEMX_OVERLOAD)
SHMEMX_BITWISE_REDUCE_DISTINCT_TYPES(SHMEMX_REDUCE_BITWISE_OPS, SHMEMX_OVERLOAD)
SHMEMX_RMA_DISTINCT_TYPES(SHMEMX_REDUCE_ORDER_OPS, SHMEMX_OVERLOAD)
SHMEMX_RMA_DISTINCT_TYPES(SHMEMX_REDUCE_SUM_OPS, SHMEMX_OVERLOAD)
SHMEMX_COMPLEX_TYPES(SHMEMX_REDUCE_SUM_OPS, SHMEMX_OVERLOAD)
SHMEMX_OLD_AMO_TYPES(SHMEMX_OLD_AMO_EXTENDED_OPS, SHMEMX_OVERLOAD)
SHMEMX_FLOAT_TYPES(SHMEMX_OLD_AMO_EXTENDED_OPS, SHMEMX_OVERLOAD)
SHMEMX_OLD_AMO_TYPES(SHMEMX_OLD_AMO_STANDARD_OPS, SHMEMX_OVERLOAD)

/* The deprecated C routine shmem_wait_until(long *, int, long) is the overload for long; test has no such routine. */
inline int shmem_test(long *ivar_, int cmp_, long cmp_value_) SHMEMX_NOEXCEPT { return shmem_long_test(ivar_, cmp_, cmp_value_); }
inline int shmem_sync(shmem_team_t team_) SHMEMX_NOEXCEPT { return shmem_team_sync(team_); }
inline void shmem_signal_add(shmem_ctx_t ctx_, uint64_t *sig_addr_, uint64_t signal_, int pe_) SHMEMX_NOEXCEPT {
  shmem_ctx_signal_add(ctx_, sig_addr_, signal_, pe_);
}
inline void shmem_signal_set(shmem_ctx_t ctx_, uint64_t *sig_addr_, uint64_t signal_, int pe_) SHMEMX_NOEXCEPT {
  shmem_ctx_signal_set(ctx_, sig_addr_, signal_, pe_);
}

/* C99's complex types, which compilers support in C++ too, beside std::complex with the same representation. The
   overloads make the routine names ambiguous where only their address is taken: define SHMEMX_NO_C99_COMPLEX to
   leave them out. */
#if defined(__GNUC__) && !defined(SHMEMX_NO_C99_COMPLEX)
__extension__ typedef double _Complex shmemx_complexd_t;
__extension__ typedef float _Complex shmemx_complexf_t;
#define SHMEMX_C99_TEAM(NAME, GENERIC, T, S)                                                                       \
  inline int NAME(shmem_team_t team_, T *dest_, const T *source_, size_t nelems_) SHMEMX_NOEXCEPT {                \
    return NAME(team_, reinterpret_cast<S *>(dest_), reinterpret_cast<const S *>(source_), nelems_);               \
  }                                                                                                                \
  inline int GENERIC(shmem_team_t team_, T *dest_, const T *source_, size_t nelems_) SHMEMX_NOEXCEPT {             \
    return NAME(team_, dest_, source_, nelems_);                                                                   \
  }
#define SHMEMX_C99_ACTIVE(NAME, T, S)                                                                              \
  inline void NAME(T *dest_, const T *source_, int nreduce_, int PE_start_, int logPE_stride_, int PE_size_, T *pWrk_, \
                   long *pSync_) SHMEMX_NOEXCEPT {                                                                 \
    NAME(reinterpret_cast<S *>(dest_), reinterpret_cast<const S *>(source_), nreduce_, PE_start_, logPE_stride_, PE_size_, \
         reinterpret_cast<S *>(pWrk_), pSync_);                                                                    \
  }
#define SHMEMX_C99_COMPLEX(N, T, S)                                       \
  SHMEMX_C99_TEAM(shmem##N##sum_reduce, shmem_sum_reduce, T, S)           \
  SHMEMX_C99_TEAM(shmem##N##prod_reduce, shmem_prod_reduce, T, S)         \
  SHMEMX_C99_TEAM(shmem##N##sum_inscan, shmem_sum_inscan, T, S)           \
  SHMEMX_C99_TEAM(shmem##N##sum_exscan, shmem_sum_exscan, T, S)           \
  SHMEMX_C99_ACTIVE(shmem##N##sum_to_all, T, S)                           \
  SHMEMX_C99_ACTIVE(shmem##N##prod_to_all, T, S)
SHMEMX_C99_COMPLEX(_complexd_, shmemx_complexd_t, std::complex<double>)
SHMEMX_C99_COMPLEX(_complexf_, shmemx_complexf_t, std::complex<float>)
#undef SHMEMX_C99_COMPLEX
#undef SHMEMX_C99_ACTIVE
#undef SHMEMX_C99_TEAM
#endif
}
#undef SHMEMX_OVERLOAD
#undef SHMEMX_OVERLOAD_CTX
#undef SHMEMX_UNWRAP

#endif
/* clang-format on */
#endif
