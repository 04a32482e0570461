// Atomics, and the deprecated names of them.

#include "races/routine.hpp"
#include "races/wrap.hpp"

namespace shmemx::races {
namespace {

// clang-format off
// Rows differ in what stands between the address and the PE.
#define SHMEMX_LOADS(OP, ...)                                                                                      \
  template <class T>                                                                                               \
  void OP(Routine& routine, shmem_ctx_t ctx, const T* source, int pe) noexcept {                                   \
    note_atomic(routine, {ctx, pe, source, sizeof(T), Atomic::load, Result::now});                                 \
  }
#define SHMEMX_UPDATES(OP, ACCESS, RESULT)                                                                         \
  template <class T, class... Values>                                                                              \
  void OP(Routine& routine, shmem_ctx_t ctx, const T* dest, const Values&... values) noexcept {                    \
    note_atomic(routine, {ctx, last_of(values...), dest, sizeof(T), Atomic::ACCESS, Result::RESULT});              \
  }
#define SHMEMX_FETCHES_LATER(OP, ACCESS)                                                                           \
  template <class T, class... Values>                                                                              \
  void OP(Routine& routine, shmem_ctx_t ctx, T* fetch, const T* dest, const Values&... values) noexcept {          \
    note_atomic(routine, {ctx, last_of(values...), dest, sizeof(T), Atomic::ACCESS, Result::after_quiet, fetch});  \
  }
// clang-format on

// The PE is the last argument of each.
template <class... Values>
int last_of(const Values&... values) noexcept {
  int pe = 0;
  ((pe = static_cast<int>(values)), ...);
  return pe;
}

SHMEMX_LOADS(atomic_fetch)
SHMEMX_UPDATES(atomic_set, update, none)
SHMEMX_UPDATES(atomic_inc, update, none)
SHMEMX_UPDATES(atomic_add, update, none)
SHMEMX_UPDATES(atomic_and, update_of_bits, none)
SHMEMX_UPDATES(atomic_or, update_of_bits, none)
SHMEMX_UPDATES(atomic_xor, update_of_bits, none)
SHMEMX_UPDATES(atomic_swap, update, now)
SHMEMX_UPDATES(atomic_compare_swap, update, now)
SHMEMX_UPDATES(atomic_fetch_inc, update, now)
SHMEMX_UPDATES(atomic_fetch_add, update, now)
SHMEMX_UPDATES(atomic_fetch_and, update, now)
SHMEMX_UPDATES(atomic_fetch_or, update, now)
SHMEMX_UPDATES(atomic_fetch_xor, update, now)
SHMEMX_FETCHES_LATER(atomic_fetch_nbi, load)
SHMEMX_FETCHES_LATER(atomic_swap_nbi, update)
SHMEMX_FETCHES_LATER(atomic_compare_swap_nbi, update)
SHMEMX_FETCHES_LATER(atomic_fetch_inc_nbi, update)
SHMEMX_FETCHES_LATER(atomic_fetch_add_nbi, update)
SHMEMX_FETCHES_LATER(atomic_fetch_and_nbi, update)
SHMEMX_FETCHES_LATER(atomic_fetch_or_nbi, update)
SHMEMX_FETCHES_LATER(atomic_fetch_xor_nbi, update)

}  // namespace

// The old names, which have no context.
namespace old {
namespace {
// clang-format off
#define SHMEMX_OLD(OP, NEW)                                                                                \
  template <class T, class... Values>                                                                      \
  void OP(Routine& routine, const Values&... values) noexcept { NEW<T>(routine, SHMEM_CTX_DEFAULT, values...); }
// clang-format on
SHMEMX_OLD(fetch, atomic_fetch)
SHMEMX_OLD(set, atomic_set)
SHMEMX_OLD(swap, atomic_swap)
SHMEMX_OLD(cswap, atomic_compare_swap)
SHMEMX_OLD(finc, atomic_fetch_inc)
SHMEMX_OLD(inc, atomic_inc)
SHMEMX_OLD(fadd, atomic_fetch_add)
SHMEMX_OLD(add, atomic_add)
}  // namespace
}  // namespace old
}  // namespace shmemx::races

#define SHMEMX_WRAP_OLD(TAIL, T, R, OP, ARGS, ...) \
  SHMEMX_WRAP_ONE(shmem##TAIL, R, (__VA_ARGS__), ARGS, shmemx::races::old::OP<T>, SHMEMX_UNWRAP ARGS)

SHMEMX_AMO_TABLE(SHMEMX_WRAP_CTX)
SHMEMX_OLD_AMO_TABLE(SHMEMX_WRAP_OLD)
