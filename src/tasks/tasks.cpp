#include "tasks/tasks.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "am/endpoint.hpp"
#include "base/fatal.hpp"
#include "coll/background/begin.hpp"
#include "progress/policy.hpp"
#include "progress/test_loop.hpp"
#include "progress/wait.hpp"
#include "pt2pt/messages.hpp"
#include "tasks/quiescence.hpp"
#include "tasks/scheduler.hpp"

namespace shmemx::tasks {
namespace {

using am::Endpoint;
using am::Locked;
using am::Message;
using am::Verdict;

constexpr std::size_t kMostQueuedBytes = std::size_t{16}
                                         << 20;  // for a target, before a send outside of handlers waits
constexpr std::uint32_t kFilledPerPoll = 4;      // batches of a stream to one poll

class EndpointPort final : public Port {
 public:
  bool try_send(const am::OutgoingMessage& message) noexcept override {
    if (!Locked::held().try_send(message)) return false;
    if (message.lifetime.outgoing != nullptr && !am::is_internode(message.pe)) message.lifetime.outgoing->done = true;
    return true;
  }
  nemesis::Number last_sent(int pe) noexcept override { return Locked::held().number_to_flush(pe); }
  bool has_received(int pe, nemesis::Number number) noexcept override { return Locked::held().is_flushed(pe, number); }
  std::size_t message_bytes(int pe) noexcept override { return am::max_payload_bytes(pe); }
  std::size_t batch_bytes(int pe) noexcept override {
    return am::is_internode(pe) ? am::Batch::kBytes : std::min(am::Batch::kBytes, am::max_payload_bytes());
  }
};

// All of this PE's tasks. Made at the first init, never destroyed: threads may still poll while the process exits.
struct Tasks {
  explicit Tasks(std::size_t n_pes) : outgoing(port, budget, n_pes) {}

