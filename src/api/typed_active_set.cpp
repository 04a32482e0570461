// Entry points of the deprecated collectives on active sets.
#include "api/active_set.hpp"
#include "api/typed_define.hpp"

#define SHMEMX_DEFINE_ACTIVE(TAIL, T, R, OP, ARGS, ...) SHMEMX_DEFINE(TAIL, T, R, active_##OP, ARGS, __VA_ARGS__)

SHMEMX_OLD_COLLECTIVE_TABLE(SHMEMX_DEFINE_ACTIVE)

#define SHMEMX_OPERATOR_and_to_all shmemx::api::And
#define SHMEMX_OPERATOR_or_to_all shmemx::api::Or
#define SHMEMX_OPERATOR_xor_to_all shmemx::api::Xor
#define SHMEMX_OPERATOR_max_to_all shmemx::api::Max
#define SHMEMX_OPERATOR_min_to_all shmemx::api::Min
#define SHMEMX_OPERATOR_sum_to_all shmemx::api::Sum
#define SHMEMX_OPERATOR_prod_to_all shmemx::api::Prod
#define SHMEMX_DEFINE_TO_ALL(TAIL, T, R, OP, ARGS, ...) \
  SHMEMX_ENTRY(shmem##TAIL, R, (__VA_ARGS__),           \
               (shmemx::api::active_reduce<T, SHMEMX_OPERATOR_##OP>("shmem" #TAIL, SHMEMX_UNWRAP ARGS)))

SHMEMX_TO_ALL_TABLE(SHMEMX_DEFINE_TO_ALL)
