/* Every association of the type-generic names calls the routine of its type, with and without a context, also from
   const pointers. Built as C11 with generics and as C++ with overloads (generics_test.cpp), against the stand-in
   library of generics_recorder.cpp. The calls are made from the rows of the public table, so none can be forgotten. */
#include <shmem.h>

#include <stdio.h>
#include <string.h>

#include <shmemx/api_deprecated.h>
#include <shmemx/api_table.h>
#include <shmemx/type_lists.h>

#include "generics_recorder.h"

/* clang-format off */

static int failures;
static int calls;

/* A name is expected where the type is distinct; an alias such as int64_t must call the same operation and size. */
static void expect(const char *wanted, const char *op, size_t element_bytes) {
  const int right = recorded.calls == ++calls && strcmp(recorded.op, op) == 0 && recorded.element_bytes == element_bytes &&
                    (wanted == NULL || strcmp(recorded.name, wanted) == 0);
  if (right) return;
  ++failures;
  printf("generic %s of %zu bytes: wanted %s, reached %s\n", op, element_bytes, wanted == NULL ? "an alias" : wanted, recorded.name);
}

/* The arguments by the names in the rows. Those that depend on the type are defined beside each call. */
static const int *status_;
static size_t *indices_;
static uint64_t *sig_addr_;
static uint64_t signal_;
static size_t nelems_, nreduce_, bsize_, nblocks_;
static ptrdiff_t dst_ = 1, sst_ = 1;
static int pe_, sig_op_ = SHMEM_SIGNAL_SET, cmp_ = SHMEM_CMP_EQ, root_;
static shmem_team_t team_ = SHMEM_TEAM_WORLD;
static shmem_ctx_t ctx_ = SHMEM_CTX_DEFAULT;

#define UNWRAP(...) __VA_ARGS__
#define TYPED_ARGUMENTS(T) \
  T object_ = (T)0; \
  T *dest_ = &object_, *fetch_ = &object_, *ivar_ = &object_, *ivars_ = &object_; \
  const T *source_ = &object_, *cmp_values_ = &object_; \
  T value_ = (T)0, cond_ = (T)0, cmp_value_ = (T)0; \
  (void)dest_; (void)fetch_; (void)ivar_; (void)ivars_; (void)source_; (void)cmp_values_; (void)value_; (void)cond_; (void)cmp_value_;

