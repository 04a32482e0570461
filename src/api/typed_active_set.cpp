// Entry points of the deprecated collectives on active sets.
#include "api/active_set.hpp"
#include "api/typed_define.hpp"

#define SHMEMX_DEFINE_ACTIVE(TAIL, T, R, OP, ARGS, ...) \
  SHMEMX_ENTRY(shmem##TAIL, R, (__VA_ARGS__), shmemx::api::active_##OP({"shmem" #TAIL, sizeof(T)}, SHMEMX_UNWRAP ARGS))

SHMEMX_OLD_COLLECTIVE_TABLE(SHMEMX_DEFINE_ACTIVE)

#define SHMEMX_OPERATOR_and_to_all shmemx::coll::And
#define SHMEMX_OPERATOR_or_to_all shmemx::coll::Or
#define SHMEMX_OPERATOR_xor_to_all shmemx::coll::Xor
#define SHMEMX_OPERATOR_max_to_all shmemx::coll::Max
#define SHMEMX_OPERATOR_min_to_all shmemx::coll::Min
#define SHMEMX_OPERATOR_sum_to_all shmemx::coll::Sum
#define SHMEMX_OPERATOR_prod_to_all shmemx::coll::Prod
#define SHMEMX_DEFINE_TO_ALL(TAIL, T, R, OP, ARGS, ...) \
  SHMEMX_ENTRY(shmem##TAIL, R, (__VA_ARGS__),           \
               (shmemx::api::active_reduce<T, SHMEMX_OPERATOR_##OP>("shmem" #TAIL, SHMEMX_UNWRAP ARGS)))

SHMEMX_TO_ALL_TABLE(SHMEMX_DEFINE_TO_ALL)
