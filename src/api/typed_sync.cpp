// Entry points of the waits and tests, the deprecated ones included.
#include "api/sync.hpp"
#include "api/typed_define.hpp"

SHMEMX_WAIT_TABLE(SHMEMX_DEFINE)
SHMEMX_OLD_WAIT_UNTIL_TABLE(SHMEMX_DEFINE)

// shmem_int_wait(ivar, value) waits for "different from value".
#define SHMEMX_DEFINE_WAIT(TAIL, T, R, OP, ARGS, ...) \
  SHMEMX_ENTRY(shmem##TAIL, R, (__VA_ARGS__),         \
               shmemx::api::wait_until<T>("shmem" #TAIL, ivar_, SHMEM_CMP_NE, cmp_value_))

SHMEMX_OLD_WAIT_TABLE(SHMEMX_DEFINE_WAIT)

SHMEMX_ENTRY(shmem_wait, void, (long* ivar_, long cmp_value_),
             shmemx::api::wait_until<long>("shmem_wait", ivar_, SHMEM_CMP_NE, cmp_value_))
SHMEMX_ENTRY(shmem_wait_until, void, (long* ivar_, int cmp_, long cmp_value_),
             shmemx::api::wait_until<long>("shmem_wait_until", ivar_, cmp_, cmp_value_))
