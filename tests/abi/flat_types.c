/* The installed shmem.h, which has one prototype after the other, declares every routine of the tables with the type
   that the tables give it. redeclared.c shows the same for C++. Compiled only. */
#include <shmem.h>
#include <shmemx/api_deprecated.h>
#include <shmemx/api_table.h>
#include <shmemx/attributes.h>
#include <shmemx/type_lists.h>

/* clang-format off */
#define SAME(NAME, ...) _Static_assert(__builtin_types_compatible_p(__typeof__(NAME), __VA_ARGS__), #NAME);
#define TYPE(TAIL, T, R, OP, ARGS, ...) SAME(shmem##TAIL, R(__VA_ARGS__))
#define TYPE_CTX(TAIL, T, R, OP, ARGS, ...) TYPE(TAIL, T, R, OP, ARGS, __VA_ARGS__) SAME(shmem_ctx##TAIL, R(shmem_ctx_t, __VA_ARGS__))
SHMEMX_RMA_TABLE(TYPE_CTX)
SHMEMX_AMO_TABLE(TYPE_CTX)
SHMEMX_WAIT_TABLE(TYPE)
SHMEMX_COLLECTIVE_TABLE(TYPE)
SHMEMX_REDUCE_TABLE(TYPE)
SHMEMX_OLD_AMO_TABLE(TYPE)
SHMEMX_OLD_WAIT_TABLE(TYPE)
SHMEMX_OLD_WAIT_UNTIL_TABLE(TYPE)
SHMEMX_OLD_COLLECTIVE_TABLE(TYPE)
SHMEMX_TO_ALL_TABLE(TYPE)
#undef SHMEMX_NORETURN
#define SHMEMX_NORETURN
#define SHMEMX_ROUTINE(R, NAME, PARAMETERS) SAME(NAME, R PARAMETERS)
#include <shmemx/api_plain.h>
SHMEMX_OLD_LONG_WAITS(SHMEMX_ROUTINE)
SHMEMX_OLDEST_ROUTINES(SHMEMX_ROUTINE)
