// Entry points of the typed collectives of teams.
#include "api/coll.hpp"
#include "api/typed_define.hpp"

#define SHMEMX_DEFINE_COLLECTIVE(TAIL, T, R, OP, ARGS, ...) \
  SHMEMX_ENTRY(shmem##TAIL, R, (__VA_ARGS__), shmemx::api::OP({"shmem" #TAIL, sizeof(T)}, SHMEMX_UNWRAP ARGS))

SHMEMX_COLLECTIVE_TABLE(SHMEMX_DEFINE_COLLECTIVE)

// How each combining operation combines elements of T.
#define SHMEMX_COMBINE_and_reduce(T) shmemx::coll::combine_of<T, shmemx::coll::And>()
#define SHMEMX_COMBINE_or_reduce(T) shmemx::coll::combine_of<T, shmemx::coll::Or>()
#define SHMEMX_COMBINE_xor_reduce(T) shmemx::coll::combine_of<T, shmemx::coll::Xor>()
#define SHMEMX_COMBINE_max_reduce(T) shmemx::coll::combine_of<T, shmemx::coll::Max>()
#define SHMEMX_COMBINE_min_reduce(T) shmemx::coll::combine_of<T, shmemx::coll::Min>()
#define SHMEMX_COMBINE_sum_reduce(T) shmemx::coll::combine_of<T, shmemx::coll::Sum>()
#define SHMEMX_COMBINE_prod_reduce(T) shmemx::coll::combine_of<T, shmemx::coll::Prod>()
#define SHMEMX_COMBINE_sum_inscan(T) shmemx::coll::kInclusiveScan<T>
#define SHMEMX_COMBINE_sum_exscan(T) shmemx::coll::kExclusiveScan<T>
#define SHMEMX_DEFINE_COMBINE(TAIL, T, R, OP, ARGS, ...) \
  SHMEMX_ENTRY(shmem##TAIL, R, (__VA_ARGS__),            \
               shmemx::api::combine("shmem" #TAIL, SHMEMX_UNWRAP ARGS, SHMEMX_COMBINE_##OP(T)))

SHMEMX_REDUCE_TABLE(SHMEMX_DEFINE_COMBINE)
