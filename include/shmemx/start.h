/* Starts the library inside another parallel program, through functions of that program: an MPI program passes its
   collectives, and no interface of the launcher is used a second time. <shmemx.h> includes this header;
   docs/interoperability.md tells which start to take. */
#ifndef SHMEMX_START_H
#define SHMEMX_START_H

#include <stddef.h>

#include "windows.h" /* SHMEMX_SUCCESS, SHMEMX_ERR_ARGUMENT; undefines the helper macros, so it stands before them */

#include "attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the calling program provides. Set all members to 0 first, then `bytes` and the others. Later versions of the
   library may have more members; 0 in them means what this version does. */
typedef struct {
  size_t bytes;     /* sizeof(shmemx_init_attr_t): tells which members the program knows */
  int my_pe;        /* number of this process among those that start together, 0..n_pes-1 */
  int n_pes;        /* how many start together, at least 1; they may be a part of a larger program */
  int thread_level; /* requested: SHMEM_THREAD_SINGLE to SHMEM_THREAD_MULTIPLE */
  /* Gathers `bytes_` bytes from each PE, 1..65536, the same number on all PEs: writes those of PE i at
     `all_ + i * bytes_`. The two areas do not overlap. Collective over the PEs; returns 0, or another value if it
     failed. */
  int (*allgather)(const void* mine_, void* all_, size_t bytes_, void* user_);
  /* Returns on no PE before all have called it. Returns 0, or another value if it failed. */
  int (*barrier)(void* user_);
  /* Ends the whole program with this exit status, after a diagnostic, an unsuccessful exit or shmem_global_exit. May
     return; this process then exits. Called from any thread, also after the calling program has shut its own library
     down. Null: this process exits with the status, and so does every PE of its node that waits in the library; the
     launcher of the program ends the others. */
  void (*abort)(int status_, void* user_);
  void* user; /* passed to the three functions */
} shmemx_init_attr_t;

/* Results besides SHMEMX_SUCCESS and SHMEMX_ERR_ARGUMENT. The values are part of the ABI. */
enum {
  SHMEMX_ERR_VERSION =
      64, /* `bytes` is smaller than the first version of the structure, or an unknown member is not 0 */
  SHMEMX_ERR_STARTED = 65, /* the library is initialised, or was initialised as other PEs */
  SHMEMX_ERR_START = 66    /* the library could not start */
};

/* Starts the library as shmem_init_thread does. Collective over the PEs that start together; calls allgather and
   barrier only until it returns. *provided_ is the thread level that the library provides; `provided_` may be null.
   shmem_finalize ends what this routine has started, before or after the program shuts its own library down. After it,
   this routine or shmem_init may start the same PEs again, without a call of allgather or barrier.

   ERR: VERSION, ARGUMENT (a null pointer, a number out of range; numbers that contradict the order in which allgather
   delivers), STARTED, START. A line on stderr says why. Arguments are checked before any other PE is
   waited for, so the caller can correct them and call again. After SHMEMX_ERR_START the library cannot be started in
   this process any more; PEs that have not failed may still wait for it. */
SHMEMX_API int shmemx_init_attr(const shmemx_init_attr_t* attributes_, int* provided_) SHMEMX_NOEXCEPT;

/* The standard's routines that a library needs which stands on this one, under names that no other OpenSHMEM library
   has: where a program is linked with another one, too, the standard's names lead to that. */
SHMEMX_API int shmemx_init_thread(int requested_, int* provided_) SHMEMX_NOEXCEPT; /* shmem_init_thread */
SHMEMX_API void shmemx_finalize(void) SHMEMX_NOEXCEPT;                             /* shmem_finalize */
SHMEMX_API int shmemx_is_initialized(void) SHMEMX_NOEXCEPT; /* 1 between the first start and the last end, else 0 */
SHMEMX_API int shmemx_my_pe(void) SHMEMX_NOEXCEPT;          /* shmem_my_pe */
SHMEMX_API int shmemx_n_pes(void) SHMEMX_NOEXCEPT;          /* shmem_n_pes */
SHMEMX_API int shmemx_node_n_pes(void) SHMEMX_NOEXCEPT;     /* the number of PEs in SHMEM_TEAM_SHARED */
SHMEMX_API int shmemx_node_pe(int pe_) SHMEMX_NOEXCEPT;     /* the number of a PE of the world in that team; -1: none */

#ifdef __cplusplus
}
#endif

#include "undef.h"

#endif
