#include "tasks/tasks.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "am/endpoint.hpp"
#include "base/bulk_copy.hpp"
#include "base/doorbell.hpp"
#include "base/fatal.hpp"
#include "coll/background/begin.hpp"
#include "progress/policy.hpp"
#include "progress/test_loop.hpp"
#include "progress/wait.hpp"
#include "pt2pt/messages.hpp"
#include "tasks/calls.hpp"
#include "tasks/outgoing.hpp"
#include "tasks/pulls.hpp"
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
  bool gathers = true;

  bool try_send(const am::OutgoingMessage& message) noexcept override {
    if (!Locked::held().try_send(message)) return false;
    if (message.lifetime.outgoing != nullptr && !am::is_internode(message.pe)) message.lifetime.outgoing->done = true;
    return true;
  }
  nemesis::Number last_sent(int pe) noexcept override { return Locked::held().number_to_flush(pe); }
  bool has_received(int pe, nemesis::Number number) noexcept override { return Locked::held().is_flushed(pe, number); }
  std::size_t message_bytes(int pe) noexcept override { return am::max_payload_bytes(pe); }
  Transfer start_transfer(int pe, std::int32_t tag, Bytes payload) noexcept override {
    const pt2pt::Cursor place(pt2pt::Shape::contiguous(payload.data(), payload.size()));
    Transfer const send = pt2pt::own_engine.object.send(place, pe, tag, {});
    if (send == nullptr) fatal("shmemx_task_send", "no memory for another request");
    return send;
  }
  bool try_end_transfer(Transfer transfer) noexcept override {
    if (transfer->phase != pt2pt::Phase::complete) return false;
    pt2pt::own_engine.object.give_back(*transfer);
    return true;
  }
  std::size_t batch_bytes(int pe) noexcept override {
    if (!gathers) return 0;
    return am::is_internode(pe) ? am::Batch::kBytes : std::min(am::Batch::kBytes, am::max_payload_bytes());
  }
};

class OwnHooks final : public SchedulerHooks {
 public:
  void look() noexcept override;
  void reply_empty() noexcept override { reply("shmemx_task_reply", {}); }
};

// All of this PE's tasks. Made at the first init, never destroyed: threads may still poll while the process exits.
struct Tasks {
  explicit Tasks(std::size_t n_pes) : outgoing(port, budget, n_pes) {}

  int me = 0;
  std::size_t most_queued = 0;  // bytes for a target, before a send outside of handlers waits
  Budget budget;
  EndpointPort port;
  OwnHooks hooks;
  Incoming incoming{budget};
  Pulls pulls{incoming};
  Outgoing outgoing;
  Awaiting awaiting;
  Scheduler scheduler{budget, incoming, hooks};
  std::atomic<std::uint64_t> sent{0};     // tasks and replies, to all PEs
  std::atomic<std::uint64_t> replies{0};  // that have arrived
};
constinit Tasks* own_tasks = nullptr;

[[noreturn]] void reject_message(int source) {
  fatal("shmemx_task_send", "a message of PE %d is not one of this library", source);
}

// ---- messages, under the endpoint's lock ----

Verdict on_tasks(Endpoint&, const Message& message) {
  own_tasks->incoming.add(message.source, message.payload);
  return Verdict::done;
}

// Returns whether the message holds tasks, too.
bool complete_calls(int source, Bytes message) {
  bool has_tasks = false;
  TaskView view;
  while (!message.empty()) {
    if (!take_task(message, view)) reject_message(source);
    has_tasks |= view.kind != kReply;
    if (view.kind != kReply) continue;
    if (!complete_call(source, view.call, view.payload)) reject_message(source);
    own_tasks->replies.fetch_add(1, std::memory_order_relaxed);  // a count only
  }
  return has_tasks;
}

Verdict on_replies(Endpoint&, const Message& message) {
  if (complete_calls(message.source, message.payload)) own_tasks->incoming.add(message.source, message.payload);
  return Verdict::done;
}

Verdict on_task_piece(Endpoint&, const Message& message) {
  Bytes piece = message.payload;
  PieceHead head;
  Bytes whole;
  if (!take_header(piece, head) || !own_tasks->incoming.add_piece(message.source, head, piece, whole))
    reject_message(message.source);
  if (head.is_reply != 0 && !whole.empty()) complete_calls(message.source, whole);
  return Verdict::done;
}

