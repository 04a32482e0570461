#include "stats/span.hpp"

#include "base/clock.hpp"
#include "stats/call_hooks.hpp"
#include "stats/counters.hpp"
#include "stats/ring.hpp"

namespace shmemx::stats {
namespace {

// Calls of this thread that wait and are open. Read in each span, so it lies at an offset from the thread's own block.
[[gnu::tls_model("initial-exec")]] constinit thread_local int open_waits = 0;

}  // namespace

void Span::begin(const Call& call, const void* caller) noexcept {
  is_open_ = true;
  call_ = call;
  caller_ = caller;
  const bool waits = is_waiting(call.family);
  begin_ns_ = !is_transfer(call.family) || asked.traces ? now_ns() : 0;
  if (waits && open_waits++ == 0 && has_ring()) record_open(call, begin_ns_);
  if (call_hooks.begin != nullptr) call_hooks.begin(call);
}

void Span::set_message(int pe, Path path, std::uint64_t bytes) noexcept {
  call_.pe = pe;
  call_.path = path;
  call_.bytes = bytes;
}

void Span::end() noexcept {
  if (call_hooks.end != nullptr) call_hooks.end(call_);
  const bool waits = is_waiting(call_.family);
  if (waits && --open_waits == 0 && has_ring()) record_closed();
  const std::uint64_t end_ns = begin_ns_ != 0 ? now_ns() : 0;
  if (asked.counts) count(end_ns);
  if (asked.traces) trace(end_ns);
}

void Span::count(std::uint64_t end_ns) noexcept {
  if (is_transfer(call_.family)) return count_transfer(call_);
  const std::uint64_t ns = end_ns - begin_ns_;
  if (call_.family == Family::task) {
    counters.tasks.add(1);
    return counters.task_ns.add(ns);
  }
  RoutineCounters& routine = counters.routines[routine_id(call_.routine)];
  const bool is_wait = call_.family == Family::wait;
  (is_wait ? routine.waits : routine.calls).add(1);
  (is_wait ? routine.wait_ns : routine.call_ns).add(ns);
  routine.longest_ns.raise_to(ns);
  if (open_waits == 0) counters.blocked_ns.add(ns);
}

// Calls that wait do not know their caller; a walk of the stack is worth it for those that took long.
void Span::trace(std::uint64_t end_ns) noexcept {
  constexpr std::uint64_t kLongNs = 20'000;
  if (!has_ring()) return;
  if (caller_ == nullptr && end_ns - begin_ns_ >= kLongNs) caller_ = find_caller();
  record(call_, begin_ns_, end_ns, caller_);
}

}  // namespace shmemx::stats
