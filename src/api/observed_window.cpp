#include "api/observed_window.hpp"

#include "api/observed.hpp"
#include "public_windows/attached.hpp"

namespace shmemx::api::windows {
namespace {

// What the system copies counts as mapped: the owner has no part in it.
stats::Path path_through(const window_ops::Attached& window, stats::Family family) noexcept {
  const stats::Path path = path_to(window.owner);
  if (path != stats::Path::mapped && path != stats::Path::queue) return path;
  const WindowPath route = window_ops::path_of(window);
  const bool is_copied = route == WindowPath::cma && family != stats::Family::atomic;
  return route == WindowPath::mapped || is_copied ? stats::Path::mapped : stats::Path::queue;
}

}  // namespace

void begin_span(stats::Span& span, const WindowCall& call) noexcept {
  const window_ops::Attached* const window =
      window_ops::is_started() ? window_ops::find_attached(number_of(call.window)) : nullptr;
  if (window == nullptr) return;
  span.begin({call.routine, call.family, path_through(*window, call.family), window->owner, 0, call.bytes}, nullptr);
}

}  // namespace shmemx::api::windows
