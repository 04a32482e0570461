/* Counters of what this PE does. <shmemx.h> includes this header; docs/observing.md tells what is counted. */
#ifndef SHMEMX_STATS_H
#define SHMEMX_STATS_H

#include <stddef.h>

#include "types.h"

#include "attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Small puts, atomics without a result and signals of this PE to PEs of other nodes. Several of them travel in one
   message. Operations are counted when they leave, so all of them after shmem_quiet. Always counted. */
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

/* Kinds of operations on the memory of one PE. A put with signal counts as a put and as a signal. */
enum {
  SHMEMX_STATS_PUT,
  SHMEMX_STATS_GET,
  SHMEMX_STATS_ATOMIC,
  SHMEMX_STATS_SIGNAL,
  SHMEMX_STATS_MESSAGE, /* sent by shmemx_send and its kin */
  SHMEMX_STATS_FAMILIES
};
/* Paths to that memory. */
enum {
  SHMEMX_STATS_SELF,    /* this PE's own */
  SHMEMX_STATS_MAPPED,  /* of a PE of this node: loads, stores, atomics of the processor */
  SHMEMX_STATS_QUEUE,   /* of a PE of this node: messages through cells */
  SHMEMX_STATS_NETWORK, /* of a PE of another node */
  SHMEMX_STATS_PATHS
};

typedef struct {
  unsigned long long operations;
  unsigned long long bytes;
} shmemx_stats_count_t;

typedef struct {
  shmemx_stats_count_t transfers[SHMEMX_STATS_FAMILIES][SHMEMX_STATS_PATHS];
  unsigned long long waiting_ns; /* in calls that wait, of all threads */
  unsigned long long counted_ns; /* since counting began */
} shmemx_stats_t;

typedef struct {
  unsigned long long calls;      /* of collectives and memory routines */
  unsigned long long waits;      /* that did not find at once what they waited for */
  unsigned long long ns;         /* in its calls, or in its waits where calls are not counted */
  unsigned long long longest_ns; /* of them */
} shmemx_stats_routine_t;

/* All of these are local and require an initialised library. They return 0 if SHMEM_STATS is set; otherwise nothing is
   counted, they write zeros and return 1. */

/* Writes the counters of this PE to *stats_. */
SHMEMX_API int shmemx_stats_get(shmemx_stats_t* stats_) SHMEMX_NOEXCEPT;
/* Writes the operations of one context to stats_->transfers, the other members as shmemx_stats_get. */
SHMEMX_API int shmemx_stats_get_context(shmem_ctx_t ctx_, shmemx_stats_t* stats_) SHMEMX_NOEXCEPT;
/* Writes the operations of this PE on the memory of one PE of the world, and the messages to it, to *count_. */
SHMEMX_API int shmemx_stats_get_peer(int pe_, shmemx_stats_count_t* count_) SHMEMX_NOEXCEPT;
/* Writes the calls and waits of one routine, such as "shmem_barrier_all", to *counts_; zeros for one without any. */
SHMEMX_API int shmemx_stats_get_routine(const char* routine_, shmemx_stats_routine_t* counts_) SHMEMX_NOEXCEPT;
/* Begins anew: all counters of this PE but those of shmemx_net_stats become 0. */
SHMEMX_API int shmemx_stats_reset(void) SHMEMX_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#include "undef.h"

#endif
