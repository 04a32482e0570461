/* Collectives of teams that do not block. <shmemx.h> includes this header.

   A routine named _nb begins a collective and returns. It is complete on this PE when its request is, by shmemx_wait,
   shmemx_test, shmemx_waitall, shmemx_waitany (messages.h) or an event of kind SHMEMX_EVENT_REQUEST (window_sync.h).
   The status of such a request is empty: SHMEMX_ANY_SOURCE, SHMEMX_ANY_TAG and 0 bytes. It cannot be cancelled: an
   attempt ends the job.

   All members of the team call the routine, with arguments that match. Several collectives of a team may be open, begun
   in the same order by all members. Collectives that block may run meanwhile; the two kinds have no order. Every call
   that handles messages advances all that are open. Where this PE has a progress thread, they advance while the program
   computes.

   Memory may be private or symmetric. The library uses it until completion, and so the arrays of counts. Sizes are in
   bytes unless said otherwise.

   Results: 0. A wrong argument, members whose lengths differ, and a request that is not completed before
   shmem_team_destroy or shmem_finalize end the job with one line.

   Threads: as for other collectives, one thread at a time begins those of a team. Any thread may complete them. */
#ifndef SHMEMX_COLLECTIVES_H
#define SHMEMX_COLLECTIVES_H

#include <stddef.h>

#include "messages.h" /* undefines the helper macros, as the next two: so they stand before them */
#include "types.h"
#include "window_updates.h"

#include "attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Completes when all members have begun it. It completes no puts: shmem_quiet before it does. */
SHMEMX_API int shmemx_barrier_nb(shmem_team_t team_, shmemx_request_t* request_) SHMEMX_NOEXCEPT;

/* Copies `bytes_` from `source_` of the member `root_` to `dest_` of all members, the root included. The others need no
   source. On the root, dest may be the source. */
SHMEMX_API int shmemx_broadcast_nb(shmem_team_t team_, void* dest_, const void* source_, size_t bytes_, int root_,
                                   shmemx_request_t* request_) SHMEMX_NOEXCEPT;

/* Concatenates the members' sources, `bytes_` each, in `dest_` of all members, in the order of their numbers. */
SHMEMX_API int shmemx_fcollect_nb(shmem_team_t team_, void* dest_, const void* source_, size_t bytes_,
                                  shmemx_request_t* request_) SHMEMX_NOEXCEPT;

/* Block i of the source, `bytes_` long, goes to member i; block i of dest comes from member i. */
SHMEMX_API int shmemx_alltoall_nb(shmem_team_t team_, void* dest_, const void* source_, size_t bytes_,
                                  shmemx_request_t* request_) SHMEMX_NOEXCEPT;

/* The same with blocks of different lengths, for all of which the arrays have an element for each member, in bytes.
   `source_counts_[i]` bytes at `source_ + source_displs_[i]` go to member i, where they are block `me` of dest.
   dest_bytes_      size of the memory at dest: a block that does not fit ends the job
   dest_counts_     the length of each block that comes. Null, on all members or on none, if this PE does not know them:
                    then the library exchanges the lengths first. If given, they equal what the senders send
   dest_displs_     where the blocks go in dest; source_displs_: where they lie. Null: one after the other
   received_        null, or where the lengths of the blocks of dest go
   Blocks of dest do not overlap, neither each other nor the source. */
SHMEMX_API int shmemx_alltoallv(shmem_team_t team_, void* dest_, size_t dest_bytes_, const size_t* dest_counts_,
                                const size_t* dest_displs_, const void* source_, const size_t* source_counts_,
                                const size_t* source_displs_, size_t* received_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_alltoallv_nb(shmem_team_t team_, void* dest_, size_t dest_bytes_, const size_t* dest_counts_,
                                   const size_t* dest_displs_, const void* source_, const size_t* source_counts_,
                                   const size_t* source_displs_, size_t* received_,
                                   shmemx_request_t* request_) SHMEMX_NOEXCEPT;

/* Combines `count_` elements of all members; each gets the result. Types and operators are those of window_updates.h,
   without REPLACE and NO_OP. `dest_` may be `source_`; otherwise they do not overlap. Operands are combined in the order
   of the PEs and associated as in the standard's reductions, so results of floating-point types have the same bits on
   all members, from run to run, and as a reduction of the standard. */
SHMEMX_API int shmemx_reduce_nb(shmem_team_t team_, void* dest_, const void* source_, size_t count_, int type_, int op_,
                                shmemx_request_t* request_) SHMEMX_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#include "undef.h"

#endif
