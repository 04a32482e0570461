// Spans of operations on attached windows.
#pragma once

#include <cstdint>

#include "api/window_handles.hpp"
#include "stats/span.hpp"

namespace shmemx::api::windows {

struct WindowCall {
  const char* routine;
  stats::Family family;
  shmemx_window_t window;
  std::uint64_t bytes;
};

// Does nothing if the handle is of no attached window.
[[gnu::cold, gnu::noinline]] void begin_span(stats::Span& span, const WindowCall& call) noexcept;

// Calls operation(), which returns an error code; what was refused is not observed.
template <class Operation>
int observe(const WindowCall& call, Operation operation) noexcept {
  stats::Span span;
  if (stats::is_on()) [[unlikely]]
    begin_span(span, call);
  const int code = operation();
  if (code != SHMEMX_SUCCESS) [[unlikely]]
    span.drop();
  return code;
}

}  // namespace shmemx::api::windows
