// Remote tasks: the entry points of shmemx/tasks.h.
#include <shmemx/tasks.h>

#include <cstdint>

#include "api/arg_check.hpp"
#include "api/observed.hpp"
#include "api/request_handles.hpp"
#include "base/fatal.hpp"
#include "coll/common/team.hpp"
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

void check_task_pe(const char* routine, int pe) {
  if (!context::pe_in_range(context::default_context(), pe))
    fatal(routine, "argument 'pe' is %d, allowed are 0..%u", pe, context::default_context().n_pes - 1);
}

// A task counts as a message to the PE that runs it, a reply as one to the caller. `pe` -1: none, the call fails.
class ObservedTask {
 public:
  ObservedTask(const char* routine, int pe, std::size_t bytes) noexcept {
    if (stats::is_on() && pe >= 0) [[unlikely]]
      span_.begin({routine, stats::Family::message, path_to(pe), pe, 0, bytes}, nullptr);
  }

 private:
  stats::Span span_;
};

Bytes payload_of(const void* payload, std::size_t bytes) { return {static_cast<const std::byte*>(payload), bytes}; }

[[gnu::noinline]] void send_task(const char* routine, int pe, std::uint16_t id, std::int32_t priority,
                                 const Bytes& payload) {
  const ObservedTask observed(routine, pe, payload.size());
  tasks::send(routine, {pe, id, priority, payload});
}

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
  api::check_task_pe(kRoutine, pe);
  if (priority == 0 && !stats::is_on() &&
      tasks::send_at_once(pe, static_cast<std::uint16_t>(id), api::payload_of(payload, bytes))) [[likely]]
    return;
  api::send_task(kRoutine, pe, static_cast<std::uint16_t>(id), priority, api::payload_of(payload, bytes));
}

void shmemx_task_send_owned(int pe, int id, void* payload, std::size_t bytes, int priority,
                            shmemx_task_release_t release, void* argument) noexcept {
  constexpr const char* kRoutine = "shmemx_task_send_owned";
  api::check_task_id(kRoutine, id);
  api::check_task_payload(kRoutine, payload, bytes);
  api::check_task_pe(kRoutine, pe);
  if (release == nullptr) api::bad_argument(kRoutine, "release", 0, "pointers to functions");
  const api::ObservedTask observed(kRoutine, pe, bytes);
  tasks::send(kRoutine, {.pe = pe,
                         .id = static_cast<std::uint16_t>(id),
                         .priority = priority,
                         .payload = api::payload_of(payload, bytes),
                         .release = {release, payload, argument}});
}

void shmemx_task_multicast(shmem_team_t team, int id, const void* payload, std::size_t bytes, int priority) noexcept {
  constexpr const char* kRoutine = "shmemx_task_multicast";
  api::check_task_id(kRoutine, id);
  api::check_task_payload(kRoutine, payload, bytes);
  const coll::Team& entry = api::checked_team(team, kRoutine);
  if (stats::is_on()) {
    for (int i = 0; i < entry.size(); ++i)
      const api::ObservedTask observed(kRoutine, context::world_pe(entry.route, i), bytes);
  }
  tasks::multicast(
      kRoutine,
      {.pe = 0, .id = static_cast<std::uint16_t>(id), .priority = priority, .payload = api::payload_of(payload, bytes)},
      entry.route.set, entry.me());
}

void shmemx_task_call(int pe, int id, const void* payload, std::size_t bytes, void* result, std::size_t result_bytes,
                      shmemx_request_t* request) noexcept {
  constexpr const char* kRoutine = "shmemx_task_call";
  api::check_task_id(kRoutine, id);
  api::check_task_payload(kRoutine, payload, bytes);
  api::check_task_pe(kRoutine, pe);
  api::check_result(kRoutine, "request", request);
  if (result == nullptr && result_bytes != 0)
    api::bad_argument(kRoutine, "result", 0, "pointers to as many bytes as the call says");
  const api::ObservedTask observed(kRoutine, pe, bytes);
  *request = api::handle_of(tasks::call(
      kRoutine,
      {.pe = pe, .id = static_cast<std::uint16_t>(id), .priority = 0, .payload = api::payload_of(payload, bytes)},
      {static_cast<std::byte*>(result), result_bytes}));
}

void shmemx_task_reply(const void* payload, std::size_t bytes) noexcept {
  constexpr const char* kRoutine = "shmemx_task_reply";
  context::require_initialized(kRoutine);
  api::check_task_payload(kRoutine, payload, bytes);
  const api::ObservedTask observed(kRoutine, tasks::caller_of_running(), bytes);
  tasks::reply(kRoutine, api::payload_of(payload, bytes));
}

void shmemx_task_after(shmemx_request_t* request, int id, const void* payload, std::size_t bytes,
                       int priority) noexcept {
  constexpr const char* kRoutine = "shmemx_task_after";
  api::check_task_id(kRoutine, id);
  api::check_task_payload(kRoutine, payload, bytes);
  api::check_result(kRoutine, "request", request);
  const tasks::NewTask task{.pe = static_cast<int>(context::default_context().my_pe),
                            .id = static_cast<std::uint16_t>(id),
                            .priority = priority,
                            .payload = api::payload_of(payload, bytes)};
  const api::ObservedTask observed(kRoutine, task.pe, bytes);
  if (*request == SHMEMX_REQUEST_NULL) return tasks::send(kRoutine, task);
  if (!tasks::send_after(api::id_of(*request), task))
    fatal(kRoutine,
          "argument 'request' is %#zx, which is not an open request, allowed are SHMEMX_REQUEST_NULL and requests "
          "that were started and not yet completed",
          reinterpret_cast<std::uintptr_t>(*request));
  *request = SHMEMX_REQUEST_NULL;
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
