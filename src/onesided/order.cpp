// Completion and order of what was sent.
#include "onesided/order.hpp"

#include "check/pending.hpp"
#include "onesided/direct.hpp"
#include "onesided/lane.hpp"
#include "onesided/rdma.hpp"
#include "onesided/requests.hpp"
#include "progress/send.hpp"

namespace shmemx::onesided {

void flush(const char* routine, const Scope& scope) noexcept {
  const bool has_lane = scope.context != nullptr && scope.context->lane != nullptr;
  if (has_lane && flush_lane(routine, *scope.context)) return;
  if (scope.pe >= 0) {
    progress::flush(routine, scope.pe);
    const std::uint32_t index = index_of(*scope.context);
    await_direct(routine, scope.context);
    return progress::wait_until(routine, scope.pe, [&] { return !requests.any_open(index, scope.pe); });
  }
  progress::flush_all(routine);
  await_direct(routine, scope.context);
  if (scope.context != nullptr) return await_replies(routine, -1, *initiator_of(*scope.context).tracker);
  progress::wait_until(routine, -1, [] { return requests.open_of_contexts() == 0; });
  flush_rdma_all(routine);
  flush_lanes(routine);
}

void check_complete(const char* routine, const Scope& scope) noexcept {
  const int context = scope.context == nullptr ? check::kAny : static_cast<int>(index_of(*scope.context));
  check::complete(routine, context, scope.pe);
}

void await_fenced_puts(const char* routine, const context::Context& context) noexcept {
  if (context.lane != nullptr) await_fenced_puts_of_lane(routine, context);
  if (is_fenced(context)) await_direct_puts(routine, context);
}

void fence_unmapped(const char* routine, const context::Context& context) noexcept {
  if (context.lane != nullptr && fence_lane(routine, context)) return;
  am::note_fence();
  if (context.lane != nullptr) {
    await_direct_puts(routine, context);  // later puts may go by the lane, which the network does not order after them
  } else {
    fence_direct_puts(routine, context);
  }
  const Tracker& puts = put_table[index_of(context)];
  if (puts.open.load(std::memory_order_acquire) != 0) await_replies(routine, -1, puts);  // reply
}

}  // namespace shmemx::onesided
