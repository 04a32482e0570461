#include "window/error_detail.hpp"

#include <shmemx/windows.h>

#include <cstdio>

namespace shmemx::window {
namespace {

struct Access {
  Code code;
  std::int32_t owner;
  bool is_set;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t base;  // of the window
  std::uint64_t window_bytes;
};
constinit thread_local Access last{};

unsigned long long number(std::uint64_t value) { return value; }

}  // namespace

Code note_failed(const Attached& window, std::uint64_t address, std::uint64_t bytes, Code code) noexcept {
  if (code == SHMEMX_ERR_RANGE || code == SHMEMX_ERR_STALE)
    last = {code, window.owner, window.is_set, address, bytes, window.base, window.bytes};
  return code;
}

Code note_refused(const Attached& window, const onesided::Tracker& tracker, Code code) noexcept {
  const std::uint64_t offset = tracker.refused_offset.load(std::memory_order_relaxed);  // written before `reply`
  const std::uint64_t bytes = tracker.refused_bytes.load(std::memory_order_relaxed);    // written before `reply`
  return note_access(window, window.base + offset, bytes, code);
}

const char* error_detail() noexcept {
  constinit static thread_local char text[200] = "";
  if (last.code == 0) return "";
  char window[80] = "any range of its set";
  if (!last.is_set)
    std::snprintf(window, sizeof window, "its window of %llu bytes at %#llx", number(last.window_bytes),
                  number(last.base));
  if (last.code == SHMEMX_ERR_RANGE) {
    std::snprintf(text, sizeof text, "%llu bytes at %#llx of PE %d are not in %s", number(last.bytes),
                  number(last.address), last.owner, window);
  } else {
    std::snprintf(text, sizeof text, "%llu bytes at %#llx of PE %d: it has freed the window", number(last.bytes),
                  number(last.address), last.owner);
  }
  return text;
}

}  // namespace shmemx::window
