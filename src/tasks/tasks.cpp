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
#include "tasks/multicast.hpp"
#include "tasks/own_tasks.hpp"
#include "tasks/quiescence.hpp"

namespace shmemx::tasks {
namespace {

using am::Locked;

constexpr std::size_t kMostQueuedBytes = std::size_t{16}
                                         << 20;  // for a target, before a send outside of handlers waits
constexpr std::uint32_t kFilledPerPoll = 4;      // batches of a stream to one poll

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

}  // namespace

void OwnHooks::look() noexcept {
  run_releases();
  const Locked endpoint;
  if (own_tasks->awaiting.is_empty()) return;
  own_tasks->awaiting.take_complete([](std::int32_t priority, Bytes item, Buffer& buffer) {
    own_tasks->scheduler.queue_item(priority, item, buffer, own_tasks->start.me);
  });
}

namespace {

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
  own_tasks->outgoing.progress(Outgoing::Flush::all);
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
  const TaskCounts& here = own_tasks->scheduler.counts();
  return {here.sent + own_tasks->sent.load(std::memory_order_relaxed),
          here.run + own_tasks->replies.load(std::memory_order_relaxed)};
}

void add_to_own_queue(const NewTask& task) noexcept {
  Tasks& own = *own_tasks;
  if (own.scheduler.is_in_handler()) return own.scheduler.add_own(task, own.start.me);
  const ItemHeads heads(task);
  const Locked endpoint;
  count_sent(1);
  const bool is_mixed = handler_of(heads.detail()) != am::kTasks;
  std::byte* const at = own.incoming.place_of(own.start.me, heads.bytes().size() + task.payload.size(), is_mixed);
  std::memcpy(at, heads.bytes().data(), heads.bytes().size());
  if (!task.payload.empty()) std::memcpy(at + heads.bytes().size(), task.payload.data(), task.payload.size());
  wake_own_sleepers();
}

}  // namespace

void open(const Start& start) noexcept {
  if (own_tasks == nullptr) own_tasks = new Tasks(static_cast<std::size_t>(start.n_pes));
  Tasks& own = *own_tasks;
  own.start = start;
  own.most_queued = std::min(kMostQueuedBytes, start.tasks_max / 4);
  own.budget.open(start.me, start.tasks_max);
  own.port.gathers = start.gathers;
  own.scheduler.clear();
  own.sent.store(0, std::memory_order_relaxed);     // no thread sends
  own.replies.store(0, std::memory_order_relaxed);  // no thread sends
  set_task_handlers();
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
    if (task.kind != kMulticast) count_sent(1);
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
  if (task.pe != own.start.me) {
    send_to_other(routine, task);
  } else {
    add_to_own_queue(task);
    if (task.is_owned()) return task.release.function(task.release.payload, task.release.argument);
  }
  if (task.is_owned()) run_releases();
}

bool send_at_once(int pe, std::uint16_t id, Bytes payload) noexcept {
  const Locked endpoint;
  if (!own_tasks->outgoing.try_join(pe, id, payload)) return false;
  count_sent(1);
  return true;
}

namespace {

// A payload that several targets read.
class SharedPayload {
 public:
  explicit SharedPayload(Bytes payload) : size_(payload.size()), copy_(new std::byte[payload.size()]) {
    copy_payload(copy_.get(), payload);
  }
  Bytes bytes() const noexcept { return {copy_.get(), size_}; }
  // Of one more target.
  Release share() noexcept;
  // Returns whether it was the last one.
  bool leave() noexcept { return users_.fetch_sub(1, std::memory_order_acq_rel) == 1; }  // shared payload

 private:
  std::atomic<std::size_t> users_{1};  // the one that sends
  std::size_t size_;
  std::unique_ptr<std::byte[]> copy_;
};

void leave_shared(void*, void* argument) {
  auto* const shared = static_cast<SharedPayload*>(argument);
  if (shared->leave()) delete shared;
}

Release SharedPayload::share() noexcept {
  users_.fetch_add(1, std::memory_order_relaxed);  // the sender has a share
  return {leave_shared, nullptr, this};
}

}  // namespace

