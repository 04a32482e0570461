#include "window/completion.hpp"

#include <shmemx/windows.h>

#include <new>

#include "progress/wait.hpp"
#include "window/node.hpp"

namespace shmemx::window {
namespace {

// The nonblocking operations on windows of each PE. Never destroyed: threads may use windows while the process exits.
onesided::Tracker* trackers = nullptr;

Code flush_tracker(const char* routine, int pe, onesided::Tracker& tracker) noexcept {
  onesided::await_replies(routine, pe, tracker);
  return tracker.error.exchange(SHMEMX_SUCCESS, std::memory_order_relaxed);  // written before `reply`
}

}  // namespace

bool set_up_trackers() noexcept {
  trackers = new (std::nothrow) onesided::Tracker[static_cast<std::size_t>(node().n_pes)];
  return trackers != nullptr;
}

Code await(const char* routine, Attached& window, const onesided::Tracker& open) noexcept {
  return note_result(window, onesided::await_result(routine, window.owner, open));
}

onesided::Call nonblocking(const char* routine, Attached& window, long* counter) noexcept {
  return {routine, remote_of(window), {&window.requests, 0, true, &trackers[window.owner], counter}, false};
}

Code note_result(Attached& window, Code code) noexcept {
  if (code == SHMEMX_ERR_STALE) window.known_life.generation.store(0, std::memory_order_release);  // a hint
  return code;
}

bool is_complete(const long* counter) noexcept { return __atomic_load_n(counter, __ATOMIC_ACQUIRE) == 0; }  // reply

void wait_for_counter(const char* routine, const long* counter) noexcept {
  progress::wait_until(routine, -1, [&] { return is_complete(counter); });
}

Code flush(const char* routine, Attached& window) noexcept {
  return note_result(window, flush_tracker(routine, window.owner, window.requests));
}

Code flush_pe(const char* routine, int pe) noexcept { return flush_tracker(routine, pe, trackers[pe]); }

}  // namespace shmemx::window
