// Entry points of the typed collectives of teams.
#include "api/coll.hpp"
#include "api/typed_define.hpp"

SHMEMX_COLLECTIVE_TABLE(SHMEMX_DEFINE)

// The combining operations: which template, and with which operator.
#define SHMEMX_COMBINE_and_reduce(T) reduce<T, shmemx::api::And>
#define SHMEMX_COMBINE_or_reduce(T) reduce<T, shmemx::api::Or>
#define SHMEMX_COMBINE_xor_reduce(T) reduce<T, shmemx::api::Xor>
#define SHMEMX_COMBINE_max_reduce(T) reduce<T, shmemx::api::Max>
#define SHMEMX_COMBINE_min_reduce(T) reduce<T, shmemx::api::Min>
#define SHMEMX_COMBINE_sum_reduce(T) reduce<T, shmemx::api::Sum>
#define SHMEMX_COMBINE_prod_reduce(T) reduce<T, shmemx::api::Prod>
#define SHMEMX_COMBINE_sum_inscan(T) inscan<T>
#define SHMEMX_COMBINE_sum_exscan(T) exscan<T>
#define SHMEMX_DEFINE_COMBINE(TAIL, T, R, OP, ARGS, ...) \
  SHMEMX_ENTRY(shmem##TAIL, R, (__VA_ARGS__), shmemx::api::SHMEMX_COMBINE_##OP(T)("shmem" #TAIL, SHMEMX_UNWRAP ARGS))

SHMEMX_REDUCE_TABLE(SHMEMX_DEFINE_COMBINE)
