/* Remote tasks: payloads with the number of a handler, which the target's scheduler runs one at a time in the thread of
   the program. <shmemx.h> includes this header; tasks.hpp has objects for C++ on top of it.

   A handler runs only inside shmemx_scheduler_poll, _run and _quiesce, without any lock of the library. It may call
   every routine, also those that wait, but it must not enter the scheduler again. A send from a handler never waits:
   what cannot leave is kept for its target. Tasks with a smaller priority run first, those of equal priority in the
   order in which they arrived. No order is promised between the tasks of one PE and another.

   Tasks to a PE that has received all earlier ones leave at once. Others gather in one message, which leaves when it
   is full, when the earlier ones have been received, at shmemx_task_flush, and whenever this PE waits in the library.
   Before a long computation without calls of the library, call shmemx_task_flush.

   A PE registers its handlers before others send to it, for example by a barrier in between. PEs are numbers of the
   world. Every PE that tasks were sent to has to run them before shmem_finalize; shmemx_scheduler_quiesce does that
   for all. Wrong arguments end the job with one line. */
#ifndef SHMEMX_TASKS_H
#define SHMEMX_TASKS_H

#include <stddef.h>

#include "messages.h" /* shmemx_request_t; undefines the helper macros, so it stands before them */
#include "types.h"

#include "attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SHMEMX_TASK_HANDLERS = 65536,   /* numbers are 0..65535; active messages (active.h) have the same numbers */
  SHMEMX_TASK_MAX_BYTES = 1 << 30 /* the longest payload */
};

/* source_: the PE that sent the task. payload_: `bytes_` bytes, 8-byte aligned, valid until the handler returns.
   argument_: the value given at registration. */
typedef void (*shmemx_task_handler_t)(int source_, const void* payload_, size_t bytes_, void* argument_);

/* Registers handler_ for tasks with this number on the calling PE; NULL removes the registration. Local. A task
   without a handler ends the job when it is run. */
SHMEMX_API void shmemx_task_register(int id_, shmemx_task_handler_t handler_, void* argument_) SHMEMX_NOEXCEPT;

/* Sends a task to PE pe_; the own PE is allowed. payload_ may be reused on return. Outside of handlers the routine
   waits, and makes progress, while more than 16 MiB are kept for that PE. More than SHMEMX_TASKS_MAX bytes of tasks
   on one PE end the job. */
SHMEMX_API void shmemx_task_send(int pe_, int id_, const void* payload_, size_t bytes_, int priority_) SHMEMX_NOEXCEPT;

/* The same without a copy of a long payload: release_(payload_, argument_) is called when the library no longer needs
   it, at once if it is short. It runs inside a later call of shmemx_scheduler_* or shmemx_task_flush of this PE, or inside
   this one, or inside shmem_finalize. */
typedef void (*shmemx_task_release_t)(void* payload_, void* argument_);
SHMEMX_API void shmemx_task_send_owned(int pe_, int id_, void* payload_, size_t bytes_, int priority_,
                                       shmemx_task_release_t release_, void* argument_) SHMEMX_NOEXCEPT;

/* Sends the task to each PE of a team that this PE belongs to, itself included. Not collective. Between nodes, PEs that
   receive it pass it on. */
SHMEMX_API void shmemx_task_multicast(shmem_team_t team_, int id_, const void* payload_, size_t bytes_,
                                      int priority_) SHMEMX_NOEXCEPT;

/* Sends a task of priority 0 whose handler replies. The reply is written to result_, and completes *request_:
   shmemx_wait, shmemx_test (messages.h). Its status has the PE, SHMEMX_ANY_TAG, the bytes written, and
   SHMEMX_ERR_TRUNCATE if the reply is longer than `result_bytes_`. */
SHMEMX_API void shmemx_task_call(int pe_, int id_, const void* payload_, size_t bytes_, void* result_,
                                 size_t result_bytes_, shmemx_request_t* request_) SHMEMX_NOEXCEPT;

/* Inside the handler of a call, once: sends the reply; payload_ may be reused on return. A handler that returns without
   it has replied with 0 bytes. */
SHMEMX_API void shmemx_task_reply(const void* payload_, size_t bytes_) SHMEMX_NOEXCEPT;

/* Queues a task on this PE once *request_ is complete: of a message, a collective or a call. The library completes the
   request, and *request_ becomes SHMEMX_REQUEST_NULL at once; its status is lost. */
SHMEMX_API void shmemx_task_after(shmemx_request_t* request_, int id_, const void* payload_, size_t bytes_,
                                  int priority_) SHMEMX_NOEXCEPT;

/* Sends what has gathered. */
SHMEMX_API void shmemx_task_flush(void) SHMEMX_NOEXCEPT;

/* Inside a handler: the payload of the task stays valid until shmemx_task_free. Returns where it lies, which may be
   another place than that of the handler's argument; at most once for a task. Any thread may free. */
SHMEMX_API const void* shmemx_task_keep(void) SHMEMX_NOEXCEPT;
SHMEMX_API void shmemx_task_free(const void* payload_) SHMEMX_NOEXCEPT;

/* Only one thread of a PE is in the scheduler at any time. */

/* Runs at most `most_` tasks that have arrived. Returns how many it has run. */
SHMEMX_API size_t shmemx_scheduler_poll(size_t most_) SHMEMX_NOEXCEPT;

/* Runs tasks, and waits for others, until shmemx_scheduler_stop. Returns how many it has run. */
SHMEMX_API size_t shmemx_scheduler_run(void) SHMEMX_NOEXCEPT;

/* Ends the shmemx_scheduler_run of this PE, after the task that runs now; if none is active, the next one returns at
   once. Any thread may call it, and handlers. */
SHMEMX_API void shmemx_scheduler_stop(void) SHMEMX_NOEXCEPT;

/* Collective over all PEs: runs tasks until none is queued, under way or running on any PE. Threads that send tasks
   meanwhile may find that they are run after it. */
SHMEMX_API void shmemx_scheduler_quiesce(void) SHMEMX_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#include "undef.h"

#endif
