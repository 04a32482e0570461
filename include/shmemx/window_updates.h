/* Atomic operations and accumulates on attached windows (windows.h, which includes this header; what it says on
   completion and errors holds here).

   Atomicity: an update is atomic for each element, with every other update of an element of the same type at the same
   address, whoever makes it: the owner, PEs that have the window mapped, PEs of other nodes. So are updates by
   different windows that share memory. Integers and pairs of 4 and 8 bytes whose address is a multiple of their size
   are updated by the CPU's atomic instructions, so there all types of the same size are atomic with each other, and with
   the atomics of the standard. All others, floating-point and complex ones, narrow and wide ones and those that are not
   aligned, are updated under a lock of the owner's that belongs to their address. MPI-4.1, 12.7.1, promises no more:
   atomicity to accumulates with the same predefined datatype. Puts, gets and plain loads and stores are atomic with nothing.

   Order: the updates of one thread through one handle are executed in the order of the calls, blocking or not. That is
   MPI's default, accumulate_ordering "rar,raw,war,waw" (MPI-4.1, 12.7.2); everything else is ordered by completion
   only. */
#ifndef SHMEMX_WINDOW_UPDATES_H
#define SHMEMX_WINDOW_UPDATES_H

#include <stddef.h>
#include <stdint.h>

#include "windows.h" /* undefines the helper macros, so it stands before them */

#include "attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element types. Those that are named after types of C have their size and layout; an address need not be aligned.
   A pair is a struct of value and index as C lays it out. Padding between them may be overwritten; padding behind the
   index is neither read nor written, and behind the last pair of an array it need not be in the window. The values are
   part of the ABI. */
enum {
  SHMEMX_INT32 = 1,
  SHMEMX_UINT32 = 2,
  SHMEMX_INT64 = 3,
  SHMEMX_UINT64 = 4,
  SHMEMX_FLOAT = 5,
  SHMEMX_DOUBLE = 6,
  SHMEMX_INT8 = 7,
  SHMEMX_UINT8 = 8,
  SHMEMX_INT16 = 9,
  SHMEMX_UINT16 = 10,
  SHMEMX_BOOL = 11,                /* one byte, 0 or 1: bool of C and C++ */
  SHMEMX_LONG_DOUBLE = 12,         /* 16 bytes */
  SHMEMX_COMPLEX_FLOAT = 13,       /* 8 bytes: real, imaginary */
  SHMEMX_COMPLEX_DOUBLE = 14,      /* 16 bytes */
  SHMEMX_COMPLEX_LONG_DOUBLE = 15, /* 32 bytes */
  SHMEMX_FLOAT_INT = 16,           /* a struct of float and int, 8 bytes */
  SHMEMX_DOUBLE_INT = 17,          /* a struct of double and int, 16 bytes */
  SHMEMX_LONG_INT = 18,            /* a struct of long and int, 16 bytes */
  SHMEMX_INT_INT = 19,             /* a struct of int and int, 8 bytes */
  SHMEMX_SHORT_INT = 20,           /* a struct of short and int, 8 bytes */
  SHMEMX_LONG_DOUBLE_INT = 21,     /* a struct of long double and int, 32 bytes */
  SHMEMX_FLOAT_FLOAT = 22,         /* a struct of float and float, 8 bytes: Fortran's pairs of reals */
  SHMEMX_DOUBLE_DOUBLE = 23,       /* a struct of double and double, 16 bytes */
  /* The same integers for programs that update arrays of them: one lock for each 4 KiB in place of an instruction for
     each element, which makes long arrays many times faster and a single element that many PEs update slower. All
     updates of an element name the same type, so these are atomic with one another only. */
  SHMEMX_INT32_ARRAY = 24,
  SHMEMX_UINT32_ARRAY = 25,
  SHMEMX_INT64_ARRAY = 26,
  SHMEMX_UINT64_ARRAY = 27
};

/* Operators: target = target op operand. Sums and products of integers wrap. Which go with which types (MPI-4.1,
   6.9.2 and 6.9.4):
     SUM PROD            integers, floating-point types, complex types
     MIN MAX             integers, floating-point types
     LAND LOR LXOR       integers, BOOL: the result is 0 or 1
     BAND BOR BXOR       integers, BOOL
     MINLOC MAXLOC       pairs: the pair with the least or greatest value, of equal values the least index
     REPLACE NO_OP       all
   Any other combination is SHMEMX_ERR_ARGUMENT. */
enum {
  SHMEMX_OP_SUM = 1,
  SHMEMX_OP_PROD = 2,
  SHMEMX_OP_MIN = 3,
  SHMEMX_OP_MAX = 4,
  SHMEMX_OP_BAND = 5,
  SHMEMX_OP_BOR = 6,
  SHMEMX_OP_BXOR = 7,
  SHMEMX_OP_REPLACE = 8,
  SHMEMX_OP_NO_OP = 9, /* changes nothing: for fetching */
  SHMEMX_OP_LAND = 10,
  SHMEMX_OP_LOR = 11,
  SHMEMX_OP_LXOR = 12,
  SHMEMX_OP_MINLOC = 13,
  SHMEMX_OP_MAXLOC = 14,
  /* Added to the operator of an accumulate or get_accumulate: the caller guarantees that no other PE or thread
     accesses these elements meanwhile (by an exclusive lock, for example). They then need not be atomic, which is
     many times faster. */
  SHMEMX_OP_EXCLUSIVE = 256
};

