/* Windows: memory of one PE that others reach by one-sided operations, symmetric or not. <shmemx.h> includes this header.

   The owner allocates a window, or exposes memory that it has, and describes it: the description is 64 bytes that may
   travel by any means (a put, a message, a file). Whoever has it attaches the window, and from then on names memory in it
   by addresses *in the owner's address space*.

   Nothing here is collective. PEs are numbers of the world. Sizes, offsets and strides are in bytes; `count_` is in
   elements.

   Completion: the forms without _nbi are complete when they return: data of a put or accumulate are visible to all who
   look at the memory, data of a get are here. The forms with _nbi add to *counter_ while they are open and take it away
   when they are complete, so a counter that was 0 is positive while something is open and 0 when all is done. They make
   progress in any call of the library; shmemx_window_test and shmemx_window_wait look at a counter. A null counter_
   leaves completion to shmemx_window_flush. Memory handed to an _nbi form must be left alone until then. Any number may
   be open: where an operation travels by messages the call waits while very many are, so memory stays bounded.

   Order: accumulates, fetch_op and compare_swap of one thread on one window are executed in the order of the calls.
   Everything else is ordered by completion only.

   Atomicity: fetch_op, compare_swap and the accumulates are atomic for each element, with each other and with the
   atomics of the standard on the same memory, whichever way they travel. The target's address is a multiple of the
   element's size.

   Results: SHMEMX_SUCCESS, or one of the SHMEMX_ERR_ codes; then nothing was transferred, except where a code says
   otherwise. Bounds are checked before anything is touched; no memory outside the window is ever touched.

   Networks: a window of a PE on another node needs a registration key, which its description would carry; on one node
   the key is empty. See docs/windows.md for the ways memory is reached and what each costs. */
#ifndef SHMEMX_WINDOWS_H
#define SHMEMX_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "messages.h" /* shmemx_iov_t; takes the helper macros away, so it stands before them */

#include "attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What routines of windows return. The values are part of the ABI. */
enum {
  SHMEMX_SUCCESS = 0,
  SHMEMX_ERR_ARGUMENT = 16,    /* a null pointer, or a type or operator that does not exist or do not go together */
  SHMEMX_ERR_WINDOW = 17,      /* the handle is not that of a live window of the kind that the routine wants */
  SHMEMX_ERR_DESCRIPTION = 18, /* the description is not one: forged, damaged, of another job */
  SHMEMX_ERR_STALE = 19,       /* the owner has freed the window; of an operation: a part may have been transferred */
  SHMEMX_ERR_RANGE = 20,       /* goes past the end of the window or begins before it */
  SHMEMX_ERR_LIST = 21,        /* the two sides of a list differ in length, or a length overflows */
  SHMEMX_ERR_ALIGNMENT = 22,   /* the target's address is not a multiple of the element's size */
  SHMEMX_ERR_MEMORY = 23,      /* no memory or address space */
  SHMEMX_ERR_LIMIT = 24,       /* 1,048,573 windows are exposed, or as many attached */
  SHMEMX_ERR_FAULT = 25        /* the system refused an address of either side; a part may have been transferred */
};

/* A few words for each of these, SHMEMX_ERR_TRUNCATE included; "unknown error" for any other value. Never null. */
SHMEMX_API const char* shmemx_error_text(int error_) SHMEMX_NOEXCEPT;

/* A window of one's own, or one that was attached. A coded number: any wrong value is noticed. */
typedef struct shmemx_window* shmemx_window_t;
#ifdef __cplusplus
#define SHMEMX_WINDOW_INVALID (reinterpret_cast<shmemx_window_t>(0L))
#else
#define SHMEMX_WINDOW_INVALID ((shmemx_window_t)0L)
#endif

/* What others need to attach. Plain bytes, to be copied as they are. Valid on PEs of the same job until the window is
   freed. */
typedef struct {
  uint64_t words[8];
} shmemx_window_description_t;

/* ==== The owner's side ==== */

/* `bytes_` of new memory as a window: *address_ is where it lies here, a multiple of 64 (of 4096 from 4096 bytes on). Not
   initialised. The fastest kind: others map it. 0 bytes are allowed. ERR: MEMORY, LIMIT, ARGUMENT. */
