// Entry points of the atomics, under their names of today and those from before OpenSHMEM 1.4.
#include "api/atomic.hpp"
#include "api/typed_define.hpp"

SHMEMX_AMO_TABLE(SHMEMX_DEFINE_CTX)

// What the operations of the old rows are called today.
#define SHMEMX_TODAY_fetch atomic_fetch
#define SHMEMX_TODAY_set atomic_set
#define SHMEMX_TODAY_swap atomic_swap
#define SHMEMX_TODAY_cswap atomic_compare_swap
#define SHMEMX_TODAY_finc atomic_fetch_inc
#define SHMEMX_TODAY_inc atomic_inc
#define SHMEMX_TODAY_fadd atomic_fetch_add
#define SHMEMX_TODAY_add atomic_add
#define SHMEMX_DEFINE_OLD(TAIL, T, R, OP, ARGS, ...) \
  SHMEMX_DEFINE_DEFAULT_CTX(TAIL, T, R, SHMEMX_TODAY_##OP, ARGS, __VA_ARGS__)

SHMEMX_OLD_AMO_TABLE(SHMEMX_DEFINE_OLD)
