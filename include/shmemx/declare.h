/* Turns the tables into prototypes: of shmem_x, or of pshmem_x where SHMEMX_DECLARE_TWINS is defined. No include guard:
   shmem.h and pshmem.h use it once each. */
#ifdef __cplusplus
extern "C++" { /* a user may include shmem.h inside extern "C" */
#include <complex>
}
#endif

#include "api_deprecated.h"
#include "api_table.h"
#include "attributes.h"
#include "type_lists.h"

#ifdef SHMEMX_DECLARE_TWINS
#define SHMEMX_DECLARE(TAIL, T, R, OP, ARGS, ...) SHMEMX_API R pshmem##TAIL(__VA_ARGS__) SHMEMX_NOEXCEPT;
#define SHMEMX_DECLARE_CTX(TAIL, T, R, OP, ARGS, ...)     \
  SHMEMX_API R pshmem##TAIL(__VA_ARGS__) SHMEMX_NOEXCEPT; \
  SHMEMX_API R pshmem_ctx##TAIL(shmem_ctx_t ctx_, __VA_ARGS__) SHMEMX_NOEXCEPT;
#define SHMEMX_ROUTINE(R, NAME, PARAMETERS) SHMEMX_API R p##NAME PARAMETERS SHMEMX_NOEXCEPT;
#else
#define SHMEMX_DECLARE(TAIL, T, R, OP, ARGS, ...) SHMEMX_API R shmem##TAIL(__VA_ARGS__) SHMEMX_NOEXCEPT;
#define SHMEMX_DECLARE_CTX(TAIL, T, R, OP, ARGS, ...)    \
  SHMEMX_API R shmem##TAIL(__VA_ARGS__) SHMEMX_NOEXCEPT; \
  SHMEMX_API R shmem_ctx##TAIL(shmem_ctx_t ctx_, __VA_ARGS__) SHMEMX_NOEXCEPT;
#define SHMEMX_ROUTINE(R, NAME, PARAMETERS) SHMEMX_API R NAME PARAMETERS SHMEMX_NOEXCEPT;
#endif

#ifdef __cplusplus
extern "C" {
#endif

SHMEMX_RMA_TABLE(SHMEMX_DECLARE_CTX)
SHMEMX_AMO_TABLE(SHMEMX_DECLARE_CTX)
SHMEMX_WAIT_TABLE(SHMEMX_DECLARE)
SHMEMX_COLLECTIVE_TABLE(SHMEMX_DECLARE)
SHMEMX_REDUCE_TABLE(SHMEMX_DECLARE)

#include "api_plain.h"

SHMEMX_OLD_AMO_TABLE(SHMEMX_DECLARE)
SHMEMX_OLD_WAIT_TABLE(SHMEMX_DECLARE)
SHMEMX_OLD_WAIT_UNTIL_TABLE(SHMEMX_DECLARE)
SHMEMX_OLD_COLLECTIVE_TABLE(SHMEMX_DECLARE)
SHMEMX_TO_ALL_TABLE(SHMEMX_DECLARE)
SHMEMX_OLD_LONG_WAITS(SHMEMX_ROUTINE)
#ifndef SHMEMX_DECLARE_TWINS
SHMEMX_OLDEST_ROUTINES(SHMEMX_ROUTINE)
#endif

#ifdef __cplusplus
}
#endif