SHMEMX_API int shmemx_window_allocate(size_t bytes_, void** address_, shmemx_window_t* window_) SHMEMX_NOEXCEPT;

/* Memory that this PE has as a window: of malloc, of the stack, static, of the symmetric heap; readable and writable, and
   mapped until the window is freed. Windows may overlap. ERR: ARGUMENT (null, or not mapped), LIMIT, MEMORY. */
SHMEMX_API int shmemx_window_expose(void* address_, size_t bytes_, shmemx_window_t* window_) SHMEMX_NOEXCEPT;

/* Writes the description of a window of one's own. ERR: WINDOW, ARGUMENT. */
SHMEMX_API int shmemx_window_describe(shmemx_window_t window_, shmemx_window_description_t* description_)
    SHMEMX_NOEXCEPT;

/* Ends a window of one's own, and the memory that allocate gave. Who has it attached gets SHMEMX_ERR_STALE from now on. An
   operation of another PE that is inside the memory now is waited for, except where that PE has it mapped: then the
   program orders the two. ERR: WINDOW. */
SHMEMX_API int shmemx_window_free(shmemx_window_t window_) SHMEMX_NOEXCEPT;

/* ==== The side of who uses it ==== */

/* Attaches the window that is described; the owner may be this PE. Each attach has its own detach. ERR: DESCRIPTION,
   STALE, MEMORY, LIMIT, ARGUMENT. */
SHMEMX_API int shmemx_window_attach(const shmemx_window_description_t* description_, shmemx_window_t* window_)
    SHMEMX_NOEXCEPT;

/* Completes what is open on the window, as flush does and with its result, and gives the handle up. ERR: WINDOW. */
SHMEMX_API int shmemx_window_detach(shmemx_window_t window_) SHMEMX_NOEXCEPT;

/* How an attached window is reached. */
enum {
  SHMEMX_WINDOW_MAPPED = 1,  /* load and store */
  SHMEMX_WINDOW_CMA = 2,     /* put and get through process_vm_writev and process_vm_readv, the rest by messages */
  SHMEMX_WINDOW_MESSAGES = 3 /* by messages that the owner executes */
};

/* Of both kinds of windows; null, 0, -1 and 0 for a handle that is none. base: in the owner's address space. path: one of
   the three above; of a window of one's own SHMEMX_WINDOW_MAPPED. */
