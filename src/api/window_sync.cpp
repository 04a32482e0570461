// Completion, waiting and locks of public windows: arguments are checked here, the rest is done in window/.
#include <shmemx/window_sync.h>

#include "am/endpoint.hpp"
#include "api/observed_window.hpp"
#include "api/waitable.hpp"
#include "api/window_handles.hpp"
#include "base/fatal.hpp"
#include "progress/test_loop.hpp"
#include "progress/wait.hpp"
#include "public_windows/completion.hpp"
#include "public_windows/lock.hpp"

namespace api = shmemx::api;

namespace {

using namespace shmemx::api::windows;
using window_ops::LockKind;

// Calls each(window) for all windows. Returns the first error.
template <class Each>
int for_all(const char* routine, const shmemx_window_t* windows, size_t count, Each each) {
  context::require_initialized(routine);
  if (count != 0) api::check_array(routine, "windows", windows);
  int first_error = SHMEMX_SUCCESS;
  for (size_t i = 0; i < count; ++i) {
    if (windows[i] == SHMEMX_WINDOW_INVALID) continue;
    window_ops::Attached* const attached =
        window_ops::is_started() ? window_ops::find_attached(number_of(windows[i])) : nullptr;
    const int code = attached == nullptr ? SHMEMX_ERR_WINDOW : each(*attached);
    if (first_error == SHMEMX_SUCCESS) first_error = code;
  }
  return first_error;
}

bool is_lock_kind(int kind) { return kind >= SHMEMX_LOCK_SHARED && kind <= SHMEMX_LOCK_JOIN; }

int lock(const char* routine, shmemx_window_t window, int kind, window_ops::Wait wait, long* counter) {
  context::require_initialized(routine);
  if (!is_lock_kind(kind)) return SHMEMX_ERR_ARGUMENT;
  return window_ops::lock(routine, number_of(window), static_cast<LockKind>(kind), wait, counter);
}

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

int shmemx_window_flush_all(const shmemx_window_t* windows, size_t count) noexcept {
  const char* const routine = "shmemx_window_flush_all";
  return for_all(routine, windows, count,
                 [&](window_ops::Attached& window) { return window_ops::flush(routine, window); });
}

int shmemx_window_flush_local(shmemx_window_t window) noexcept {
  const char* const routine = "shmemx_window_flush_local";
  context::require_initialized(routine);
  const window_ops::Attached* const attached =
      window_ops::is_started() ? window_ops::find_attached(number_of(window)) : nullptr;
  if (attached == nullptr) return SHMEMX_ERR_WINDOW;
  window_ops::flush_local(routine, *attached);
  return SHMEMX_SUCCESS;
}

int shmemx_window_flush_local_all(const shmemx_window_t* windows, size_t count) noexcept {
  const char* const routine = "shmemx_window_flush_local_all";
  return for_all(routine, windows, count, [&](const window_ops::Attached& window) {
    window_ops::flush_local(routine, window);
    return SHMEMX_SUCCESS;
  });
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

// ---- waiting for values ----

int shmemx_window_wait_until(const void* address, int type, int cmp, const void* value) noexcept {
  const char* const routine = "shmemx_window_wait_until";
  context::require_initialized(routine);
  if (const int code = api::Waitable::check(address, type, cmp); code != SHMEMX_SUCCESS) return code;
  if (value == nullptr) return SHMEMX_ERR_ARGUMENT;
  const api::Waitable waitable(address, type, cmp, value);
  if (!waitable.holds())
    shmemx::progress::wait_for(
        routine, shmemx::progress::Described{[&] { return waitable.holds(); }, [&] { return waitable.awaited(); }});
  return SHMEMX_SUCCESS;
}

int shmemx_window_test_until(const void* address, int type, int cmp, const void* value, int* flag) noexcept {
  context::require_initialized("shmemx_window_test_until");
  if (const int code = api::Waitable::check(address, type, cmp); code != SHMEMX_SUCCESS) return code;
  if (value == nullptr || flag == nullptr) return SHMEMX_ERR_ARGUMENT;
  *flag = api::Waitable(address, type, cmp, value).holds() ? 1 : 0;
  if (*flag != 0) {
    shmemx::progress::test_succeeded();
  } else {
    shmemx::progress::test_failed();
  }
  return SHMEMX_SUCCESS;
}

// ---- locks ----

int shmemx_window_lock(shmemx_window_t window, int kind) noexcept {
  return lock("shmemx_window_lock", window, kind, window_ops::Wait::until_held, nullptr);
}

int shmemx_window_lock_nbi(shmemx_window_t window, int kind, long* counter) noexcept {
  if (counter == nullptr) return SHMEMX_ERR_ARGUMENT;
  return lock("shmemx_window_lock_nbi", window, kind, window_ops::Wait::counted, counter);
}

int shmemx_window_putv_locked_nbi(shmemx_window_t lock_window, int kind, shmemx_window_t window,
                                  const shmemx_iov_t* targets, size_t target_count, const shmemx_iov_t* sources,
                                  size_t source_count, long* counter) noexcept {
  context::require_initialized("shmemx_window_putv_locked_nbi");
  if (!is_lock_kind(kind) || counter == nullptr) return SHMEMX_ERR_ARGUMENT;
  if ((targets == nullptr && target_count != 0) || (sources == nullptr && source_count != 0))
    return SHMEMX_ERR_ARGUMENT;
  if (!window_ops::is_started()) return SHMEMX_ERR_WINDOW;
  const char* const routine = "shmemx_window_putv_locked_nbi";
  const Shape source = local_shape_of(sources, source_count);
  return observe({routine, shmemx::stats::Family::put, window, source.bytes}, [&] {
    return window_ops::put_locked(routine,
                                  {number_of(lock_window), static_cast<LockKind>(kind), number_of(window), counter},
                                  shape_of(targets, target_count), source);
  });
}

int shmemx_window_trylock(shmemx_window_t window, int kind) noexcept {
  return lock("shmemx_window_trylock", window, kind, window_ops::Wait::not_at_all, nullptr);
}

int shmemx_window_unlock(shmemx_window_t window) noexcept {
  context::require_initialized("shmemx_window_unlock");
  return window_ops::unlock("shmemx_window_unlock", number_of(window));
}

}  // extern "C"
