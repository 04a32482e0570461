/* Extensions of shmemx to the standard. Programs that use nothing from here are portable. */
#ifndef SHMEMX_H
#define SHMEMX_H

#include "shmem.h"

#include "shmemx/attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* State of this PE's symmetric heap. It is the same on all PEs, since allocation is collective. */
typedef struct {
  size_t capacity_bytes;     /* the limit set by SHMEM_SYMMETRIC_SIZE */
  size_t used_bytes;         /* in live blocks, alignment included */
  size_t high_water_bytes;   /* the maximum of used_bytes since the library started */
  size_t largest_free_bytes; /* the largest block that shmem_malloc can allocate now */
  size_t live_blocks;        /* allocated and not yet freed */
} shmemx_heap_info_t;

/* Writes the state of this PE's heap to *info. Local; requires an initialised library. */
SHMEMX_API void shmemx_heap_query(shmemx_heap_info_t* info_) SHMEMX_NOEXCEPT;

/* Small puts, atomics without a result and signals of this PE to PEs of other nodes. Several of them travel in one
   message. Operations are counted when they leave, so all of them after shmem_quiet. */
typedef struct {
  unsigned long long operations; /* since the library started */
  unsigned long long messages;   /* that carried them */
  unsigned long long bytes;      /* of the operations: data, and what says where they go */
  /* Frames of the transport ethernet since the library started; 0 over other networks. */
  unsigned long long frames_sent;
  unsigned long long frames_received;   /* that prove to be of this job */
  unsigned long long frames_resent;     /* sent again, or requests for what was missing */
  unsigned long long frames_duplicate;  /* received again, or recorded and sent by somebody else */
  unsigned long long frames_overflowed; /* dropped: they found no room in the ring that receives */
  unsigned long long frames_truncated;  /* dropped: cut off, or of no valid form */
  unsigned long long frames_foreign;    /* dropped: for another endpoint, or from nobody of this job */
  unsigned long long frames_forged;     /* dropped: the proof of the job's secret is wrong */
  unsigned long long frames_stale;      /* dropped: of an earlier life of their sender */
} shmemx_net_stats_t;

/* Writes these totals of this PE to *stats. Local; requires an initialised library. */
SHMEMX_API void shmemx_net_stats(shmemx_net_stats_t* stats_) SHMEMX_NOEXCEPT;

#ifdef __cplusplus
}
#endif

/* Each header takes the helper macros it needs from attributes.h. */
#include "shmemx/active.h"
#include "shmemx/collectives.h"
#include "shmemx/messages.h"
#include "shmemx/windows.h"
#include "shmemx/start.h"

#include "shmemx/undef.h"

#endif
