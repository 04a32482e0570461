#include "public_windows/error_detail.hpp"

#include <shmemx/windows.h>

#include <cstdio>

namespace shmemx::public_windows {
namespace {

struct Access {
  Code code;
  std::int32_t owner;
  bool is_set;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t base;  // of the window
  std::uint64_t window_bytes;
  std::uint64_t removed_ms = onesided::RefusedRange::kNotRemoved;
};
constinit thread_local Access last_failed{};

unsigned long long number(std::uint64_t value) { return value; }

}  // namespace

Code note_failed(const Attached& window, std::uint64_t address, std::uint64_t bytes, Code code) noexcept {
  if (code == SHMEMX_ERR_RANGE || code == SHMEMX_ERR_STALE)
    last_failed = {code, window.owner, window.is_set, address, bytes, window.base, window.bytes};
  return code;
}

Code note_refused(const Attached& window, const onesided::Tracker& tracker, Code code) noexcept {
  const std::uint64_t offset = tracker.refused_offset.load(std::memory_order_relaxed);  // written before `reply`
  const std::uint64_t bytes = tracker.refused_bytes.load(std::memory_order_relaxed);    // written before `reply`
  if (note_access(window, window.base + offset, bytes, code) == SHMEMX_ERR_RANGE)
    last_failed.removed_ms = tracker.removed_ms.load(std::memory_order_relaxed);  // written before `reply`
  return code;
}

const char* error_detail() noexcept {
  constinit static thread_local char text[250] = "";
  if (last_failed.code == 0) return "";
  char window[80] = "any range of its set";
  if (!last_failed.is_set)
    std::snprintf(window, sizeof window, "its window of %llu bytes at %#llx", number(last_failed.window_bytes),
                  number(last_failed.base));
  if (last_failed.code == SHMEMX_ERR_RANGE) {
    char removed[80] = "";
    if (last_failed.removed_ms != onesided::RefusedRange::kNotRemoved)
      std::snprintf(removed, sizeof removed, ": it had removed a range there %llu ms before",
                    number(last_failed.removed_ms));
    std::snprintf(text, sizeof text, "%llu bytes at %#llx of PE %d are not in %s%s", number(last_failed.bytes),
                  number(last_failed.address), last_failed.owner, window, removed);
  } else {
    std::snprintf(text, sizeof text, "%llu bytes at %#llx of PE %d: it has freed the window", number(last_failed.bytes),
                  number(last_failed.address), last_failed.owner);
  }
  return text;
}

}  // namespace shmemx::public_windows
