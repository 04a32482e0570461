// Remote tasks: the entry points of shmemx/tasks.h.
#include <shmemx/tasks.h>

#include "api/arg_check.hpp"
#include "base/fatal.hpp"
#include "context/route.hpp"
#include "tasks/tasks.hpp"

namespace shmemx::api {
namespace {

static_assert(SHMEMX_TASK_HANDLERS == tasks::kHandlers && SHMEMX_TASK_MAX_BYTES == tasks::kMaxPayloadBytes);

void check_task_id(const char* routine, int id) {
  context::require_initialized(routine);
  if (id < 0 || id >= tasks::kHandlers) bad_argument(routine, "id", id, "0..65535");
}

void check_task_payload(const char* routine, const void* payload, std::size_t bytes) {
  if (bytes > tasks::kMaxPayloadBytes)
    fatal(routine, "argument 'bytes' is %zu, allowed are 0..%zu (SHMEMX_TASK_MAX_BYTES)", bytes,
          tasks::kMaxPayloadBytes);
  if (payload == nullptr && bytes != 0)
    bad_argument(routine, "payload", 0, "pointers to as many bytes as the call says");
}

Bytes payload_of(const void* payload, std::size_t bytes) { return {static_cast<const std::byte*>(payload), bytes}; }

}  // namespace
}  // namespace shmemx::api

using namespace shmemx;

extern "C" {

void shmemx_task_register(int id, shmemx_task_handler_t handler, void* argument) noexcept {
  api::check_task_id("shmemx_task_register", id);
  if (tasks::register_task(static_cast<std::uint16_t>(id), handler, argument)) return;
  fatal("shmemx_task_register",
        "argument 'id' is %d, the number of a handler of active messages; allowed are other numbers", id);
}

void shmemx_task_send(int pe, int id, const void* payload, std::size_t bytes, int priority) noexcept {
  constexpr const char* kRoutine = "shmemx_task_send";
  api::check_task_id(kRoutine, id);
  api::check_task_payload(kRoutine, payload, bytes);
  if (!context::pe_in_range(context::default_context(), pe))
    fatal(kRoutine, "argument 'pe' is %d, allowed are 0..%u", pe, context::default_context().n_pes - 1);
  tasks::send(kRoutine, {pe, static_cast<std::uint16_t>(id), priority, api::payload_of(payload, bytes)});
}

void shmemx_task_flush() noexcept {
  context::require_initialized("shmemx_task_flush");
  tasks::flush();
}

const void* shmemx_task_keep() noexcept {
  context::require_initialized("shmemx_task_keep");
  return tasks::keep("shmemx_task_keep");
}

void shmemx_task_free(const void* payload) noexcept {
  context::require_initialized("shmemx_task_free");
  if (payload == nullptr) api::bad_argument("shmemx_task_free", "payload", 0, "what shmemx_task_keep has returned");
  tasks::free_kept(payload);
}

std::size_t shmemx_scheduler_poll(std::size_t most) noexcept {
  context::require_initialized("shmemx_scheduler_poll");
  return tasks::run_some("shmemx_scheduler_poll", most);
}

std::size_t shmemx_scheduler_run() noexcept {
  context::require_initialized("shmemx_scheduler_run");
  return tasks::run("shmemx_scheduler_run");
}

void shmemx_scheduler_stop() noexcept {
  context::require_initialized("shmemx_scheduler_stop");
  tasks::stop();
}

void shmemx_scheduler_quiesce() noexcept {
  context::require_initialized("shmemx_scheduler_quiesce");
  tasks::quiesce("shmemx_scheduler_quiesce");
}

}  // extern "C"