SHMEMX_API void* shmemx_window_base(shmemx_window_t window_) SHMEMX_NOEXCEPT;
SHMEMX_API size_t shmemx_window_bytes(shmemx_window_t window_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_owner(shmemx_window_t window_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_path(shmemx_window_t window_) SHMEMX_NOEXCEPT;

/* Where `bytes_` at `target_` of an attached window can be loaded and stored here; null when they cannot. Valid until
   the window is detached or freed. */
SHMEMX_API void* shmemx_window_ptr(shmemx_window_t window_, const void* target_, size_t bytes_) SHMEMX_NOEXCEPT;

/* ==== Put and get ====
   target_: an address of the owner's, inside the window; `bytes_` bytes from there. source_, dest_: here.
   ERR: WINDOW, STALE, RANGE, FAULT, ARGUMENT. */
SHMEMX_API int shmemx_window_put(shmemx_window_t window_, void* target_, const void* source_, size_t bytes_)
    SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_get(shmemx_window_t window_, void* dest_, const void* target_, size_t bytes_)
    SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_put_nbi(shmemx_window_t window_, void* target_, const void* source_, size_t bytes_,
                                     long* counter_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_get_nbi(shmemx_window_t window_, void* dest_, const void* target_, size_t bytes_,
                                     long* counter_) SHMEMX_NOEXCEPT;

/* Lists: the bytes of one side, piece after piece, go to those of the other. The pieces need not correspond, but both
   sides have the same length in all. `targets_` hold addresses of the owner's; pieces of 0 bytes are skipped.
   ERR: as above, and LIST. */
SHMEMX_API int shmemx_window_putv(shmemx_window_t window_, const shmemx_iov_t* targets_, size_t target_count_,
                                  const shmemx_iov_t* sources_, size_t source_count_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_getv(shmemx_window_t window_, const shmemx_iov_t* dests_, size_t dest_count_,
                                  const shmemx_iov_t* targets_, size_t target_count_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_putv_nbi(shmemx_window_t window_, const shmemx_iov_t* targets_, size_t target_count_,
                                      const shmemx_iov_t* sources_, size_t source_count_, long* counter_)
    SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_getv_nbi(shmemx_window_t window_, const shmemx_iov_t* dests_, size_t dest_count_,
                                      const shmemx_iov_t* targets_, size_t target_count_, long* counter_)
    SHMEMX_NOEXCEPT;

/* `blocks_` blocks of `block_bytes_`; on either side a block begins the stride after the one before it. */
SHMEMX_API int shmemx_window_put_strided(shmemx_window_t window_, void* target_, ptrdiff_t target_stride_,
                                         const void* source_, ptrdiff_t source_stride_, size_t block_bytes_,
                                         size_t blocks_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_get_strided(shmemx_window_t window_, void* dest_, ptrdiff_t dest_stride_,
                                         const void* target_, ptrdiff_t target_stride_, size_t block_bytes_,
                                         size_t blocks_) SHMEMX_NOEXCEPT;

/* ==== Atomic operations and accumulates ==== */

/* Element types. */
enum {
  SHMEMX_INT32 = 1,
  SHMEMX_UINT32 = 2,
  SHMEMX_INT64 = 3,
  SHMEMX_UINT64 = 4,
  SHMEMX_FLOAT = 5,
  SHMEMX_DOUBLE = 6
};

/* Operators: target = target op operand. The bitwise ones are for integers. Sums and products of integers wrap. */
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
  /* To be added to the operator of an accumulate or get_accumulate: the caller vouches that nobody else touches these
     elements meanwhile (it holds an exclusive lock, say). They need not be atomic then, which is many times faster. */
  SHMEMX_OP_EXCLUSIVE = 256
};

/* One element. *result_ gets what was there before. operand_ may be null with NO_OP.
   ERR: WINDOW, STALE, RANGE, ALIGNMENT, ARGUMENT. */
SHMEMX_API int shmemx_window_fetch_op(shmemx_window_t window_, void* target_, const void* operand_, void* result_,
                                      int type_, int op_) SHMEMX_NOEXCEPT;

/* One element of an integer type: *value_ replaces it if it equals *compare_. *result_ gets what was there before. */
SHMEMX_API int shmemx_window_compare_swap(shmemx_window_t window_, void* target_, const void* compare_,
                                          const void* value_, void* result_, int type_) SHMEMX_NOEXCEPT;

/* `count_` elements, each atomic by itself. source_ may be null with NO_OP; result_ gets what was there before. */
SHMEMX_API int shmemx_window_accumulate(shmemx_window_t window_, void* target_, const void* source_, size_t count_,
                                        int type_, int op_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_get_accumulate(shmemx_window_t window_, void* target_, const void* source_, void* result_,
                                            size_t count_, int type_, int op_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_accumulate_nbi(shmemx_window_t window_, void* target_, const void* source_, size_t count_,
                                            int type_, int op_, long* counter_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_get_accumulate_nbi(shmemx_window_t window_, void* target_, const void* source_,
                                                void* result_, size_t count_, int type_, int op_, long* counter_)
    SHMEMX_NOEXCEPT;

/* ==== Completion ==== */

/* Completes all operations of this PE on the attached window, at the target too. Returns the first error of an operation
   without blocking that came up since the last flush: SUCCESS, STALE, RANGE. ERR: WINDOW. */
SHMEMX_API int shmemx_window_flush(shmemx_window_t window_) SHMEMX_NOEXCEPT;
/* The same for all attached windows whose owner is `pe_`, or for all with -1. A wrong PE ends the job. */
SHMEMX_API int shmemx_window_flush_pe(int pe_) SHMEMX_NOEXCEPT;

/* 1 when *counter_ is 0, after some progress was made; 0 otherwise. */
SHMEMX_API int shmemx_window_test(const long* counter_) SHMEMX_NOEXCEPT;
/* Returns when *counter_ is 0. */
SHMEMX_API void shmemx_window_wait(const long* counter_) SHMEMX_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#include "undef.h"

#endif