Verdict on_task_offer(Endpoint&, const Message& message) {
  Bytes item = message.payload;
  OfferHead head;
  if (!take_header(item, head) || !own_tasks->pulls.begin(message.source, head, item)) reject_message(message.source);
  return Verdict::done;
}

bool move_tasks(Endpoint&) {
  Tasks& own = *own_tasks;
  bool any = !own.pulls.is_empty() && own.pulls.progress();
  if (!own.outgoing.is_empty()) any |= own.outgoing.progress(!own.scheduler.is_busy());
  return any;
}

// ---- what the program hands over ----

// Calls the functions of memory that is not needed any more.
void run_releases() noexcept {
  std::vector<Release> due;
  {
    const Locked endpoint;
    if (!own_tasks->outgoing.has_releases()) return;
    own_tasks->outgoing.take_releases(due);
  }
  for (const Release& release : due) release.function(release.payload, release.argument);
}

void OwnHooks::look() noexcept {
  run_releases();
  const Locked endpoint;
  if (own_tasks->awaiting.is_empty()) return;
  own_tasks->awaiting.take_complete(
      [](std::int32_t priority, const Task& task) { own_tasks->scheduler.add(priority, task); });
}

// Returns whether look() would find something.
bool has_due() noexcept {
  const Locked endpoint;
  return own_tasks->outgoing.has_releases() || own_tasks->awaiting.has_complete();
}

void look_at_tasks() noexcept {
  if (!progress::is_open()) [[unlikely]]
    progress::open();
}

// The scheduler has no task to run: sends what has gathered.
void rest(Scheduler& scheduler) noexcept {
  scheduler.rest();
  const Locked endpoint;
  own_tasks->outgoing.progress(true);
}

// Waits until there is a task, or until done() holds.
template <class Done>
void rest_until(const char* routine, Done done) noexcept {
  Scheduler& scheduler = own_tasks->scheduler;
  rest(scheduler);
  progress::wait_until(routine, -1, [&] { return scheduler.has_work() || done() || has_due(); });
  scheduler.go_on();
  own_tasks->hooks.look();
}

void run_available(Scheduler& scheduler) noexcept {
  while (scheduler.run_next() || scheduler.poll()) {
  }
  rest(scheduler);
  scheduler.go_on();
}

// Other threads may send.
TaskCounts own_counts() noexcept {
  return {own_tasks->sent.load(std::memory_order_relaxed),
          own_tasks->scheduler.executed() + own_tasks->replies.load(std::memory_order_relaxed)};
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
  own.most_queued = std::min(kMostQueuedBytes, start.tasks_max / 4);
  own.budget.open(start.me, start.tasks_max);
  own.port.gathers = start.gathers;
  own.scheduler.clear();
  own.sent.store(0, std::memory_order_relaxed);     // no thread sends
  own.replies.store(0, std::memory_order_relaxed);  // no thread sends
  am::set_handler(am::kTasks, on_tasks, {.is_done_at_once = true});
  am::set_handler(am::kTaskPiece, on_task_piece, {.is_done_at_once = true});
  am::set_handler(am::kTaskReplies, on_replies, {.is_done_at_once = true});
  am::set_handler(am::kTaskOffer, on_task_offer, {.is_done_at_once = true});
  am::add_progress(move_tasks);
}

bool register_task(std::uint16_t id, HandlerFunction function, void* argument) noexcept {
  look_at_tasks();
  const Locked endpoint;
  return handler_table.set(id, HandlerKind::task, function, argument);
}

namespace {

void send_to_other(const char* routine, const NewTask& task) noexcept {
  Tasks& own = *own_tasks;
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
  if (queued <= own.most_queued || own.scheduler.is_in_handler()) return;
  progress::wait_until(routine, task.pe, [&] {
    const Locked endpoint;
    return own.outgoing.queued_bytes(task.pe) <= own.most_queued;
  });
}

}  // namespace

void send(const char* routine, const NewTask& task) noexcept {
  Tasks& own = *own_tasks;
  look_at_tasks();
  own.sent.fetch_add(1, std::memory_order_relaxed);  // a count only
  if (task.pe != own.me) {
    send_to_other(routine, task);
  } else {
    add_to_own_queue(task);
    if (task.is_owned()) return task.release.function(task.release.payload, task.release.argument);
  }
  if (task.is_owned()) run_releases();
}

