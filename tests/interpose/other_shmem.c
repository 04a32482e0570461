/* Another OpenSHMEM library that a program is linked with, and does not call. */
#include <stdio.h>
#include <unistd.h>

#define ROUTINE(name)                                                         \
  int name(void) {                                                            \
    dprintf(STDERR_FILENO, #name " of the other OpenSHMEM library called\n"); \
    _exit(9);                                                                 \
  }
#define BOTH(name) ROUTINE(shmem_##name) ROUTINE(pshmem_##name)
BOTH(init)
BOTH(init_thread)
BOTH(query_initialized)
BOTH(query_thread)
BOTH(finalize)
BOTH(global_exit)
BOTH(my_pe)
BOTH(n_pes)
BOTH(ptr)
BOTH(malloc)
BOTH(free)
BOTH(realloc)
BOTH(align)
BOTH(calloc)
BOTH(barrier_all)
BOTH(sync_all)
BOTH(quiet)
BOTH(fence)
BOTH(team_my_pe)
BOTH(team_n_pes)
BOTH(team_translate_pe)
BOTH(ctx_create)
BOTH(ctx_destroy)
ROUTINE(start_pes)
ROUTINE(_my_pe)
ROUTINE(_num_pes)
ROUTINE(shmalloc)
ROUTINE(shfree)

int other_shmem_is_linked = 1;
