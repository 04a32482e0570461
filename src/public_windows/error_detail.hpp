// What was wrong with the last access to a window that failed, for each thread: noted as numbers, and put into words
// when the program looks.
#pragma once

#include <shmemx/windows.h>

#include "public_windows/attached.hpp"

namespace shmemx::public_windows {

// `code` is SHMEMX_ERR_RANGE or SHMEMX_ERR_STALE; others leave the note as it is. Return the code.
Code note_failed(const Attached& window, std::uint64_t address, std::uint64_t bytes, Code code) noexcept;
inline Code note_access(const Attached& window, std::uint64_t address, std::uint64_t bytes, Code code) noexcept {
  if (code == SHMEMX_SUCCESS) [[likely]]
    return code;
  return note_failed(window, address, bytes, code);
}
// Of a reply: the offset in the window comes from the tracker.
Code note_refused(const Attached& window, const onesided::Tracker& tracker, Code code) noexcept;

// Empty if there was none. Valid until the thread's next call.
const char* error_detail() noexcept;

}  // namespace shmemx::public_windows