/* Returns the size of an element of the type in bytes; 0 if there is no such type. */
SHMEMX_API size_t shmemx_element_bytes(int type_) SHMEMX_NOEXCEPT;

/* ==== One element ====
   target_: an address in the owner's address space. ERR of all routines of this header: WINDOW, STALE, RANGE,
   ARGUMENT. */

/* Updates one element of any type. *result_ receives the old value. operand_ may be null with NO_OP. */
SHMEMX_API int shmemx_window_fetch_op(shmemx_window_t window_, void* target_, const void* operand_, void* result_,
                                      int type_, int op_) SHMEMX_NOEXCEPT;
/* Replaces one element of an integer type, or BOOL, by *value_ if it equals *compare_. *result_ receives the old
   value. */
SHMEMX_API int shmemx_window_compare_swap(shmemx_window_t window_, void* target_, const void* compare_,
                                          const void* value_, void* result_, int type_) SHMEMX_NOEXCEPT;
/* The same, without waiting: *operand_, *compare_ and *value_ may be changed when the call returns, *result_ is there
   when the operation is complete. */
SHMEMX_API int shmemx_window_fetch_op_nbi(shmemx_window_t window_, void* target_, const void* operand_, void* result_,
                                          int type_, int op_, long* counter_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_compare_swap_nbi(shmemx_window_t window_, void* target_, const void* compare_,
                                              const void* value_, void* result_, int type_,
                                              long* counter_) SHMEMX_NOEXCEPT;

/* ==== Runs ==== */

/* Updates `count_` elements, one after the other in memory. source_ may be null with NO_OP; result_ receives the old
   values. */
SHMEMX_API int shmemx_window_accumulate(shmemx_window_t window_, void* target_, const void* source_, size_t count_,
                                        int type_, int op_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_get_accumulate(shmemx_window_t window_, void* target_, const void* source_, void* result_,
                                            size_t count_, int type_, int op_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_accumulate_nbi(shmemx_window_t window_, void* target_, const void* source_, size_t count_,
                                            int type_, int op_, long* counter_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_get_accumulate_nbi(shmemx_window_t window_, void* target_, const void* source_,
                                                void* result_, size_t count_, int type_, int op_,
                                                long* counter_) SHMEMX_NOEXCEPT;

/* ==== Lists ====
   As for putv: the elements of one side, piece after piece, are combined with those of the other; pieces need not
   correspond, the totals do. The length of each piece, in bytes, is a multiple of the element's size; no element is
   spread over two pieces. Targets are updated in the order of the list, so one that occurs twice is updated twice.
   With NO_OP no sources are needed: null and 0. ERR: as above, and LIST. */
SHMEMX_API int shmemx_window_accumulatev(shmemx_window_t window_, const shmemx_iov_t* targets_, size_t target_count_,
                                         const shmemx_iov_t* sources_, size_t source_count_, int type_,
                                         int op_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_get_accumulatev(shmemx_window_t window_, const shmemx_iov_t* targets_,
                                             size_t target_count_, const shmemx_iov_t* sources_, size_t source_count_,
                                             const shmemx_iov_t* results_, size_t result_count_, int type_,
                                             int op_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_accumulatev_nbi(shmemx_window_t window_, const shmemx_iov_t* targets_,
                                             size_t target_count_, const shmemx_iov_t* sources_, size_t source_count_,
                                             int type_, int op_, long* counter_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_get_accumulatev_nbi(shmemx_window_t window_, const shmemx_iov_t* targets_,
                                                 size_t target_count_, const shmemx_iov_t* sources_,
                                                 size_t source_count_, const shmemx_iov_t* results_,
                                                 size_t result_count_, int type_, int op_,
                                                 long* counter_) SHMEMX_NOEXCEPT;

/* ==== Strides ====
   `blocks_` blocks of `block_elements_` elements; on each side each block begins one stride, in bytes, after the
   previous one (negative: before it; 0: the same place). */
SHMEMX_API int shmemx_window_accumulate_strided(shmemx_window_t window_, void* target_, ptrdiff_t target_stride_,
                                                const void* source_, ptrdiff_t source_stride_, size_t block_elements_,
                                                size_t blocks_, int type_, int op_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_accumulate_strided_nbi(shmemx_window_t window_, void* target_, ptrdiff_t target_stride_,
                                                    const void* source_, ptrdiff_t source_stride_,
                                                    size_t block_elements_, size_t blocks_, int type_, int op_,
                                                    long* counter_) SHMEMX_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#include "undef.h"

#endif
