#include "progress/policy.hpp"

#include "progress/wait.hpp"

namespace shmemx::progress {
namespace {

bool poll_expected() { return am::poll(expected_pe); }

}  // namespace

void open() noexcept {
  std::atomic_ref(policy().poll).store(poll_expected, std::memory_order_relaxed);  // a hint: see message_poll()
  // More polls follow in wait_slow(), with polls for messages between.
  std::atomic_ref(policy().bare_polls).store(1, std::memory_order_relaxed);
}

}  // namespace shmemx::progress
