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

/* Writes a line on how this PE's puts, gets and atomics come to the symmetric memory of PE `pe_`: a word (itself,
   mapped, queue, or the name of the network), a colon and details. At most `bytes_` bytes are written, the final null
   byte included; nothing if bytes_ is 0. Returns the length of the whole line, as snprintf does. A network of a PE that
   has not been in contact with this one is the first choice, which contact may change. Local; requires an initialised
   library. */
SHMEMX_API size_t shmemx_route(int pe_, char* route_, size_t bytes_) SHMEMX_NOEXCEPT;

#ifdef __cplusplus
}
#endif

/* Each header takes the helper macros it needs from attributes.h. */
#include "shmemx/active.h"
#include "shmemx/collectives.h"
#include "shmemx/cray.h"
#include "shmemx/messages.h"
#include "shmemx/start.h"
#include "shmemx/stats.h"
#include "shmemx/tasks.h"
#include "shmemx/windows.h"

#include "shmemx/undef.h"

#endif
