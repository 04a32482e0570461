// Replaces the library: each typed routine only records its name, so that generics_test.c can check that a generic name
// calls the right one.
#include "generics_recorder.h"

#include <shmem.h>

#include <shmemx/api_deprecated.h>
#include <shmemx/api_table.h>
#include <shmemx/type_lists.h>

// clang-format off

recorded_call recorded;

template <class R> static R record(const char* name, const char* op, size_t element_bytes) {
  recorded = {name, op, element_bytes, recorded.calls + 1};
  return R();
}

#define RECORD(TAIL, T, R, OP, ARGS, ...) \
  extern "C" R shmem##TAIL(__VA_ARGS__) { return record<R>("shmem" #TAIL, #OP, sizeof(T)); }
#define RECORD_CTX(TAIL, T, R, OP, ARGS, ...) \
  RECORD(TAIL, T, R, OP, ARGS, __VA_ARGS__) \
  extern "C" R shmem_ctx##TAIL(shmem_ctx_t, __VA_ARGS__) { return record<R>("shmem_ctx" #TAIL, #OP, sizeof(T)); }

SHMEMX_RMA_TYPES(SHMEMX_RMA_OPS, RECORD_CTX)
SHMEMX_RMA_TYPES(SHMEMX_PUT_SIGNAL_OPS, RECORD_CTX)
SHMEMX_AMO_TABLE(RECORD_CTX)
SHMEMX_WAIT_TABLE(RECORD)
SHMEMX_OLD_WAIT_UNTIL_TABLE(RECORD)
SHMEMX_RMA_TYPES(SHMEMX_COLLECTIVE_OPS, RECORD)
SHMEMX_REDUCE_TABLE(RECORD)
SHMEMX_OLD_AMO_TABLE(RECORD)

// The plain routines that share their names with generics.
#define RECORD_PLAIN(R, NAME, PARAMETERS) \
  extern "C" R NAME PARAMETERS { return record<R>(#NAME, #NAME, 0); }
RECORD_PLAIN(void, shmem_wait_until, (long*, int, long))
RECORD_PLAIN(void, shmem_sync, (int, int, int, long*))
RECORD_PLAIN(int, shmem_team_sync, (shmem_team_t))
RECORD_PLAIN(void, shmem_signal_add, (uint64_t*, uint64_t, int))
RECORD_PLAIN(void, shmem_ctx_signal_add, (shmem_ctx_t, uint64_t*, uint64_t, int))
RECORD_PLAIN(void, shmem_signal_set, (uint64_t*, uint64_t, int))
RECORD_PLAIN(void, shmem_ctx_signal_set, (shmem_ctx_t, uint64_t*, uint64_t, int))
