// Completion of operations that travel as messages, and what late errors they had.
#pragma once

#include <shmemx/windows.h>

#include "base/contact_table.hpp"
#include "base/immortal.hpp"
#include "onesided/lists.hpp"
#include "public_windows/attached.hpp"

namespace shmemx::public_windows {

// The nonblocking operations on windows of each PE.
inline constinit Immortal<ContactTable<onesided::Tracker>> trackers;
inline onesided::Tracker& tracker_of(int pe) noexcept { return trackers.object[pe]; }
// By start().
void set_up_trackers() noexcept;

inline onesided::RemoteWindow remote_of(const Attached& window) noexcept {
  return {window.owner, window.name, window.base, window.is_set};
}

// An operation that the caller waits for, by await(), which returns its error; and a nonblocking one. `counter` is of
// the program: positive while the operation is open. May be null.
inline onesided::Call blocking(const char* routine, const Attached& window, onesided::Tracker& open) noexcept {
  return {routine, remote_of(window), {&open, 0, true}, true};
}
Code await(const char* routine, Attached& window, const onesided::Tracker& open) noexcept;
onesided::Call nonblocking(const char* routine, Attached& window, long* counter) noexcept;

// Notes that the owner has freed the window, so that later operations fail at once. Returns the code.
Code note_result(Attached& window, Code code) noexcept;
// note_result() for the error of a tracker, which says where in the window the refused bytes were.
Code note_result(Attached& window, const onesided::Tracker& tracker, Code code) noexcept;

// Waits until the counter is 0.
void wait_for_counter(const char* routine, const long* counter) noexcept;
bool is_complete(const long* counter) noexcept;

// Completes the open operations on the window, or with a PE. Returns the first late error since the last call.
Code flush_open(const char* routine, Attached& window) noexcept;
inline bool is_idle(const Attached& window) noexcept {
  return window.requests.open.load(std::memory_order_acquire) == 0 &&  // reply
         window.requests.error.load(std::memory_order_relaxed) == SHMEMX_SUCCESS;
}
inline Code flush(const char* routine, Attached& window) noexcept {
  if (is_idle(window)) [[likely]]
    return SHMEMX_SUCCESS;
  return flush_open(routine, window);
}
Code flush_pe(const char* routine, int pe) noexcept;
// Waits for all operations with a PE. Their errors are left to whoever completes them.
inline bool is_idle(int pe) noexcept { return tracker_of(pe).open.load(std::memory_order_acquire) == 0; }  // reply
inline void await_all_of(const char* routine, int pe) noexcept {
  if (!is_idle(pe)) [[unlikely]]
    onesided::await_replies(routine, pe, tracker_of(pe));
}
// Completes them locally.
void flush_local(const char* routine, const Attached& window) noexcept;

}  // namespace shmemx::public_windows
