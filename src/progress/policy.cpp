#include "progress/policy.hpp"

#include "progress/wait.hpp"

namespace shmemx::progress {
namespace {

bool poll_expected() { return am::poll(expected_pe); }

}  // namespace

void set_message_polls(const MessagePolls& polls) noexcept {
  std::atomic_ref(policy().poll).store(polls.poll, std::memory_order_relaxed);  // a hint: see message_poll()
  std::atomic_ref(policy().bare_polls).store(polls.bare_polls, std::memory_order_relaxed);
}

void open() noexcept {
  set_message_polls({poll_expected, 1});  // more polls follow in wait_slow(), with polls for messages between
}

}  // namespace shmemx::progress
