/* Both functions of one name, in C: told apart by the number of arguments. */
#include "cray_calls.h"

#include <shmemx.h>

void alltoallv_of_set_in_c(const struct Exchange* what, int start, int log_stride, int size, long* psync) {
  shmemx_alltoallv(what->dest, what->dest_offsets, what->received, what->source, what->source_offsets,
                   what->source_bytes, start, log_stride, size, psync);
}

int alltoallv_of_team_in_c(const struct Exchange* what, size_t dest_bytes) {
  return shmemx_alltoallv(SHMEM_TEAM_WORLD, what->dest, dest_bytes, NULL, what->dest_offsets, what->source,
                          what->source_bytes, what->source_offsets, what->received);
}

int address_in_c(void) {
  int (*const function)(shmem_team_t, void*, size_t, const size_t*, const size_t*, const void*, const size_t*,
                        const size_t*, size_t*) = shmemx_alltoallv;
  return function != NULL;
}
