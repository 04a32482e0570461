// Remote tasks (shmemx/tasks.h), as api/ calls them: registering, sending, and the scheduler of this PE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tasks/handlers.hpp"
#include "tasks/wire.hpp"
#include "team/pe_set.hpp"

namespace shmemx::tasks {

// Runtime calls open() at each init, before the first message can arrive.
struct Start {
  int me = 0;
  int n_pes = 0;
  std::size_t tasks_max = 0;  // bytes
  bool gathers = true;        // short tasks share messages
  int (*node_of)(int pe) = nullptr;
  bool passes_on = false;  // multicasts are passed on by PEs of other nodes: each has a thread for it
};
void open(const Start& start) noexcept;
// Ends the job if a thread is in the scheduler.
void require_outside(const char* routine) noexcept;
// Waits until all tasks have left and have been received. For finalize, where all PEs call it before a barrier.
void leave(const char* routine) noexcept;
// Ends the job if tasks are left here that have not been run. After that barrier: a PE that has received a multicast
// before it has passed it on in leave(), and any other one finds it here.
void check_all_run(const char* routine) noexcept;

// Returns false if the number is a handler of active messages.
bool register_task(std::uint16_t id, HandlerFunction function, void* argument) noexcept;
// The caller has checked the arguments.
void send(const char* routine, const NewTask& task) noexcept;
// Sends a task of priority 0 by adding it to a batch that has begun. Returns false, without an effect, if send() has to
// do it.
bool send_at_once(int pe, std::uint16_t id, Bytes payload) noexcept;
// Sends the task to each member of the team, in which this PE is `member`.
void multicast(const char* routine, const NewTask& task, const team::PeSet& team, int member) noexcept;
// Sends the task as a call, and returns its request. The reply is written to `result`.
CallId call(const char* routine, const NewTask& task, std::span<std::byte> result) noexcept;
// Returns the PE that waits for a reply of the handler that runs, or -1.
int caller_of_running() noexcept;
// Replies to the call whose handler calls this.
void reply(const char* routine, Bytes payload) noexcept;
// Queues the task here when the request is complete, which ends the request. Returns false if it is not open.
bool send_after(pt2pt::RequestId request, const NewTask& task) noexcept;
void flush() noexcept;
const void* keep(const char* routine) noexcept;
void free_kept(const void* payload) noexcept;

// Return how many tasks they have run.
std::size_t run_some(const char* routine, std::size_t most) noexcept;
std::size_t run(const char* routine) noexcept;
void stop() noexcept;
// Runs tasks until none is queued, under way or running on any PE. Collective.
void quiesce(const char* routine) noexcept;

}  // namespace shmemx::tasks