void multicast(const char* routine, const NewTask& task, const team::PeSet& team, int member) noexcept {
  Tasks& own = *own_tasks;
  look_at_tasks();
  NewTask next = task;
  SharedPayload* const shared = task.payload.size() < kPullBytes ? nullptr : new SharedPayload(task.payload);
  if (shared != nullptr) next.payload = shared->bytes();
  const auto send_next = [&](int pe, const MulticastPart& part) {
    next.pe = pe;
    next.multicast = part.head(own.start.me);
    next.release = shared != nullptr ? shared->share() : Release{};
    send_to_other(routine, next);
  };
  const auto size = static_cast<std::uint32_t>(team.size());
  const MulticastPart all(team, static_cast<std::uint32_t>(member), size);
  if (own.start.passes_on) {
    {
      const Locked endpoint;
      count_sent(size - 1);
    }
    next.kind = kMulticast;
    const auto is_ready = [&](int pe) {
      const Locked endpoint;
      return own.outgoing.is_ready(pe);
    };
    MulticastSpread(own.start.me, own.start.node_of, is_ready, send_next).spread(all.from(1));
  } else {
    for (std::uint32_t i = 1; i < size; ++i) send_next(all.pe(i), all.one(i));
  }
  NewTask last = task;
  last.pe = own.start.me;
  add_to_own_queue(last);
  if (shared != nullptr) leave_shared(nullptr, shared);
  run_releases();
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
  if (running->source != own.start.me) return send_to_other(routine, answer);
  const Locked endpoint;
  count_sent(1);
  if (!complete_call(own.start.me, answer.call, payload)) reject_message(own.start.me);
  own.replies.fetch_add(1, std::memory_order_relaxed);  // a count only
}

bool send_after(pt2pt::RequestId request, const NewTask& task) noexcept {
  Tasks& own = *own_tasks;
  look_at_tasks();
  const Locked endpoint;
  if (pt2pt::own_engine.object.find(request) == nullptr) return false;
  count_sent(1);
  const ItemHeads heads(task);
  const std::size_t bytes = heads.bytes().size() + task.payload.size();
  Buffer* const buffer = make_small_buffer(own.budget, bytes, own.start.me);
  std::memcpy(buffer->data(), heads.bytes().data(), heads.bytes().size());
  copy_payload(buffer->data() + heads.bytes().size(), task.payload);
  own.awaiting.add(request, task.priority, {buffer->data(), bytes}, *buffer);
  wake_own_sleepers();
  return true;
}

void flush() noexcept {
  {
    const Locked endpoint;
    own_tasks->outgoing.progress(Outgoing::Flush::all);
  }
  run_releases();
}

const void* keep(const char* routine) noexcept { return own_tasks->scheduler.keep(routine); }
void free_kept(const void* payload) noexcept { Scheduler::free(own_tasks->budget, payload); }

namespace {

// A PE that has run tasks sends and polls in turns, so what has gathered for other nodes may gather more. It leaves
// when what is under way has been received, which the progress thread finds if the program comes back late.
void end_poll(Scheduler& scheduler, std::size_t count) noexcept {
  if (count == 0 || !own_tasks->start.passes_on) return rest(scheduler);
  const Locked endpoint;
  own_tasks->outgoing.progress(Outgoing::Flush::near);
}

}  // namespace

std::size_t run_some(const char* routine, std::size_t most) noexcept {
  look_at_tasks();
  Scheduler& scheduler = own_tasks->scheduler;
  const Scheduler::Entered entered(scheduler, routine);
  std::size_t count = 0;
  while (count < most && (scheduler.run_next() || (scheduler.poll() && scheduler.run_next()))) ++count;
  if (!scheduler.has_work()) end_poll(scheduler, count);
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
    for (;;) {
      while (scheduler.run_next()) {
      }
      if (is_over()) break;
      if (!scheduler.poll()) rest_until(routine, is_over);
    }
    pt2pt::Result ignored;
    pt2pt::wait(routine, wave, ignored);
  } while (!judge.add_wave(total));
}

void require_outside(const char* routine) noexcept { own_tasks->scheduler.require_left(routine); }

void leave(const char* routine) noexcept {
  progress::wait_until(routine, -1, [] {
    const Locked endpoint;
    own_tasks->outgoing.progress(Outgoing::Flush::all);
    return own_tasks->outgoing.is_empty();
  });
  run_releases();
}

void check_all_run(const char* routine) noexcept {
  if (own_tasks->scheduler.is_entered()) return;  // the process exits in a handler
  own_tasks->hooks.look();
  const char* const advice = "allowed are none: call shmemx_scheduler_quiesce";
  if (const std::size_t queued = own_tasks->scheduler.take_queued(); queued != 0)
    fatal(routine, "%zu task%s queued on this PE and not run; %s", queued, queued == 1 ? " is" : "s are", advice);
  if (const std::size_t waiting = own_tasks->awaiting.count(); waiting != 0)
    fatal(routine, "%zu task%s on this PE for a request that is not complete; %s", waiting,
          waiting == 1 ? " waits" : "s wait", advice);
}

}  // namespace shmemx::tasks
