/* Calls of cray_calls.c. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct Exchange {
  void* dest;
  size_t* dest_offsets;
  size_t* received;
  const void* source;
  size_t* source_offsets;
  size_t* source_bytes;
};

void alltoallv_of_set_in_c(const struct Exchange* what, int start, int log_stride, int size, long* psync);
int alltoallv_of_team_in_c(const struct Exchange* what, size_t dest_bytes);
int address_in_c(void);

#ifdef __cplusplus
}
#endif
