// Completion, waiting and locks of public windows: arguments are checked here, the rest is done in window/.
#include <shmemx/window_sync.h>

#include "am/endpoint.hpp"
#include "api/window_handles.hpp"
#include "base/fatal.hpp"
#include "progress/test_loop.hpp"
#include "window/completion.hpp"

namespace api = shmemx::api;

namespace {

using namespace shmemx::api::windows;

}  // namespace

extern "C" {

// ---- completion ----

int shmemx_window_flush(shmemx_window_t window) noexcept {
  context::require_initialized("shmemx_window_flush");
  window_ops::Attached* const attached =
      window_ops::is_started() ? window_ops::find_attached(number_of(window)) : nullptr;
  return attached == nullptr ? SHMEMX_ERR_WINDOW : window_ops::flush("shmemx_window_flush", *attached);
}

int shmemx_window_flush_pe(int pe) noexcept {
  context::require_initialized("shmemx_window_flush_pe");
  const int n_pes = static_cast<int>(context::default_context().n_pes);
  if (pe < -1 || pe >= n_pes)
    shmemx::fatal("shmemx_window_flush_pe", "argument 'pe' is %d, allowed are 0..%d, and -1 for all", pe, n_pes - 1);
  if (!window_ops::is_started()) return SHMEMX_SUCCESS;
  int first_error = SHMEMX_SUCCESS;
  for (int owner = pe < 0 ? 0 : pe; owner < (pe < 0 ? n_pes : pe + 1); ++owner) {
    const int code = window_ops::flush_pe("shmemx_window_flush_pe", owner);
    if (first_error == SHMEMX_SUCCESS) first_error = code;
  }
  return first_error;
}

int shmemx_window_test(const long* counter) noexcept {
  context::require_initialized("shmemx_window_test");
  api::check_result("shmemx_window_test", "counter", counter);
  if (window_ops::is_complete(counter)) return 1;
  shmemx::am::poll();
  if (window_ops::is_complete(counter)) return 1;
  shmemx::progress::test_failed();
  return 0;
}

void shmemx_window_wait(const long* counter) noexcept {
  context::require_initialized("shmemx_window_wait");
  api::check_result("shmemx_window_wait", "counter", counter);
  if (!window_ops::is_complete(counter)) window_ops::wait_for_counter("shmemx_window_wait", counter);
}

}  // extern "C"
