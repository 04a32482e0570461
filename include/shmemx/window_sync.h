/* Completion, waiting and locks of windows (windows.h, which includes this header). */
#ifndef SHMEMX_WINDOW_SYNC_H
#define SHMEMX_WINDOW_SYNC_H

#include <stddef.h>
#include <stdint.h>

#include "windows.h" /* undefines the helper macros, so it stands before them */

#include "attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Completion ====
   Complete: executed at the target and visible to all PEs, and results are here. Locally complete: sources may be
   changed and results are here; the target need not have executed the operation yet. */

/* Completes all operations of this PE on the attached window. Returns the first error of a nonblocking operation since
   the last flush: SUCCESS, STALE, RANGE. ERR: WINDOW. */
SHMEMX_API int shmemx_window_flush(shmemx_window_t window_) SHMEMX_NOEXCEPT;
/* The same for all attached windows whose owner is `pe_`, or for all with -1. An invalid PE ends the job. */
SHMEMX_API int shmemx_window_flush_pe(int pe_) SHMEMX_NOEXCEPT;
/* The same for the windows of a group, such as the windows of all PEs that one collective call has made. Windows
   without open operations cost a look each. SHMEMX_WINDOW_INVALID is skipped. Returns the first error in the order of
   the array; all are flushed in any case. */
SHMEMX_API int shmemx_window_flush_all(const shmemx_window_t* windows_, size_t count_) SHMEMX_NOEXCEPT;

/* Completes locally all operations of this PE on the window, or on those of a group. Puts and accumulates whose data
   the library has copied or sent cost nothing. Errors are left to the next flush. ERR: WINDOW. */
