/* Windows: memory of one PE, symmetric or not, that other PEs access by one-sided operations. <shmemx.h> includes
   this header.

   The owner allocates a window, or exposes existing memory, and describes it. The description has 64 bytes and may
   be passed on by any means (a put, a message, a file). A PE that has it attaches the window, and from then on names
   memory in it by addresses *in the owner's address space*.

   Nothing here is collective. PEs are numbers of the world. Sizes, offsets and strides are in bytes; `count_` is in
   elements.

   Completion: the forms without _nbi are complete when they return: data of a put or accumulate are visible to all
   PEs, data of a get are here. The forms with _nbi increase *counter_ while they are open and decrease it when they
   are complete. So a counter that was 0 is positive while operations are open and 0 when all are complete. They make
   progress in any call of the library; shmemx_window_test and shmemx_window_wait look at a counter. A null counter_
   leaves completion to shmemx_window_flush. Memory passed to an _nbi form must not be used until then. Any number
   may be open: if an operation uses messages, the call waits while very many are open, so memory stays bounded.

   The routines are in three headers, which this one includes: life, put and get here; atomic operations and
   accumulates, with their order and atomicity, in window_updates.h; completion, waiting and locks in window_sync.h.

   Results: SHMEMX_SUCCESS, or one of the SHMEMX_ERR_ codes; then nothing was transferred, unless a code says
   otherwise. Bounds are checked first; memory outside the window is never accessed.

   Networks: a description carries no registration key; if a network needs one for a window of a PE on another node, it
   is requested from the owner at the first long put or get. docs/windows.md describes the paths to a window and their
   costs. */
#ifndef SHMEMX_WINDOWS_H
#define SHMEMX_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "messages.h" /* shmemx_iov_t; undefines the helper macros, so it stands before them */

#include "attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Results of the routines on windows. The values are part of the ABI. */
enum {
  SHMEMX_SUCCESS = 0,
  SHMEMX_ERR_ARGUMENT = 16,    /* a null pointer, or a type or operator that does not exist, or a wrong combination */
  SHMEMX_ERR_WINDOW = 17,      /* not a handle of a live window of the kind that the routine requires */
  SHMEMX_ERR_DESCRIPTION = 18, /* not a valid description: forged, damaged, or of another job */
  SHMEMX_ERR_STALE = 19,       /* the owner has freed the window; of an operation: a part may have been transferred */
  SHMEMX_ERR_RANGE = 20,       /* begins before or ends after the window */
  SHMEMX_ERR_LIST = 21,        /* the two sides of a list differ in length, or a length overflows */
  SHMEMX_ERR_ALIGNMENT = 22,   /* an address that is waited on is not a multiple of the element's size */
  SHMEMX_ERR_MEMORY = 23,      /* no memory or address space */
  SHMEMX_ERR_LIMIT = 24,       /* 1,048,573 windows are exposed, or as many attached */
  SHMEMX_ERR_FAULT = 25,       /* the system refused an address on either side; a part may have been transferred */
  SHMEMX_ERR_LOCK = 26,        /* the lock is not held through this handle, or it is held already */
  SHMEMX_ERR_BUSY = 27,        /* a lock that is only tried is held by others */
  SHMEMX_ERR_OVERLAP = 28      /* a range to be added overlaps one of the set */
};

/* Returns a short text for a result, SHMEMX_ERR_TRUNCATE included; "unknown error" for any other value. Never null. */
SHMEMX_API const char* shmemx_error_text(int error_) SHMEMX_NOEXCEPT;

/* Returns a line on the last SHMEMX_ERR_RANGE or SHMEMX_ERR_STALE that a routine on windows has returned in the calling
   thread: the owner, the address in its address space and the length of the access, what the window is; of a set of
   ranges also whether the owner has lately removed one there, and how many milliseconds before. An empty text
   if there was none. Valid until the thread's next call of a routine on windows. Never null. */
SHMEMX_API const char* shmemx_error_detail(void) SHMEMX_NOEXCEPT;

/* A window of this PE, or an attached one. A coded number: any invalid value is detected. */
typedef struct shmemx_window* shmemx_window_t;
#ifdef __cplusplus
#define SHMEMX_WINDOW_INVALID (reinterpret_cast<shmemx_window_t>(0L))
#else
#define SHMEMX_WINDOW_INVALID ((shmemx_window_t)0L)
#endif

/* What other PEs need to attach a window. Plain bytes that may be copied. Valid on PEs of the same job until the
   window is freed. */
