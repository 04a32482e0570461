#include "progress/attending.hpp"

#include "base/clock.hpp"
#include "progress/policy.hpp"
#include "progress/progress_thread.hpp"

namespace shmemx::progress {
namespace {

constexpr std::uint64_t kLongNs = kLookNs / 2;
constinit thread_local std::uint64_t begin_ns = 0;  // 0: this thread does not attend

}  // namespace

void begin_attending() noexcept {
  Doorbell* const doorbell = own_doorbell();
  if (doorbell == nullptr || policy().crowded || begin_ns != 0) return;
  begin_ns = now_ns();
  doorbell->attending.fetch_add(1, std::memory_order_relaxed);  // a hint
}

// The progress thread has left the messages to this one if that has polled for long. It would notice late that nobody
// polls any more.
void end_attending() noexcept {
  if (begin_ns == 0) return;
  own_doorbell()->attending.fetch_sub(1, std::memory_order_relaxed);  // a hint
  if (now_ns() - begin_ns > kLongNs) node_thread.call();
  begin_ns = 0;
}

}  // namespace shmemx::progress
