/* The typed routine that was called last, as recorded by generics_recorder.cpp. */
#ifndef GENERICS_RECORDER_H
#define GENERICS_RECORDER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct recorded_call {
  const char* name; /* "shmem_ctx_long_put" */
  const char* op;   /* "put" */
  size_t element_bytes;
  int calls;
};
extern struct recorded_call recorded;

#ifdef __cplusplus
}
#endif

#endif