  int me = 0;
  Budget budget;
  EndpointPort port;
  Incoming incoming{budget};
  Outgoing outgoing;
  Scheduler scheduler{budget, incoming, outgoing};
  std::atomic<std::uint64_t> sent{0};  // tasks, to all PEs
};
constinit Tasks* own_tasks = nullptr;

[[noreturn]] void reject_message(int source) {
  fatal("shmemx_task_send", "a message of PE %d is not one of this library", source);
}

Verdict on_tasks(Endpoint&, const Message& message) {
  own_tasks->incoming.add(message.source, message.payload);
  return Verdict::done;
}

Verdict on_task_piece(Endpoint&, const Message& message) {
  PieceHead head;
  if (message.payload.size() < sizeof head) reject_message(message.source);
  std::memcpy(&head, message.payload.data(), sizeof head);
  if (!own_tasks->incoming.add_piece(message.source, head, message.payload.subspan(sizeof head)))
    reject_message(message.source);
  return Verdict::done;
}

bool send_waiting_tasks(Endpoint&) {
  return !own_tasks->outgoing.is_empty() && own_tasks->outgoing.progress(!own_tasks->scheduler.is_busy());
}

void look_at_tasks() noexcept {
  if (!progress::is_open()) [[unlikely]]
    progress::open();
}

// Waits until there is a task, or until done() holds.
template <class Done>
void rest_until(const char* routine, Done done) noexcept {
  Scheduler& scheduler = own_tasks->scheduler;
  scheduler.rest();
  progress::wait_until(routine, -1, [&] { return scheduler.has_work() || done(); });
  scheduler.go_on();
}

void run_available(Scheduler& scheduler) noexcept {
  while (scheduler.run_next() || scheduler.poll()) {
  }
  scheduler.rest();
  scheduler.go_on();
}

// Other threads may send.
TaskCounts own_counts() noexcept {
  return {own_tasks->sent.load(std::memory_order_relaxed), own_tasks->scheduler.executed()};
}

void add_to_own_queue(const NewTask& task) noexcept {
  Tasks& own = *own_tasks;
  if (own.scheduler.is_in_handler()) return own.scheduler.add_own(task, own.me);
  const ItemHeads heads(task);
  const Locked endpoint;
  std::byte* const at = own.incoming.place_of(own.me, heads.bytes().size() + task.payload.size());
  std::memcpy(at, heads.bytes().data(), heads.bytes().size());
  if (!task.payload.empty()) std::memcpy(at + heads.bytes().size(), task.payload.data(), task.payload.size());
  wake_own_sleepers();
}

}  // namespace

void open(const Start& start) noexcept {
  if (own_tasks == nullptr) own_tasks = new Tasks(static_cast<std::size_t>(start.n_pes));
  Tasks& own = *own_tasks;
  own.me = start.me;
  own.budget.open(start.me, start.tasks_max);
  own.scheduler.clear();
  own.sent.store(0, std::memory_order_relaxed);  // no thread sends
  handler_table.open();
  am::set_handler(am::kTasks, on_tasks, {.is_done_at_once = true});
  am::set_handler(am::kTaskPiece, on_task_piece, {.is_done_at_once = true});
  am::add_progress(send_waiting_tasks);
}

bool register_task(std::uint16_t id, HandlerFunction function, void* argument) noexcept {
  look_at_tasks();
  const Locked endpoint;
  return handler_table.set(id, HandlerKind::task, function, argument);
}

void send(const char* routine, const NewTask& task) noexcept {
  Tasks& own = *own_tasks;
  look_at_tasks();
  own.sent.fetch_add(1, std::memory_order_relaxed);  // a count only
  if (task.pe == own.me) return add_to_own_queue(task);
  std::size_t queued;
  bool polls;
  {
    const Locked endpoint;
    const std::uint32_t filled = own.outgoing.filled();
    own.outgoing.send(task);
    queued = own.outgoing.queued_bytes(task.pe);
    polls = own.outgoing.filled() != filled && own.outgoing.filled() % kFilledPerPoll == 0;
  }
  if (polls) am::poll_in_passing();
  if (queued <= kMostQueuedBytes || own.scheduler.is_in_handler()) return;
  progress::wait_until(routine, task.pe, [&] {
    const Locked endpoint;
    return own.outgoing.queued_bytes(task.pe) <= kMostQueuedBytes;
  });
}

void flush() noexcept {
  const Locked endpoint;
  own_tasks->outgoing.progress(true);
}

const void* keep(const char* routine) noexcept { return own_tasks->scheduler.keep(routine); }
void free_kept(const void* payload) noexcept { Scheduler::free(own_tasks->budget, payload); }

std::size_t run_some(const char* routine, std::size_t most) noexcept {
  look_at_tasks();
  Scheduler& scheduler = own_tasks->scheduler;
  const Scheduler::Entered entered(scheduler, routine);
  std::size_t count = 0;
  while (count < most && (scheduler.run_next() || (scheduler.poll() && scheduler.run_next()))) ++count;
  if (!scheduler.has_work()) scheduler.rest();
  if (count == 0) progress::repeated_test(nullptr, 0);  // the program may wait in a loop
  return count;
}

std::size_t run(const char* routine) noexcept {
  look_at_tasks();
  Scheduler& scheduler = own_tasks->scheduler;
  const Scheduler::Entered entered(scheduler, routine);
  std::size_t count = 0;
  while (!scheduler.has_stopped()) {
    if (scheduler.run_next()) {
      ++count;
    } else if (!scheduler.poll()) {
      rest_until(routine, [&] { return scheduler.is_stopping(); });
    }
  }
  return count;
}

void stop() noexcept { own_tasks->scheduler.stop(); }

void quiesce(const char* routine) noexcept {
  look_at_tasks();
  Scheduler& scheduler = own_tasks->scheduler;
  const Scheduler::Entered entered(scheduler, routine);
  Quiescence judge;
  TaskCounts total;
  do {
    run_available(scheduler);
    const TaskCounts counts = own_counts();
    const auto wave = coll::background::begin_reduction(
        coll::team_table[coll::kEndTeam], routine,
        {reinterpret_cast<std::byte*>(&total), reinterpret_cast<const std::byte*>(&counts), sizeof counts},
        {atomic::ElementType::uint64, atomic::ElementOp::sum});
    const auto is_over = [wave] { return pt2pt::look_at(wave) == pt2pt::TestAnswer::complete; };
    while (!is_over()) {
      if (!scheduler.run_next() && !scheduler.poll()) rest_until(routine, is_over);
    }
    pt2pt::Result ignored;
    pt2pt::wait(routine, wave, ignored);
  } while (!judge.add_wave(total));
}

void leave(const char* routine) noexcept {
  progress::wait_until(routine, -1, [] {
    const Locked endpoint;
    own_tasks->outgoing.progress(true);
    return own_tasks->outgoing.is_empty();
  });
}

void check_all_run(const char* routine) noexcept {
  const std::size_t queued = own_tasks->scheduler.take_queued();
  if (queued == 0) return;
  fatal(routine, "%zu tasks are queued on this PE that it has not run; allowed are none: call shmemx_scheduler_quiesce",
        queued);
}

}  // namespace shmemx::tasks
