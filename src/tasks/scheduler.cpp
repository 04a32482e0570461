#include "tasks/scheduler.hpp"

#include <cstring>

#include "am/endpoint.hpp"
#include "base/bulk_copy.hpp"
#include "base/cache_line.hpp"
#include "base/clock.hpp"
#include "base/doorbell.hpp"
#include "base/fatal.hpp"
#include "stats/span.hpp"
#include "tasks/handlers.hpp"

namespace shmemx::tasks {
namespace {

// Its address names the thread.
[[gnu::tls_model("initial-exec")]] constinit thread_local char this_thread = 0;

// In front of each payload that a program keeps, at the place of its item's header or heads.
struct KeptHead {
  Buffer* buffer;
};
static_assert(sizeof(KeptHead) == sizeof(am::ItemHeader));

// A short payload is copied: it would keep the memory of many tasks.
constexpr std::size_t kLeastKeptShare = 4;
// Arrivals of up to this size that have to wait are copied, several into one buffer.
constexpr std::uint32_t kMostCopied = kBufferBytes / 8;

}  // namespace

void PollInterval::note_poll(std::uint64_t now_ns) noexcept {
  const std::uint64_t passed_ns = now_ns - last_ns_;
  if (passed_ns < kShortNs && tasks_ < kMostTasks) tasks_ *= 2;
  if (passed_ns > kLongNs && tasks_ > 1) tasks_ /= 2;
  last_ns_ = now_ns;
  left_ = tasks_;
}

// ---- entering ----

Scheduler::Entered::Entered(Scheduler& scheduler, const char* routine) noexcept : scheduler_(scheduler) {
  const void* free = nullptr;
  if (scheduler.owner_.compare_exchange_strong(free, &this_thread, std::memory_order_acquire)) {  // scheduler
    scheduler.busy_.store(true, std::memory_order_relaxed);                                       // a hint
    return;
  }
  if (free == &this_thread)
    fatal(routine, "called by the handler of a task; the scheduler cannot be entered again there");
  fatal(routine, "called while another thread of this PE is in the scheduler; allowed is one thread at a time");
}

Scheduler::Entered::~Entered() {
  scheduler_.busy_.store(false, std::memory_order_relaxed);     // a hint
  scheduler_.owner_.store(nullptr, std::memory_order_release);  // scheduler
}

void Scheduler::require_left(const char* routine) const noexcept {
  if (!is_entered()) return;
  fatal(routine, "called %s",
        is_in_handler() ? "by the handler of a task" : "while a thread of this PE is in the scheduler");
}

bool Scheduler::is_in_handler() const noexcept {
  return owner_.load(std::memory_order_relaxed) == &this_thread && running_ != nullptr;  // own store, if it is equal
}

void Scheduler::stop() noexcept {
  stop_.store(true, std::memory_order_release);  // stop
  wake_own_sleepers();
}

// ---- tasks that have arrived ----

namespace {

int source_of(Bytes records) noexcept {
  Record record{};
  if (records.size() >= sizeof record) std::memcpy(&record, records.data(), sizeof record);
  return record.source;
}

}  // namespace

void Scheduler::take_arrivals() noexcept {
  Buffer* first;
  {
    const am::Locked endpoint;
    first = incoming_.take_all(unused_);
  }
  while (first != nullptr) {
    Buffer& buffer = *first;
    first = buffer.next;
    const Bytes records{buffer.data(), buffer.used};
    if (buffer.used > kMostCopied || queue_.is_empty()) {
      queue_records(buffer, records);
    } else {
      Buffer& into = own_with_room(records.size(), source_of(records));
      const Bytes copy{into.data() + into.used, records.size()};
      std::memcpy(into.data() + into.used, records.data(), records.size());
      into.used += buffer.used;
      note_run(buffer);
      queue_records(into, copy);
    }
  }
}

Buffer& Scheduler::own_with_room(std::size_t bytes, int source) noexcept {
  if (own_ != nullptr && own_->room() >= bytes) return *own_;
  Buffer* const full = own_;
  own_ = bytes <= kBufferBytes ? unused_.take() : nullptr;
  if (own_ == nullptr) own_ = make_buffer(budget_, bytes, source);
  if (full != nullptr && full->queued == 0) note_run(*full);
  return *own_;
}

namespace {

[[noreturn, gnu::cold]] void reject_tasks(int source) {
  fatal("shmemx_task_send", "a message of PE %d is not one of this library", source);
}

}  // namespace

void Scheduler::queue_records(Buffer& buffer, Bytes rest) noexcept {
  ++buffer.queued;  // until all are in the queue
  while (!rest.empty()) {
    Record record;
    std::memcpy(&record, rest.data(), sizeof record);
    const Bytes tasks = rest.subspan(sizeof record, record.bytes);
    rest = rest.subspan(sizeof record + round_up(record.bytes, sizeof record));
    if (record.is_mixed != 0) {
      queue_one_by_one(buffer, record.source, tasks);
    } else if (!tasks.empty()) {
      queue_stretch({tasks, &buffer, record.source});
    }
  }
  if (--buffer.queued == 0) note_run(buffer);
}

void Scheduler::queue_stretch(const Stretch& stretch) noexcept {
  if (queue_.push(stretch)) ++stretch.buffer->queued;
}

void Scheduler::queue_one_by_one(Buffer& buffer, int source, Bytes tasks) noexcept {
  while (!tasks.empty()) {
    const Bytes begin = tasks;
    TaskView task;
    if (!take_task(tasks, task)) [[unlikely]]
      reject_tasks(source);
    if (task.kind == kReply) continue;  // its call is complete
    if (task.priority == 0) {
      queue_stretch({begin.first(begin.size() - tasks.size()), &buffer, source});
      continue;
    }
    queue_.push(task.priority, task_of(task, buffer, source));
    ++buffer.queued;
  }
}

// The item lies in the buffer.
void Scheduler::queue_item(std::int32_t priority, Bytes item, Buffer& buffer, int source) noexcept {
  if (priority == 0) return queue_stretch({item, &buffer, source});
  queue_one_by_one(buffer, source, item);
}

void Scheduler::add_own(const NewTask& task, int me) noexcept {
  const ItemHeads heads(task);
  const std::size_t bytes = round_up(heads.bytes().size() + task.payload.size(), sizeof(am::ItemHeader));
  Buffer& own = own_with_room(bytes, me);
  std::byte* const at = own.data() + own.used;
  std::memcpy(at, heads.bytes().data(), heads.bytes().size());
  copy_payload(at + heads.bytes().size(), task.payload);
  own.used += static_cast<std::uint32_t>(bytes);
  ++counts_.sent;
  queue_item(task.priority, {at, bytes}, own, me);
}

// All tasks in the buffer have been run.
void Scheduler::note_run(Buffer& buffer) noexcept {
  const bool is_unshared = buffer.shares.load(std::memory_order_acquire) == 1;  // shared
  if (is_unshared && &buffer == own_) {
    buffer.used = 0;
  } else if (is_unshared && buffer.capacity == kBufferBytes) {
    buffer.used = 0;
    unused_.add(&buffer);
  } else {
    if (&buffer == own_) own_ = nullptr;
    release_share(budget_, &buffer);
  }
}

// ---- running ----

void Scheduler::reject_unregistered(const Task& task) noexcept {
  fatal("shmemx_task_send", "PE %d has sent a task to handler %u, which this PE has not registered", task.source,
        task.id);
}

void Scheduler::call_observed(const Handler& handler, const Task& task) noexcept {
  stats::Span span;
  span.begin({"task", stats::Family::task, {}, task.source, task.id, task.bytes}, nullptr);
  handler.function(task.source, task.payload, task.bytes, handler.argument);
}

[[gnu::always_inline]] inline void Scheduler::execute(Task& task) noexcept {
  const Handler handler = handler_table.find(task.id, HandlerKind::task);
  if (handler.function == nullptr) [[unlikely]]
    reject_unregistered(task);
  running_ = &task;
  if (stats::is_on()) [[unlikely]] {
    call_observed(handler, task);
  } else {
    handler.function(task.source, task.payload, task.bytes, handler.argument);
  }
  if (task.needs_reply) [[unlikely]]
    hooks_.reply_empty();
  running_ = nullptr;
  ++counts_.run;
  if (task.ends_stretch && --task.buffer->queued == 0) note_run(*task.buffer);
}

bool Scheduler::run_next() noexcept {
  if (incoming_.has_any()) take_arrivals();
  Task task;
  const Popped popped = queue_.pop(task);
  if (popped != Popped::task) {
    if (popped == Popped::damaged) [[unlikely]]
      reject_tasks(task.source);
    return false;
  }
  execute(task);
  if (interval_.is_due()) poll();
  return true;
}

bool Scheduler::poll() noexcept {
  interval_.note_poll(now_ns());
  am::poll_in_passing();
  hooks_.look();
  return has_work();
}

// ---- payloads that the program keeps ----

const void* Scheduler::keep(const char* routine) noexcept {
  if (!is_in_handler()) fatal(routine, "called outside of a task's handler");
  Task& task = *running_;
  Buffer* buffer = task.buffer;
  auto* payload = const_cast<std::byte*>(task.payload);
  if (task.bytes < buffer->capacity / kLeastKeptShare) {
    buffer = make_small_buffer(budget_, sizeof(KeptHead) + task.bytes, task.source);
    std::memcpy(buffer->data() + sizeof(KeptHead), payload, task.bytes);
    payload = buffer->data() + sizeof(KeptHead);
  } else {
    buffer->shares.fetch_add(1, std::memory_order_relaxed);  // the queue has a share meanwhile
  }
  const KeptHead head{buffer};
  std::memcpy(payload - sizeof head, &head, sizeof head);
  return payload;
}

void Scheduler::free(Budget& budget, const void* payload) noexcept {
  KeptHead head;
  std::memcpy(&head, static_cast<const std::byte*>(payload) - sizeof head, sizeof head);
  release_share(budget, head.buffer);
}

std::size_t Scheduler::take_queued() noexcept {
  if (incoming_.has_any()) take_arrivals();
  return queue_.count();
}

void Scheduler::clear() noexcept {
  stop_.store(false, std::memory_order_relaxed);  // no thread is in the scheduler
  counts_ = {};
}

}  // namespace shmemx::tasks
