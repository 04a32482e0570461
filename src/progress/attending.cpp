#include "progress/attending.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "progress/policy.hpp"
#include "progress/progress_thread.hpp"

namespace shmemx::progress {
namespace {

constexpr std::uint64_t kLongNs = kLookNs / 2;
constexpr std::uint64_t kPreemptedNs = 200'000;  // between two calls of a thread that polls all the time
constexpr std::uint64_t kFirstRestNs = 5'000'000;
constexpr std::uint64_t kLongestRestNs = 200'000'000;

// Of this thread.
struct Attention {
  std::uint64_t begin_ns;  // 0: it does not attend
  std::uint64_t last_ns;   // of its last call
  std::uint64_t rest_ns;   // how long it shows nothing after it has lost its core
  std::uint64_t until_ns;  // the end of that time
  bool is_shown;
};
constinit thread_local Attention attention{0, 0, kFirstRestNs, 0, false};

void show(bool attends) noexcept {
  if (attention.is_shown == attends) return;
  own_doorbell()->attending.fetch_add(attends ? 1 : ~std::uint32_t{0}, std::memory_order_relaxed);  // a hint
  attention.is_shown = attends;
}

// Another program has had the core meanwhile, and will have it again: a message would wait for it, which the kernel's
// copy does not.
void note_preemption(std::uint64_t now) noexcept {
  attention.until_ns = now + attention.rest_ns;
  attention.rest_ns = std::min(2 * attention.rest_ns, kLongestRestNs);
}

}  // namespace

void attend() noexcept {
  if (own_doorbell() == nullptr || policy().crowded) return;
  const std::uint64_t now = now_ns();
  if (attention.begin_ns == 0) {
    attention.begin_ns = now;
  } else if (now - attention.last_ns > kPreemptedNs) {
    note_preemption(now);
  } else if (now > attention.until_ns + attention.rest_ns) {
    attention.rest_ns = kFirstRestNs;  // it has kept its core for as long as it had rested
  }
  attention.last_ns = now;
  show(now >= attention.until_ns);
}

// The progress thread has left the messages to this one if that has polled for long. It would notice late that nobody
// polls any more.
void end_attending() noexcept {
  if (attention.begin_ns == 0) return;
  show(false);
  if (now_ns() - attention.begin_ns > kLongNs) node_thread.call();
  attention.begin_ns = 0;
}

}  // namespace shmemx::progress
