// What arrives for tasks, and how it is sent: the side of tasks/ towards the endpoint. Under its lock.
#include <algorithm>

#include "base/fatal.hpp"
#include "pt2pt/messages.hpp"
#include "tasks/multicast.hpp"
#include "tasks/own_tasks.hpp"

namespace shmemx::tasks {

using am::Endpoint;
using am::Locked;
using am::Message;
using am::Verdict;

void reject_message(int source) noexcept {
  fatal("shmemx_task_send", "a message of PE %d is not one of this library", source);
}

bool EndpointPort::try_send(const am::OutgoingMessage& message) noexcept {
  if (!Locked::held().try_send(message)) return false;
  if (message.lifetime.outgoing != nullptr && !am::is_internode(message.pe)) message.lifetime.outgoing->done = true;
  return true;
}

bool EndpointPort::is_near(int pe) noexcept { return !am::is_internode(pe); }

std::size_t EndpointPort::batch_bytes(int pe) noexcept {
  if (!gathers) return 0;
  return am::is_internode(pe) ? am::Batch::kBytes : std::min(am::Batch::kBytes, am::max_payload_bytes());
}

Port::Transfer EndpointPort::start_transfer(int pe, std::int32_t tag, Bytes payload) noexcept {
  const pt2pt::Cursor place(pt2pt::Shape::contiguous(payload.data(), payload.size()));
  Transfer const send = pt2pt::own_engine.object.send(place, pe, tag, {});
  if (send == nullptr) fatal("shmemx_task_send", "no memory for another request");
  return send;
}

bool EndpointPort::try_end_transfer(Transfer transfer) noexcept {
  if (transfer->phase != pt2pt::Phase::complete) return false;
  pt2pt::own_engine.object.give_back(*transfer);
  return true;
}

namespace {

void leave_buffer(void*, void* argument) { release_share(own_tasks->budget, static_cast<Buffer*>(argument)); }

Verdict on_tasks(Endpoint&, const Message& message) {
  own_tasks->incoming.add(message.source, message.payload, false);
  return Verdict::done;
}
Verdict on_mixed_tasks(Endpoint&, const Message& message) {
  own_tasks->incoming.add(message.source, message.payload, true);
  return Verdict::done;
}

// Sends a multicast to those that this PE sees to. With a buffer, the payload lies there until all have left.
void pass_on(int source, const TaskView& task, Buffer* buffer) noexcept {
  Tasks& own = *own_tasks;
  const auto part = MulticastPart::of(task.multicast, own.start.n_pes);
  if (!part.has_value()) reject_message(source);
  NewTask next{.pe = 0, .id = task.id, .priority = task.priority, .payload = task.payload, .kind = kMulticast};
  const auto send_next = [&](int pe, const MulticastPart& theirs) {
    next.pe = pe;
    next.multicast = theirs.head(task.multicast.origin);
    if (buffer != nullptr) {
      buffer->shares.fetch_add(1, std::memory_order_relaxed);  // the caller has a share
      next.release = {leave_buffer, nullptr, buffer};
    }
    own.outgoing.send(next);
  };
  const auto is_ready = [&](int pe) { return own.outgoing.is_ready(pe); };
  const MulticastSpread spread(own.start.me, own.start.node_of, is_ready, send_next);
  if (!spread.holds(*part)) reject_message(source);
  spread.spread(*part);
}

void count_reply() noexcept { own_tasks->replies.fetch_add(1, std::memory_order_relaxed); }  // a count only

// Handles the items that are not only queued. Returns whether the message holds tasks.
bool handle_items(int source, Bytes message, Buffer* buffer) {
  bool has_tasks = false;
  TaskView view;
  while (!message.empty()) {
    if (!take_task(message, view)) reject_message(source);
    has_tasks |= view.kind != kReply;
    if (view.kind == kMulticast) pass_on(source, view, buffer);
    if (view.kind != kReply) continue;
    if (!complete_call(source, view.call, view.payload)) reject_message(source);
    count_reply();
  }
  return has_tasks;
}

Verdict on_handled_tasks(Endpoint&, const Message& message) {
  if (handle_items(message.source, message.payload, nullptr))
    own_tasks->incoming.add(message.source, message.payload, true);
  return Verdict::done;
}

Verdict on_task_piece(Endpoint&, const Message& message) {
  Bytes piece = message.payload;
  PieceHead head;
  Tasks& own = *own_tasks;
  Buffer* whole = nullptr;
  if (!take_header(piece, head) || head.detail > kDetails ||
      !own.incoming.add_piece(message.source, head, piece, whole))
    reject_message(message.source);
  if (whole == nullptr) return Verdict::done;
  const bool is_handled = handler_of(static_cast<std::uint16_t>(head.detail)) == am::kTasksHandled;
  if (!is_handled || handle_items(message.source, Incoming::message_of(*whole), nullptr)) {
    own.incoming.add_complete(whole);
  } else {
    own.incoming.drop(whole);
  }
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
  bool any =
      !own.pulls.is_empty() &&
      own.pulls.progress([](Buffer& buffer) { handle_items(-1, Incoming::message_of(buffer), &buffer); }, count_reply);
  if (!own.outgoing.is_empty())
    any |= own.outgoing.progress(own.scheduler.is_busy() ? Outgoing::Flush::ready : Outgoing::Flush::all);
  return any;
}

}  // namespace

void set_task_handlers() noexcept {
  am::set_handler(am::kTasks, on_tasks, {.is_done_at_once = true});
  am::set_handler(am::kTasksMixed, on_mixed_tasks, {.is_done_at_once = true});
  am::set_handler(am::kTasksHandled, on_handled_tasks, {.is_done_at_once = true});
  am::set_handler(am::kTaskPiece, on_task_piece, {.is_done_at_once = true});
  am::set_handler(am::kTaskOffer, on_task_offer, {.is_done_at_once = true});
  am::add_progress(move_tasks);
}

}  // namespace shmemx::tasks
