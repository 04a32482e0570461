// Active messages: the entry points of shmemx/active.h.
#include <shmemx/active.h>

#include "am/endpoint.hpp"
#include "api/arg_check.hpp"
#include "api/observed.hpp"
#include "base/fatal.hpp"
#include "context/route.hpp"
#include "progress/attending.hpp"
#include "tasks/active.hpp"

namespace shmemx::api {
namespace {

static_assert(SHMEMX_AM_HANDLERS == tasks::kHandlers && SHMEMX_AM_MAX_BYTES == tasks::kActiveMaxBytes);

void check_id(const char* routine, int id) {
  context::require_initialized(routine);
  if (id < 0 || id >= tasks::kHandlers) bad_argument(routine, "id", id, "0..65535");
}

}  // namespace
}  // namespace shmemx::api

using namespace shmemx;

extern "C" void shmemx_am_register(int id, shmemx_am_handler_t handler, void* argument) noexcept {
  api::check_id("shmemx_am_register", id);
  if (!tasks::set_active_handler(static_cast<std::uint16_t>(id), handler, argument))
    fatal("shmemx_am_register", "argument 'id' is %d, the number of a handler of tasks; allowed are other numbers", id);
}

extern "C" void shmemx_am_send(int pe, int id, const void* payload, std::size_t bytes) noexcept {
  constexpr const char* kRoutine = "shmemx_am_send";
  api::check_id(kRoutine, id);
  if (!context::pe_in_range(context::default_context(), pe))
    fatal(kRoutine, "argument 'pe' is %d, allowed are 0..%u", pe, context::default_context().n_pes - 1);
  if (bytes > tasks::kActiveMaxBytes)
    fatal(kRoutine, "argument 'bytes' is %zu, allowed are 0..%zu (SHMEMX_AM_MAX_BYTES)", bytes, tasks::kActiveMaxBytes);
  const api::Observed span(api::default_context(), {kRoutine, stats::Family::message}, pe, bytes);
  tasks::send_active(kRoutine, pe, id, payload, bytes);
}

extern "C" int shmemx_am_poll() noexcept {
  context::require_initialized("shmemx_am_poll");
  return am::poll() ? 1 : 0;
}

extern "C" void shmemx_am_attend(int attends) noexcept {
  context::require_initialized("shmemx_am_attend");
  if (attends != 0) {
    progress::attend();
  } else {
    progress::end_attending();
  }
}

extern "C" void shmemx_am_quiet() noexcept {
  context::require_initialized("shmemx_am_quiet");
  tasks::flush_active("shmemx_am_quiet");
}
