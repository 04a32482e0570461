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
