/* Programs define short lower-case macros. None of these may change the headers, neither when it is defined before
   the include nor when generics are used after it. Built as C99 to C2x and, through hostile_macros.cpp, as C++. */
/* clang-format off */
#ifdef __cplusplus
#include <complex> /* the C++ library itself does not withstand the macros below */
#else
#include <complex.h> /* defines I */
#endif
#include <stddef.h>
#include <stdint.h>

/* type names of the API */
#define size 10
#define ptrdiff 11
#define uint unsigned
#define ulong unsigned long
#define ushort unsigned short
#define uchar unsigned char
#define schar signed char
#define longlong long long
#define longdouble long double
#define complexd 12
#define complexf 13
#define int8 char
#define int16 short
#define int32 int
#define int64 long
#define uint8 1
#define uint16 2
#define uint32 3
#define uint64 4
#define mem 5
/* operations */
#define put(x) (x)
#define get(a, b) ((a) < (b))
#define p (*pp)
#define g 9.81
#define iput -1
#define iget -2
#define ibput -3
#define ibget -4
#define put_nbi nothing
#define get_nbi nothing
#define put_signal nothing
#define add(a, b) ((a) + (b))
#define inc(a) ((a)++)
#define set nothing
#define fetch nothing
#define swap(a, b) nothing
#define test nothing
#define wait nothing
#define wait_until nothing
#define atomic_fetch nothing
#define atomic_add nothing
#define broadcast nothing
#define collect nothing
#define alltoall nothing
#define sum_reduce nothing
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define sum 0
#define ctx 30
#define team 31
#define sync 32
#define shmem 33
#define pshmem 34
/* parameters */
#define dest 40
#define source 41
#define target 42
#define value 43
#define cond 44
#define pe 45
#define nelems 46
#define nreduce 47
#define dst 48
#define sst 49
#define bsize 50
#define nblocks 51
#define signal 52
#define sig_addr 53
#define sig_op 54
#define cmp 55
#define cmp_value 56
#define cmp_values 57
#define ivar 58
#define ivars 59
#define status 60
#define indices 61
#define root 62
#define lock 63
#define options 64
#define config 65
#define start 66
#define stride 67
#define count 68
#define hints 69
#define major 70
#define minor 71
#define name 72
#define ptr 73
#define level 74
#define pSync 75
#define pWrk 76
#define PE_start 77
#define PE_root 78
#define PE_size 79
#define logPE_stride 80
#define first 81
#define pick 82
/* other common macro names */
#define N 90
#define T 91
#define X 92
#define R 93
#define F 94
#define S 95
#define P 96
#define M 97
#define OP 98
#define ARGS 99
#define TAIL 100
#define TYPE 101
#define NAME 102
#define LIST 103
#define PARAMETERS 104
#define CALL 105
#define _ 106
#define a 107
#define b 108
#define i 109
#define x 110

#include <shmem.h>

#include <pshmem.h>

#include <shmemx.h>

/* If a macro had changed a prototype, these would have no declaration of the right type. */
void (*const check_put)(size_t *, const size_t *, size_t, int) = shmem_size_put;
int (*const check_g)(const int *, int) = shmem_int_g;
void (*const check_mem)(void *, const void *, size_t, int) = shmem_putmem;
uint64_t (*const check_add)(uint64_t *, uint64_t, int) = shmem_uint64_atomic_fetch_add;
int (*const check_sum)(shmem_team_t, ptrdiff_t *, const ptrdiff_t *, size_t) = shmem_ptrdiff_sum_reduce;
void (*const check_twin)(shmem_ctx_t, int8_t *, int8_t, int) = pshmem_ctx_int8_p;
void (*const check_old)(long *, const long *, int, int, int, int, long *, long *) = shmem_long_max_to_all;

#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L)
size_t use_generics(shmem_ctx_t c, shmem_team_t t, size_t *word, uint64_t *flag);
size_t use_generics(shmem_ctx_t c, shmem_team_t t, size_t *word, uint64_t *flag) {
  shmem_put(word, word, 1, 0);
  shmem_put(c, word, word, 1, 0);
  shmem_p(word, 1, 0);
  shmem_iput(word, word, 1, 1, 1, 0);
  shmem_put_signal(word, word, 1, flag, 1, SHMEM_SIGNAL_SET, 0);
  shmem_atomic_add(word, 1, 0);
  shmem_atomic_set(c, word, 1, 0);
  shmem_wait_until(word, SHMEM_CMP_EQ, 1);
  shmem_signal_add(c, flag, 1, 0);
  shmem_broadcast(t, word, word, 1, 0);
  shmem_sum_reduce(t, word, word, 1);
  shmem_sync(t);
  return shmem_g(word, 0) + shmem_g(c, word, 0) + shmem_atomic_fetch_inc(word, 0);
}
#endif