typedef struct {
  uint64_t words[8];
} shmemx_window_description_t;

/* ==== Owner ==== */

/* Allocates `bytes_` of new memory as a window: *address_ is its address here, a multiple of 64 (of 4096 from 4096
   bytes on). Not initialised. The fastest kind, since other PEs map it. 0 bytes are allowed. ERR: MEMORY, LIMIT,
   ARGUMENT. */
SHMEMX_API int shmemx_window_allocate(size_t bytes_, void** address_, shmemx_window_t* window_) SHMEMX_NOEXCEPT;

/* Makes existing memory of this PE a window: from malloc, stack, static data or symmetric heap; readable and
   writable, and mapped until the window is freed. Windows may overlap. A mapped file, huge pages and reserved memory
   of which nothing is resident are as good as any other; their length may exceed the memory of the machine. With
   `bytes_` 0 the address may be null: a window that can be described, attached and locked, and has no memory.
   ERR: ARGUMENT (null, or not mapped), LIMIT, MEMORY. */
SHMEMX_API int shmemx_window_expose(void* address_, size_t bytes_, shmemx_window_t* window_) SHMEMX_NOEXCEPT;

/* Makes a set of ranges a window: the owner adds and removes memory as long as the window lives, and others name it by
   its address at the owner, as everywhere. The base is null and the length SIZE_MAX; an access outside all ranges is
   SHMEMX_ERR_RANGE, which the owner finds out, so _nbi forms may return it with the next flush. One operation may cover
   several ranges that follow each other without a gap. A description stays valid when the set changes, so it is
   distributed once. The path is SHMEMX_WINDOW_MESSAGES, also for this PE itself.
   ERR: LIMIT, MEMORY, ARGUMENT. */
SHMEMX_API int shmemx_window_expose_ranges(shmemx_window_t* window_) SHMEMX_NOEXCEPT;
/* Adds `bytes_` bytes at address_ to the set, on the same conditions as expose; 0 bytes add nothing. Any number of
   ranges up to the memory that they need (64 bytes or so each); each operation finds its range in O(log n). The PE that
   adds a range tells others when it is there. Makes no system call: whether the memory is mapped is looked up when the
   range is first accessed, which is SHMEMX_ERR_RANGE if a part of it is not. ERR: WINDOW (not a set of this PE),
   ARGUMENT (null), OVERLAP, MEMORY. */
SHMEMX_API int shmemx_window_add_range(shmemx_window_t window_, void* address_, size_t bytes_) SHMEMX_NOEXCEPT;
/* Removes the range that begins at address_. When it returns nobody accesses the memory any more, and later operations
   of others there are SHMEMX_ERR_RANGE. ERR: WINDOW, RANGE (no range of the set begins there). */
SHMEMX_API int shmemx_window_remove_range(shmemx_window_t window_, void* address_) SHMEMX_NOEXCEPT;

/* Writes the description of a window of this PE. ERR: WINDOW, ARGUMENT. */
SHMEMX_API int shmemx_window_describe(shmemx_window_t window_,
                                      shmemx_window_description_t* description_) SHMEMX_NOEXCEPT;

/* Frees a window of this PE, and the memory of an allocated one. PEs that have it attached get SHMEMX_ERR_STALE from
   now on. Waits for an operation of another PE that is accessing the memory, except if that PE has it mapped: then
   the program orders the two. ERR: WINDOW. */
SHMEMX_API int shmemx_window_free(shmemx_window_t window_) SHMEMX_NOEXCEPT;

/* ==== User ==== */

/* Attaches the described window; the owner may be this PE. Each attach requires its own detach. ERR: DESCRIPTION,
   STALE, MEMORY, LIMIT, ARGUMENT. */
SHMEMX_API int shmemx_window_attach(const shmemx_window_description_t* description_,
                                    shmemx_window_t* window_) SHMEMX_NOEXCEPT;

/* Attaches `count_` windows: windows_[i] is that of descriptions_[i]. No owner is contacted now, so it costs
   no turn of the network: of a window that its owner, a PE of another node, has freed, SHMEMX_ERR_STALE comes with the
   first operation. On an error nothing is attached and all handles are SHMEMX_WINDOW_INVALID. ERR: as attach. */
SHMEMX_API int shmemx_window_attach_all(const shmemx_window_description_t* descriptions_, size_t count_,
                                        shmemx_window_t* windows_) SHMEMX_NOEXCEPT;