SHMEMX_API int shmemx_window_flush_local(shmemx_window_t window_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_window_flush_local_all(const shmemx_window_t* windows_, size_t count_) SHMEMX_NOEXCEPT;

/* Makes progress. Returns 1 if *counter_ is 0, else 0. */
SHMEMX_API int shmemx_window_test(const long* counter_) SHMEMX_NOEXCEPT;
/* Waits until *counter_ is 0. */
SHMEMX_API void shmemx_window_wait(const long* counter_) SHMEMX_NOEXCEPT;

/* ==== Waiting for values ====
   For memory of this PE that others change by operations on a window, or by the atomics and puts of the standard. The
   memory need not be symmetric. The waiter spins, yields and then sleeps, as in shmem_wait_until; an operation of the
   library that changes the memory wakes it, other stores (by the address of shmemx_window_ptr, by a device) are noticed
   within a millisecond. cmp_: SHMEM_CMP_EQ ... SHMEM_CMP_LE. Integer types only; *value_ is read once.
   ERR: ARGUMENT, ALIGNMENT (the address is not a multiple of the size). */

/* Waits until `*address_ cmp *value_`. What was put or accumulated before by the PE that changed it, and completed, is
   visible then. */
SHMEMX_API int shmemx_window_wait_until(const void* address_, int type_, int cmp_, const void* value_) SHMEMX_NOEXCEPT;
/* Makes progress. Writes 1 to *flag_ if the comparison holds, else 0. */
SHMEMX_API int shmemx_window_test_until(const void* address_, int type_, int cmp_, const void* value_,
                                        int* flag_) SHMEMX_NOEXCEPT;

/* ==== One wait for different things ==== */

/* What is waited for. */
enum {
  SHMEMX_EVENT_NONE = 0,    /* nothing: never happens, and is skipped */
  SHMEMX_EVENT_COUNTER = 1, /* object: const long*, a counter of _nbi operations that becomes 0 */
  SHMEMX_EVENT_REQUEST = 2, /* object: shmemx_request_t*, which becomes complete, or is SHMEMX_REQUEST_NULL */
  SHMEMX_EVENT_MESSAGE = 3, /* a message of `source_pe` with `tag` that no receive has taken; either may be ANY */
  SHMEMX_EVENT_VALUE = 4,   /* object: memory of this PE, compared with `reference`, as in shmemx_window_wait_until */
  SHMEMX_EVENT_FUNCTION = 5 /* function(object) returns nonzero */
};
typedef struct {
  int kind;       /* one of the above */
  int source_pe;  /* MESSAGE */
  int tag;        /* MESSAGE */
  int type;       /* VALUE: an integer type of window_updates.h */
  int comparison; /* VALUE: SHMEM_CMP_... */
  int reserved;   /* 0 */
  const void* object;
  int64_t reference;             /* VALUE: converted to the type */
  int (*function)(void* object); /* FUNCTION: called again and again, perhaps by no other event than time: it is called
                                    at least once a millisecond. It may use the library's nonblocking routines. */
} shmemx_event_t;

/* Waits until one of the events has happened and returns its index, the lowest one if there are several; `count_` if
   all are NONE. A request that is complete is left to shmemx_test or shmemx_wait, a message to a receive. A wrong event
   ends the job with one line that says what is allowed. */
SHMEMX_API size_t shmemx_event_wait(const shmemx_event_t* events_, size_t count_) SHMEMX_NOEXCEPT;
/* The same without waiting: makes progress; `count_` if none has happened. */
SHMEMX_API size_t shmemx_event_test(const shmemx_event_t* events_, size_t count_) SHMEMX_NOEXCEPT;

/* ==== Locks ====
   Each window has a lock. It is granted in the order in which requests arrive, so that nobody starves; shared requests
   next to each other are granted together. A PE of the owner's node takes a free lock by one atomic instruction; the
   owner queues requests of PEs of other nodes, which wait for its reply, so nobody polls from afar. A lock belongs to a
   PE and is held through one handle, shared by any number of its threads, or exclusively. Locks exclude nothing but
   each other. shmem_finalize releases locks that are still held, with a warning; any other end of a PE
   that holds a lock is that of the job, with one line that names it.
   A PE that takes the locks of several windows one after the other, and others that do so in another order, may wait for
   each other, even for shared ones, since exclusive requests of third PEs are in between. SHMEMX_LOCK_JOIN is a shared
   request that avoids this: it goes before all that wait. */
enum { SHMEMX_LOCK_SHARED = 1, SHMEMX_LOCK_EXCLUSIVE = 2, SHMEMX_LOCK_JOIN = 3 };

/* Waits until the lock of the attached window is granted. Operations of earlier holders that were complete when they
   released it are visible. ERR: WINDOW, STALE (the window has been freed, also while waiting), ARGUMENT, LOCK (held
   exclusively through this handle, or held shared and wanted exclusively). */
SHMEMX_API int shmemx_window_lock(shmemx_window_t window_, int kind_) SHMEMX_NOEXCEPT;
/* The same without waiting for the lock: it is granted when *counter_ is 0. For locks of several windows at once. If
   the window turns out to be freed, the next flush returns SHMEMX_ERR_STALE. counter_ must not be null. */
SHMEMX_API int shmemx_window_lock_nbi(shmemx_window_t window_, int kind_, long* counter_) SHMEMX_NOEXCEPT;
/* Takes the lock of `lock_`, puts lists of data to `window_` of the same owner as shmemx_window_putv does, and releases
   the lock: all that is done when *counter_ is 0. To an owner on another node it is one message with one reply, if the
   data are short (8 KiB in lists of at most 100 pieces always are), and the call does not wait for the lock. Else it
   returns when all is done. The data may be used again on return. If a window turns out to be freed, or its owner does
   not have the memory, the next flush of `window_` returns SHMEMX_ERR_STALE or SHMEMX_ERR_RANGE, and nothing has been
   put. counter_ must not be null. ERR: as lock and putv; ARGUMENT also if the windows have different owners. */
SHMEMX_API int shmemx_window_putv_locked_nbi(shmemx_window_t lock_, int kind_, shmemx_window_t window_,
                                             const shmemx_iov_t* targets_, size_t target_count_,
                                             const shmemx_iov_t* sources_, size_t source_count_,
                                             long* counter_) SHMEMX_NOEXCEPT;
/* Takes the lock if that is possible at once. ERR: as lock, and BUSY. */
SHMEMX_API int shmemx_window_trylock(shmemx_window_t window_, int kind_) SHMEMX_NOEXCEPT;
/* Completes all operations of this PE on the window, as flush does and with its result, and releases the lock. Waits for
   a lock that has been requested by lock_nbi and not been granted. What this
   PE has started before on other windows of the same owner is executed before the next holder gets the lock, but not
   complete here: it still needs its flush. ERR: WINDOW, LOCK (not held through this handle). */
SHMEMX_API int shmemx_window_unlock(shmemx_window_t window_) SHMEMX_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#include "undef.h"

#endif
