/* Active messages: messages that name the function which processes them. Included by shmemx.h.

   A handler runs at the target, in the thread that makes progress there: one that waits or polls in the library, or
   the progress thread. Handlers of one process never run concurrently. Messages from one PE to another are processed
   in the order in which they were sent. The only routine of this library that a handler may call is shmemx_am_send. */
#ifndef SHMEMX_ACTIVE_H
#define SHMEMX_ACTIVE_H

#include <stddef.h>

#include "attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SHMEMX_AM_HANDLERS = 65536,    /* ids are 0..65535; tasks (tasks.h) have the same numbers */
  SHMEMX_AM_MAX_BYTES = 16 << 20 /* the longest message */
};

/* source_: the PE that sent the message. payload_: `bytes_` bytes, 8-byte aligned, valid until the handler returns.
   argument_: the value given at registration. */
typedef void (*shmemx_am_handler_t)(int source_, const void* payload_, size_t bytes_, void* argument_);

/* Registers handler_ for messages with this id on the calling PE; NULL removes the registration. Local. A PE
   registers before others send to it, for example by a barrier in between. A message without a handler ends the job. */
SHMEMX_API void shmemx_am_register(int id_, shmemx_am_handler_t handler_, void* argument_) SHMEMX_NOEXCEPT;

/* Sends `bytes_` bytes (0..SHMEMX_AM_MAX_BYTES) at payload_ to handler id_ of PE pe_, a number of the world; the own
   PE is allowed. payload_ may be reused on return. While no memory for messages is free the routine waits and makes
   progress. Inside a handler it never waits: the message is stored and sent later (at most SHMEMX_PENDING_MAX
   bytes). */
SHMEMX_API void shmemx_am_send(int pe_, int id_, const void* payload_, size_t bytes_) SHMEMX_NOEXCEPT;

/* Handles the messages that have arrived. Returns 1 if there was one, 0 otherwise. */
SHMEMX_API int shmemx_am_poll(void) SHMEMX_NOEXCEPT;

/* From the first call with 1 to the one with 0 this thread calls shmemx_am_poll all the time, and this routine with 1
   again every few polls, which tells whether it has kept its core: a hint to the PEs of the node, which then send
   messages to this PE where the kernel would copy a few bytes, or scattered ones, more slowly. */
SHMEMX_API void shmemx_am_attend(int attends_) SHMEMX_NOEXCEPT;

/* Waits until the handlers of all messages that this PE has sent have returned. */
SHMEMX_API void shmemx_am_quiet(void) SHMEMX_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