#define CALL_NAMED(TAIL, T, R, OP, ARGS, ...) { TYPED_ARGUMENTS(T) (void)shmem_##OP ARGS; expect("shmem" #TAIL, #OP, sizeof(T)); }
#define CALL_ALIAS(TAIL, T, R, OP, ARGS, ...) { TYPED_ARGUMENTS(T) (void)shmem_##OP ARGS; expect(NULL, #OP, sizeof(T)); }
#define CALL_NAMED_CTX(TAIL, T, R, OP, ARGS, ...) \
  CALL_NAMED(TAIL, T, R, OP, ARGS, ) \
  { TYPED_ARGUMENTS(T) (void)shmem_##OP(ctx_, UNWRAP ARGS); expect("shmem_ctx" #TAIL, #OP, sizeof(T)); }
#define CALL_ALIAS_CTX(TAIL, T, R, OP, ARGS, ...) \
  CALL_ALIAS(TAIL, T, R, OP, ARGS, ) \
  { TYPED_ARGUMENTS(T) (void)shmem_##OP(ctx_, UNWRAP ARGS); expect(NULL, #OP, sizeof(T)); }

static void rma_calls_the_routine_of_its_type(void) {
  SHMEMX_RMA_DISTINCT_TYPES(SHMEMX_RMA_OPS, CALL_NAMED_CTX)
  SHMEMX_RMA_DISTINCT_TYPES(SHMEMX_PUT_SIGNAL_OPS, CALL_NAMED_CTX)
  SHMEMX_RMA_TYPES(SHMEMX_RMA_OPS, CALL_ALIAS_CTX)
  SHMEMX_RMA_TYPES(SHMEMX_PUT_SIGNAL_OPS, CALL_ALIAS_CTX)
}

static void atomics_call_the_routine_of_their_type(void) {
  SHMEMX_AMO_DISTINCT_TYPES(SHMEMX_AMO_EXTENDED_OPS, CALL_NAMED_CTX)
  SHMEMX_FLOAT_TYPES(SHMEMX_AMO_EXTENDED_OPS, CALL_NAMED_CTX)
  SHMEMX_AMO_DISTINCT_TYPES(SHMEMX_AMO_STANDARD_OPS, CALL_NAMED_CTX)
  SHMEMX_BITWISE_AMO_DISTINCT_TYPES(SHMEMX_AMO_BITWISE_OPS, CALL_NAMED_CTX)
  SHMEMX_AMO_TABLE(CALL_ALIAS_CTX)
  SHMEMX_OLD_AMO_TABLE(CALL_NAMED)
}

static void waits_call_the_routine_of_their_type(void) {
  SHMEMX_NOT_LONG_TYPES(SHMEMX_WAIT_OPS, CALL_NAMED)
  SHMEMX_OLD_WAIT_UNTIL_TABLE(CALL_NAMED)
  SHMEMX_AMO_DISTINCT_TYPES(SHMEMX_WAIT_ARRAY_OPS, CALL_NAMED)
  SHMEMX_AMO_TYPES(SHMEMX_WAIT_ARRAY_OPS, CALL_ALIAS)
  { TYPED_ARGUMENTS(long) (void)shmem_test(ivar_, cmp_, cmp_value_); expect("shmem_long_test", "test", sizeof(long)); }
  {
    TYPED_ARGUMENTS(long)
    shmem_wait_until(ivar_, cmp_, cmp_value_);
#ifdef __cplusplus /* the deprecated routine for long * replaces the overload */
    expect("shmem_wait_until", "shmem_wait_until", 0);
#else
    expect("shmem_long_wait_until", "wait_until", sizeof(long));
#endif
  }
}

static void collectives_call_the_routine_of_their_type(void) {
  SHMEMX_RMA_DISTINCT_TYPES(SHMEMX_COLLECTIVE_OPS, CALL_NAMED)
  SHMEMX_RMA_TYPES(SHMEMX_COLLECTIVE_OPS, CALL_ALIAS)
  SHMEMX_BITWISE_REDUCE_DISTINCT_TYPES(SHMEMX_REDUCE_BITWISE_OPS, CALL_NAMED)
  SHMEMX_RMA_DISTINCT_TYPES(SHMEMX_REDUCE_ORDER_OPS, CALL_NAMED)
  SHMEMX_RMA_DISTINCT_TYPES(SHMEMX_REDUCE_SUM_OPS, CALL_NAMED)
  SHMEMX_COMPLEX_TYPES(SHMEMX_REDUCE_SUM_OPS, CALL_NAMED)
  SHMEMX_REDUCE_TABLE(CALL_ALIAS)
}

static void shared_names_are_resolved_by_their_arguments(void) {
  static long sync_array[SHMEM_SYNC_SIZE];
  shmem_sync(team_);                                     expect("shmem_team_sync", "shmem_team_sync", 0);
  shmem_sync(0, 0, 1, sync_array);                       expect("shmem_sync", "shmem_sync", 0);
  shmem_signal_add(sig_addr_, signal_, pe_);             expect("shmem_signal_add", "shmem_signal_add", 0);
  shmem_signal_add(ctx_, sig_addr_, signal_, pe_);       expect("shmem_ctx_signal_add", "shmem_ctx_signal_add", 0);
  shmem_signal_set(sig_addr_, signal_, pe_);             expect("shmem_signal_set", "shmem_signal_set", 0);
  shmem_signal_set(ctx_, sig_addr_, signal_, pe_);       expect("shmem_ctx_signal_set", "shmem_ctx_signal_set", 0);
}

/* Calls as programs write them: nested, with arrays, with used results, with constants as PE. */
static void calls_nest_and_take_arrays(void) {
  static double grid[4];
  static const long table[2] = {1, 2};
  int next = 0;
  shmem_put(grid + 1, grid, 2, 0);                       expect("shmem_double_put", "put", sizeof(double));
  shmem_p(grid, shmem_g(&grid[shmem_g(&next, 0)], 0), shmem_atomic_fetch(&next, 0));
  calls += 3;                                            expect("shmem_double_p", "p", sizeof(double));
  (void)(shmem_g(table, 0) + shmem_atomic_fetch(ctx_, &table[1], 0));
  ++calls;                                               expect(recorded.name, recorded.op, sizeof(long));
}

int main(void) {
  rma_calls_the_routine_of_its_type();
  atomics_call_the_routine_of_their_type();
  waits_call_the_routine_of_their_type();
  collectives_call_the_routine_of_their_type();
  shared_names_are_resolved_by_their_arguments();
  calls_nest_and_take_arrays();
  printf("%d generic calls, %d wrong\n", calls, failures);
  return failures != 0 || calls < 1500;
}