/* Completes open operations on the window, as flush does and with its result, and releases the handle. ERR: WINDOW;
   LOCK (its lock is held through this handle, which stays valid). */
SHMEMX_API int shmemx_window_detach(shmemx_window_t window_) SHMEMX_NOEXCEPT;

/* The path to an attached window. */
enum {
  SHMEMX_WINDOW_MAPPED = 1,  /* load and store */
  SHMEMX_WINDOW_CMA = 2,     /* put and get through process_vm_writev and process_vm_readv, the rest by messages */
  SHMEMX_WINDOW_MESSAGES = 3 /* by messages that the owner executes; long ones by the network's own put and get */
};

/* For both kinds of windows; null, 0, -1 and 0 for an invalid handle. base: in the owner's address space. path: one
   of the three above; SHMEMX_WINDOW_MAPPED for a window of this PE. */
SHMEMX_API void* shmemx_window_base(shmemx_window_t window_) SHMEMX_NOEXCEPT;
SHMEMX_API size_t shmemx_window_bytes(shmemx_window_t window_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_owner(shmemx_window_t window_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_path(shmemx_window_t window_) SHMEMX_NOEXCEPT;

/* Returns the address for loads and stores of `bytes_` at `target_` of an attached window; null if there is none.
   Valid until the window is detached or freed. */
SHMEMX_API void* shmemx_window_ptr(shmemx_window_t window_, const void* target_, size_t bytes_) SHMEMX_NOEXCEPT;

/* ==== Put and get ====
   target_: an address in the owner's address space, inside the window; `bytes_` bytes from there. source_, dest_:
   local. ERR: WINDOW, STALE, RANGE, FAULT, ARGUMENT. */
SHMEMX_API int shmemx_window_put(shmemx_window_t window_, void* target_, const void* source_,
                                 size_t bytes_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_get(shmemx_window_t window_, void* dest_, const void* target_,
                                 size_t bytes_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_put_nbi(shmemx_window_t window_, void* target_, const void* source_, size_t bytes_,
                                     long* counter_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_get_nbi(shmemx_window_t window_, void* dest_, const void* target_, size_t bytes_,
                                     long* counter_) SHMEMX_NOEXCEPT;

/* Lists: the bytes of one side, piece after piece, are copied to those of the other. The pieces need not correspond,
   but both sides have the same total length. `targets_` hold addresses in the owner's address space; pieces of 0
   bytes are skipped. ERR: as above, and LIST. */
SHMEMX_API int shmemx_window_putv(shmemx_window_t window_, const shmemx_iov_t* targets_, size_t target_count_,
                                  const shmemx_iov_t* sources_, size_t source_count_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_getv(shmemx_window_t window_, const shmemx_iov_t* dests_, size_t dest_count_,
                                  const shmemx_iov_t* targets_, size_t target_count_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_putv_nbi(shmemx_window_t window_, const shmemx_iov_t* targets_, size_t target_count_,
                                      const shmemx_iov_t* sources_, size_t source_count_,
                                      long* counter_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_getv_nbi(shmemx_window_t window_, const shmemx_iov_t* dests_, size_t dest_count_,
                                      const shmemx_iov_t* targets_, size_t target_count_,
                                      long* counter_) SHMEMX_NOEXCEPT;

/* `blocks_` blocks of `block_bytes_`; on either side each block begins one stride after the previous one. */
SHMEMX_API int shmemx_window_put_strided(shmemx_window_t window_, void* target_, ptrdiff_t target_stride_,
                                         const void* source_, ptrdiff_t source_stride_, size_t block_bytes_,
                                         size_t blocks_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_get_strided(shmemx_window_t window_, void* dest_, ptrdiff_t dest_stride_,
                                         const void* target_, ptrdiff_t target_stride_, size_t block_bytes_,
                                         size_t blocks_) SHMEMX_NOEXCEPT;
/* The same, without waiting. */
SHMEMX_API int shmemx_window_put_strided_nbi(shmemx_window_t window_, void* target_, ptrdiff_t target_stride_,
                                             const void* source_, ptrdiff_t source_stride_, size_t block_bytes_,
                                             size_t blocks_, long* counter_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_get_strided_nbi(shmemx_window_t window_, void* dest_, ptrdiff_t dest_stride_,
                                             const void* target_, ptrdiff_t target_stride_, size_t block_bytes_,
                                             size_t blocks_, long* counter_) SHMEMX_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#include "undef.h"

#include "window_updates.h"

#include "window_sync.h"

#endif
