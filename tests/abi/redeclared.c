/* Programs declare the library's routines themselves, before or after the headers, and name the routines' types: the
   prototypes of the headers are the standard's, without noexcept. Built as C99 to C2x and, through redeclared.cpp, as
   C++. */
#ifdef DECLARED_FIRST /* routines whose parameters need no header */
#ifdef __cplusplus
extern "C" {
#endif
int shmem_init_thread(int, int *);
int shmem_my_pe(void);
void *shmem_malloc(unsigned long size);
void shmem_global_exit(int status);
void shmem_long_put(long *dest, const long *source, unsigned long nelems, int pe);
long shmem_long_fadd(long *dest, long value, int pe);
void shmem_barrier(int, int, int, long *);
int pshmem_n_pes(void);
void start_pes(int);
int _num_pes(void);
#ifdef __cplusplus
}
#endif
#endif

#include <pshmem.h>
#include <shmem.h>
#include <shmemx.h>

/* ---- Single routines, as programs write it: outside of extern "C", in it, in a function, by a macro ---- */
int shmem_init_thread(int, int *);
void shmem_global_exit(int status);
void *shmem_ptr(const void *dest, int pe);
void shmem_pcontrol(int level, ...);
int shmemx_am_poll(void);
#ifdef __cplusplus
extern "C" {
#endif
extern int shmem_my_pe(void);
extern int pshmem_my_pe(void);
extern void shmem_int_put(int *target, const int *source, size_t count, int pe);
extern void shmem_sync(int, int, int, long *);             /* in C11 the names of generics, too */
extern void shmem_signal_add(uint64_t *, uint64_t, int);
#ifdef __cplusplus
}
#endif
#define DECLARE_PUT(NAME_, T) void shmem_##NAME_##_put(T *, const T *, size_t, int);
DECLARE_PUT(double, double)
DECLARE_PUT(size, size_t)

/* ---- All routines of the tables ---- */
#include <shmemx/api_deprecated.h>
#include <shmemx/api_table.h>
#include <shmemx/attributes.h>
#include <shmemx/type_lists.h>

/* clang-format off */
#define AGAIN(TAIL, T, R, OP, ARGS, ...) R shmem##TAIL(__VA_ARGS__); R pshmem##TAIL(__VA_ARGS__);
#define AGAIN_CTX(TAIL, T, R, OP, ARGS, ...) \
  AGAIN(TAIL, T, R, OP, ARGS, __VA_ARGS__) R shmem_ctx##TAIL(shmem_ctx_t, __VA_ARGS__); R pshmem_ctx##TAIL(shmem_ctx_t, __VA_ARGS__);
SHMEMX_RMA_TABLE(AGAIN_CTX)
SHMEMX_AMO_TABLE(AGAIN_CTX)
SHMEMX_WAIT_TABLE(AGAIN)
SHMEMX_COLLECTIVE_TABLE(AGAIN)
SHMEMX_REDUCE_TABLE(AGAIN)
SHMEMX_OLD_AMO_TABLE(AGAIN)
SHMEMX_OLD_WAIT_TABLE(AGAIN)
SHMEMX_OLD_WAIT_UNTIL_TABLE(AGAIN)
SHMEMX_OLD_COLLECTIVE_TABLE(AGAIN)
SHMEMX_TO_ALL_TABLE(AGAIN)
#undef SHMEMX_NORETURN
#define SHMEMX_NORETURN
#define SHMEMX_ROUTINE(R, NAME, PARAMETERS) R NAME PARAMETERS; R p##NAME PARAMETERS;
#include <shmemx/api_plain.h>
#undef SHMEMX_ROUTINE
#define SHMEMX_ROUTINE(R, NAME, PARAMETERS) R NAME PARAMETERS;
SHMEMX_OLDEST_ROUTINES(SHMEMX_ROUTINE)

/* ---- Types: since C++17 noexcept is a part of them ---- */
#if defined(__cplusplus) && __cplusplus >= 201703L
#include <type_traits>
#define SAME(NAME, ...) static_assert(std::is_same_v<decltype(NAME), __VA_ARGS__>, #NAME)
#define TYPE(TAIL, T, R, OP, ARGS, ...) SAME(shmem##TAIL, R(__VA_ARGS__)); SAME(pshmem##TAIL, R(__VA_ARGS__));
#define TYPE_CTX(TAIL, T, R, OP, ARGS, ...) \
  TYPE(TAIL, T, R, OP, ARGS, __VA_ARGS__) SAME(shmem_ctx##TAIL, R(shmem_ctx_t, __VA_ARGS__));
SHMEMX_RMA_TABLE(TYPE_CTX)
SHMEMX_AMO_TABLE(TYPE_CTX)
SHMEMX_WAIT_TABLE(TYPE)
SHMEMX_COLLECTIVE_TABLE(TYPE)
#ifndef __clang__ /* where GNU's noreturn is a part of the type; it converts to the plain one */
SAME(shmem_global_exit, void(int));
#endif
SAME(shmem_init_thread, int(int, int *));
SAME(shmem_pcontrol, void(int, ...));
SAME(start_pes, void(int));
SAME(shmemx_am_poll, int());
template <int (*)()> struct Argument {};
using Of = Argument<&shmem_my_pe>;
#endif
/* clang-format on */

/* ---- Addresses ---- */
typedef int (*query_t)(void);
typedef void (*put_t)(long *, const long *, size_t, int);
query_t queries[] = {shmem_my_pe, &shmem_n_pes, pshmem_my_pe};
put_t puts_[] = {shmem_long_put, &shmem_long_get, pshmem_long_put};
void (*ends[])(int) = {shmem_global_exit, pshmem_global_exit};

int use(int which) {
  extern int shmem_n_pes(void);
  query_t *query = &queries[which]; /* a pointer to a pointer converts to nothing else */
  return (*query)() + shmem_n_pes() + (ends[which] != 0);
}
