/* Active messages: a message that names the function that takes it. Included by shmemx.h.

   A handler runs at the target, in whichever thread makes progress there: one that waits or polls in the library, or
   the progress thread. Handlers of one process never run at the same time. Messages of one PE to another are taken in
   the order in which they were sent. Inside a handler only shmemx_am_send may be called of this library. */
#ifndef SHMEMX_ACTIVE_H
#define SHMEMX_ACTIVE_H

#include <stddef.h>

#include "attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SHMEMX_AM_HANDLERS = 256,      /* ids are 0..255 */
  SHMEMX_AM_MAX_BYTES = 16 << 20 /* the longest message */
};

/* source_: the PE that sent it. payload_: `bytes_` bytes, 8-byte aligned, valid until the handler returns. argument_: as
   registered. */
typedef void (*shmemx_am_handler_t)(int source_, const void* payload_, size_t bytes_, void* argument_);

/* Makes handler_ the function for messages with this id on the calling PE; NULL takes it away. Local. A PE registers
   before others send to it (a barrier between the two does it); a message without a handler ends the job. */
SHMEMX_API void shmemx_am_register(int id_, shmemx_am_handler_t handler_, void* argument_) SHMEMX_NOEXCEPT;

/* Sends `bytes_` bytes (0..SHMEMX_AM_MAX_BYTES) at payload_ to handler id_ of PE pe_ (of the world, the own one too).
   payload_ may be used again at return. Waits, making progress, while no memory for messages is free; inside a handler
   it never waits, the rest is kept and sent later (at most SHMEMX_PENDING_MAX bytes). */
SHMEMX_API void shmemx_am_send(int pe_, int id_, const void* payload_, size_t bytes_) SHMEMX_NOEXCEPT;

/* Runs what has arrived. Returns 1 when there was something, 0 otherwise. */
SHMEMX_API int shmemx_am_poll(void) SHMEMX_NOEXCEPT;

/* Returns when the handlers of all messages that this PE has sent have returned. */
SHMEMX_API void shmemx_am_quiet(void) SHMEMX_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