namespace {

// A payload that several targets read.
struct SharedPayload {
  std::atomic<std::size_t> users;
  std::unique_ptr<std::byte[]> copy;
};

void leave_shared(void*, void* argument) {
  auto* const shared = static_cast<SharedPayload*>(argument);
  if (shared->users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete shared;  // shared payload
}

}  // namespace

void send_to_all(const char* routine, const NewTask& task, std::span<const int> pes) noexcept {
  NewTask each = task;
  if (task.payload.size() >= kPullBytes && !pes.empty()) {
    auto* const shared = new SharedPayload{pes.size(), std::make_unique<std::byte[]>(task.payload.size())};
    copy_payload(shared->copy.get(), task.payload);
    each.payload = {shared->copy.get(), task.payload.size()};
    each.release = {leave_shared, nullptr, shared};
  }
  for (const int pe : pes) {
    each.pe = pe;
    send(routine, each);
  }
}

CallId call(const char* routine, const NewTask& task, std::span<std::byte> result) noexcept {
  look_at_tasks();
  NewTask sent = task;
  sent.kind = kCall;
  {
    const Locked endpoint;
    sent.call = open_call(routine, task.pe, result.data(), result.size());
  }
  send(routine, sent);
  return sent.call;
}

int caller_of_running() noexcept {
  const Task* const running = own_tasks->scheduler.running();
  return running != nullptr && running->needs_reply ? running->source : -1;
}

void reply(const char* routine, Bytes payload) noexcept {
  Tasks& own = *own_tasks;
  Task* const running = own.scheduler.running();
  if (running == nullptr || !running->needs_reply)
    fatal(routine, "called where no reply is expected; allowed is one reply in the handler of a call");
  running->needs_reply = false;
  const NewTask answer{running->source, 0, 0, payload, kReply, running->call};
  own.sent.fetch_add(1, std::memory_order_relaxed);  // a count only
  if (running->source != own.me) return send_to_other(routine, answer);
  const Locked endpoint;
  if (!complete_call(own.me, answer.call, payload)) reject_message(own.me);
  own.replies.fetch_add(1, std::memory_order_relaxed);  // a count only
}

bool send_after(pt2pt::RequestId request, const NewTask& task) noexcept {
  Tasks& own = *own_tasks;
  look_at_tasks();
  const Locked endpoint;
  if (pt2pt::own_engine.object.find(request) == nullptr) return false;
  own.sent.fetch_add(1, std::memory_order_relaxed);  // a count only
  Buffer* const buffer = make_small_buffer(own.budget, sizeof(am::ItemHeader) + task.payload.size(), own.me);
  std::byte* const at = buffer->data() + sizeof(am::ItemHeader);  // shmemx_task_keep() writes in front of a payload
  copy_payload(at, task.payload);
  buffer->queued = 1;
  own.awaiting.add(request, task.priority,
                   {at, buffer, static_cast<std::uint32_t>(task.payload.size()), own.me, task.id, false, {}});
  wake_own_sleepers();
  return true;
}

void flush() noexcept {
  {
    const Locked endpoint;
    own_tasks->outgoing.progress(true);
  }
  run_releases();
}

const void* keep(const char* routine) noexcept { return own_tasks->scheduler.keep(routine); }
void free_kept(const void* payload) noexcept { Scheduler::free(own_tasks->budget, payload); }

std::size_t run_some(const char* routine, std::size_t most) noexcept {
  look_at_tasks();
  Scheduler& scheduler = own_tasks->scheduler;
  const Scheduler::Entered entered(scheduler, routine);
  std::size_t count = 0;
  while (count < most && (scheduler.run_next() || (scheduler.poll() && scheduler.run_next()))) ++count;
  if (!scheduler.has_work()) rest(scheduler);
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
        coll::team_table[coll::kEndTeam], {routine},
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
  run_releases();
}

void check_all_run(const char* routine) noexcept {
  const std::size_t queued = own_tasks->scheduler.take_queued();
  if (queued == 0) return;
  fatal(routine, "%zu tasks are queued on this PE that it has not run; allowed are none: call shmemx_scheduler_quiesce",
        queued);
}

}  // namespace shmemx::tasks
