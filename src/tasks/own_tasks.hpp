// All of this PE's tasks: the parts of tasks/ together, on the endpoint.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "am/endpoint.hpp"
#include "tasks/calls.hpp"
#include "tasks/incoming.hpp"
#include "tasks/outgoing.hpp"
#include "tasks/pulls.hpp"
#include "tasks/scheduler.hpp"
#include "tasks/tasks.hpp"

namespace shmemx::tasks {

class EndpointPort final : public Port {
 public:
  bool gathers = true;

  bool try_send(const am::OutgoingMessage& message) noexcept override;
  nemesis::Number last_sent(int pe) noexcept override { return am::Locked::held().number_to_flush(pe); }
  bool has_received(int pe, nemesis::Number number) noexcept override {
    return am::Locked::held().is_flushed(pe, number);
  }
  std::size_t message_bytes(int pe) noexcept override { return am::max_payload_bytes(pe); }
  std::size_t batch_bytes(int pe) noexcept override;
  bool is_near(int pe) noexcept override;
  Transfer start_transfer(int pe, std::int32_t tag, Bytes payload) noexcept override;
  bool try_end_transfer(Transfer transfer) noexcept override;
};

class OwnHooks final : public SchedulerHooks {
 public:
  void look() noexcept override;
  void reply_empty() noexcept override { reply("shmemx_task_reply", {}); }
};

// All of this PE's tasks. Made at the first init, never destroyed: threads may still poll while the process exits.
struct Tasks {
  explicit Tasks(std::size_t n_pes) : outgoing(port, budget, n_pes) {}

  Start start;
  std::size_t most_queued = 0;  // bytes for a target, before a send outside of handlers waits
  Budget budget;
  EndpointPort port;
  OwnHooks hooks;
  Incoming incoming{budget};
  Pulls pulls{incoming};
  Outgoing outgoing;
  Awaiting awaiting;
  Scheduler scheduler{budget, incoming, hooks};
  std::atomic<std::uint64_t> sent{0};     // tasks and replies, to all PEs; changed under the lock
  std::atomic<std::uint64_t> replies{0};  // that have arrived
};
inline constinit Tasks* own_tasks = nullptr;

// Under the lock, before the tasks leave.
inline void count_sent(std::uint64_t tasks) noexcept {
  std::atomic<std::uint64_t>& sent = own_tasks->sent;
  sent.store(sent.load(std::memory_order_relaxed) + tasks, std::memory_order_relaxed);  // a count only
}

[[noreturn]] void reject_message(int source) noexcept;
// Registers the handlers of tasks and what each poll of the endpoint calls.
void set_task_handlers() noexcept;

}  // namespace shmemx::tasks
