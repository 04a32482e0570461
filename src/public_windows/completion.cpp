#include "public_windows/completion.hpp"

#include <shmemx/windows.h>

#include "progress/wait.hpp"
#include "public_windows/error_detail.hpp"
#include "public_windows/node.hpp"

namespace shmemx::public_windows {
namespace {

Code flush_tracker(const char* routine, int pe, onesided::Tracker& tracker) noexcept {
  onesided::await_replies(routine, pe, tracker);
  if (tracker.error.load(std::memory_order_relaxed) == SHMEMX_SUCCESS) return SHMEMX_SUCCESS;  // written before `reply`
  return tracker.error.exchange(SHMEMX_SUCCESS, std::memory_order_relaxed);
}

}  // namespace

void set_up_trackers() noexcept { trackers.object.open(static_cast<std::size_t>(node().n_pes)); }

Code await(const char* routine, Attached& window, const onesided::Tracker& open) noexcept {
  return note_result(window, open, onesided::await_result(routine, window.owner, open));
}

onesided::Call nonblocking(const char* routine, Attached& window, long* counter) noexcept {
  return {routine,
          remote_of(window),
          {&window.requests, 0, true, &tracker_of(window.owner), counter, &window.local},
          false};
}

Code note_result(Attached& window, Code code) noexcept {
  if (code == SHMEMX_ERR_STALE) window.known_life.generation.store(0, std::memory_order_release);  // a hint
  return code;
}

Code note_result(Attached& window, const onesided::Tracker& tracker, Code code) noexcept {
  return note_refused(window, tracker, note_result(window, code));
}

bool is_complete(const long* counter) noexcept { return __atomic_load_n(counter, __ATOMIC_ACQUIRE) == 0; }  // reply

void wait_for_counter(const char* routine, const long* counter) noexcept {
  progress::wait_until(routine, -1, [&] { return is_complete(counter); });
}

Code flush_open(const char* routine, Attached& window) noexcept {
  const Code code = flush_tracker(routine, window.owner, window.requests);
  return code == SHMEMX_SUCCESS ? code : note_result(window, window.requests, code);
}

void flush_local(const char* routine, const Attached& window) noexcept {
  onesided::await_replies(routine, window.owner, window.local);
}

Code flush_pe(const char* routine, int pe) noexcept { return flush_tracker(routine, pe, tracker_of(pe)); }

}  // namespace shmemx::public_windows
