#include "coll/active_set/group.hpp"

#include <shmemx/types.h>

#include "am/endpoint.hpp"
#include "base/doorbell.hpp"
#include "base/fatal.hpp"
#include "onesided/order.hpp"
#include "onesided/update.hpp"
#include "progress/send.hpp"
#include "progress/wait.hpp"

namespace shmemx::coll {

static_assert(SHMEM_SYNC_VALUE == 0 && SHMEM_SYNC_SIZE >= 3 && SHMEM_BARRIER_SYNC_SIZE >= 3 &&
              SHMEM_BCAST_SYNC_SIZE >= 3 && SHMEM_COLLECT_SYNC_SIZE >= 3 && SHMEM_REDUCE_SYNC_SIZE >= 3 &&
              SHMEM_ALLTOALL_SYNC_SIZE >= 3 && SHMEM_ALLTOALLS_SYNC_SIZE >= 3);

ActiveGroup::ActiveGroup(const context::Context& world, const char* routine, team::PeSet set, long* psync)
    : routine_(routine) {
  const auto my_pe = set.find(Pe{world.my_pe});
  if (!my_pe) fatal(routine, "PE %d is not in the active set it called with", world.my_pe);
  route_ = route_of(world, set, my_pe->value);
  direct_ = context::all_near(route_);
  psync_ = symmetric(route_, {routine, "pSync"}, psync, 3 * sizeof(long), direct_);
}

void ActiveGroup::check_initial_words() const noexcept {
  for (const int index : {0, 1}) {
    const long value = __atomic_load_n(word_of(me(), index), __ATOMIC_RELAXED);  // nothing depends on it
    if (value >= 0 && value <= static_cast<long>(context::default_context().n_pes)) continue;
    fatal(routine_,
          "element %d of argument 'pSync' is %ld, allowed is SHMEM_SYNC_VALUE, %ld: set all elements on all PEs, and "
          "synchronise, before the first call",
          index, value, static_cast<long>(SHMEM_SYNC_VALUE));
  }
}

void ActiveGroup::sync() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (size() == 1) return;
  if (!direct_) [[unlikely]]
    return sync_remote();
  long* const arrivals = word_of(0, 0);
  if (__atomic_add_fetch(arrivals, 1, __ATOMIC_ACQ_REL) != size()) return await_release();  // arrive
  __atomic_store_n(arrivals, 0L, __ATOMIC_RELAXED);  // ordered by the releases below
  for (int pe = 0; pe < size(); ++pe) {
    if (pe != me()) release(pe);
  }
}

void ActiveGroup::await_departure(int pe) noexcept {
  const long* const released = word_of(pe, 1);
  progress::wait_for_store(routine_, context::world_pe(route_, pe),
                           [&] { return __atomic_load_n(released, __ATOMIC_ACQUIRE) == 0; });  // depart
}

void ActiveGroup::release(int pe) noexcept {
  __atomic_fetch_add(word_of(pe, 1), 1L, __ATOMIC_RELEASE);  // arrive
  context::wake_heap(context::peer_heap(route_, pe));
}

void ActiveGroup::await_release() noexcept {
  long* const released = word_of(me(), 1);
  const int other = context::world_pe(route_, me() == 0 ? size() - 1 : 0);
  progress::wait_for_store(routine_, other,
                           [&] { return __atomic_load_n(released, __ATOMIC_ACQUIRE) != 0; });  // arrive
  __atomic_fetch_sub(released, 1L, __ATOMIC_RELEASE);                                          // depart
}

void ActiveGroup::add_bits(int pe, std::uint64_t bits) noexcept {
  if (context::is_mapped(route_, pe)) {
    __atomic_fetch_or(word_of(pe, 2), static_cast<long>(bits), __ATOMIC_ACQ_REL);
  } else {
    onesided::post(routine_, word_place(pe, 2), atomic::operation<std::uint64_t>(atomic::ElementOp::bor, bits));
  }
}

void ActiveGroup::put_word(int pe, std::uint64_t word) noexcept {
  if (context::is_mapped(route_, pe)) {
    __atomic_store_n(word_of(pe, 2), static_cast<long>(word), __ATOMIC_RELEASE);
  } else {
    onesided::put(routine_, word_place(pe, 2), &word, sizeof word);
  }
}

void ActiveGroup::flush_and_sync() noexcept {
  if (!direct_) onesided::flush(routine_, {&context::default_context()});
  sync();
}

void ActiveGroup::signal(int pe, int index, int operation) noexcept {
  if (!context::is_mapped(route_, pe)) return onesided::update_signal(routine_, {word_place(pe, index), 1, operation});
  if (operation == SHMEM_SIGNAL_ADD) {
    __atomic_fetch_add(word_of(pe, index), 1, __ATOMIC_ACQ_REL);  // arrive
  } else {
    __atomic_store_n(word_of(pe, index), 1L, __ATOMIC_RELEASE);  // arrive
  }
  context::wake_heap(context::peer_heap(route_, pe));
}

void ActiveGroup::sync_remote() noexcept {
  long* const own = word_of(me(), me() == 0 ? 0 : 1);
  const long due = me() == 0 ? size() - 1 : 1;
  if (me() != 0) signal(0, 0, SHMEM_SIGNAL_ADD);
  const int expected = me() == 0 || context::is_mapped(route_, 0) ? -1 : context::world_pe(route_, 0);
  progress::wait_until(routine_, expected, [&] { return __atomic_load_n(own, __ATOMIC_ACQUIRE) == due; });  // arrive
  am::order_for_sanitizer();
  __atomic_store_n(own, 0L, __ATOMIC_RELAXED);  // nobody writes it before the next synchronisation
  for (int pe = 1; me() == 0 && pe < size(); ++pe) signal(pe, 1, SHMEM_SIGNAL_SET);
}

}  // namespace shmemx::coll
