#include "tasks/outgoing.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "am/endpoint.hpp"
#include "base/bulk_copy.hpp"

namespace shmemx::tasks {

// A message that waits: a batch, or one task with memory of its own or of the program.
struct Outgoing::Parcel {
  int pe;
  am::HandlerId handler = am::kTasks;
  Parcel* next = nullptr;
  std::unique_ptr<am::Batch> batch;
  std::unique_ptr<ItemHeads> heads;  // of one task
  std::unique_ptr<std::byte[]> copy;
  Bytes payload;
  Release release;
  std::size_t offset = 0;     // bytes that have left in pieces
  std::uint32_t message = 0;  // the name of the pieces; 0: none has left
  transport::Outgoing outgoing;
  Port::Transfer transfer = nullptr;

  Bytes head_bytes() const noexcept { return batch != nullptr ? Bytes{} : heads->bytes(); }
  Bytes payload_bytes() const noexcept { return batch != nullptr ? batch->whole() : payload; }
  std::size_t bytes() const noexcept { return head_bytes().size() + payload_bytes().size(); }
};

Outgoing::Outgoing(Port& port, Budget& budget, std::size_t n_pes) : port_(port), budget_(budget) {
  coalescer_.open(n_pes);
  targets_.open(n_pes);
}

Outgoing::~Outgoing() {
  for (const std::int32_t pe : active_) {
    for (Parcel* parcel = targets_[pe].first; parcel != nullptr;) delete std::exchange(parcel, parcel->next);
  }
}

// ---- sending ----

namespace {

am::HandlerId handler_of(const NewTask& task) { return task.kind == kReply ? am::kTaskReplies : am::kTasks; }

}  // namespace

void Outgoing::send(const NewTask& task) {
  Target& to = targets_[task.pe];
  const std::size_t bytes = kMostHeadBytes + task.payload.size();
  if (am::Coalescer::takes(bytes, port_.batch_bytes(task.pe))) {
    gather(task, to);
  } else if (to.first != nullptr || !try_send_alone(task, to)) {
    add_task_parcel(task, to);
    push_parcels(to);
    return;
  }
  if (task.is_owned()) releases_.push_back(task.release);
}

void Outgoing::add_task_parcel(const NewTask& task, Target& to) {
  auto parcel = std::make_unique<Parcel>();
  parcel->pe = task.pe;
  parcel->handler = handler_of(task);
  parcel->heads = std::make_unique<ItemHeads>(task);
  parcel->payload = task.payload;
  parcel->release = task.release;
  if (!task.is_owned()) {
    parcel->copy.reset(new std::byte[task.payload.size()]);
    copy_payload(parcel->copy.get(), task.payload);
    parcel->payload = {parcel->copy.get(), task.payload.size()};
  }
  note_queued(task.pe, to, parcel->bytes());
  add_parcel(std::move(parcel), to);
}

void Outgoing::gather(const NewTask& task, Target& to) {
  const Heads heads(task);
  if (coalescer_.try_append(task.pe, task.id, heads.bytes(), task.payload, heads.detail())) [[likely]] {
    note_queued(task.pe, to, am::Batch::room_for(heads.bytes().size() + task.payload.size()));
    to.has_reply |= task.kind == kReply;
    if (++to.appends % kAppendsPerLook == 0 && to.first == nullptr && is_idle(task.pe, to)) try_send_batch(task.pe, to);
    return;
  }
  if (coalescer_.holds(task.pe)) {
    end_full_batch(task.pe, to);
  } else if (to.first == nullptr && is_idle(task.pe, to) && try_send_alone(task, to)) {
    return;
  }
  begin_batch(task, to, heads);
}

void Outgoing::begin_batch(const NewTask& task, Target& to, const Heads& heads) {
  if (coalescer_.count() >= kMostBatches) try_send_batch(coalescer_.oldest(), targets_[coalescer_.oldest()]);
  am::Batch& batch = coalescer_.begin(task.pe, port_.batch_bytes(task.pe));
  batch.append(task.id, heads.bytes(), task.payload, heads.detail());
  to.has_reply = task.kind == kReply;
  note_queued(task.pe, to, batch.whole().size());
  note_active(task.pe, to);
}

void Outgoing::end_full_batch(int pe, Target& to) {
  ++filled_;
  if (to.first == nullptr && try_send_batch(pe, to)) return;
  auto parcel = std::make_unique<Parcel>();
  parcel->pe = pe;
  parcel->handler = to.has_reply ? am::kTaskReplies : am::kTasks;
  parcel->batch = coalescer_.take(pe);
  add_parcel(std::move(parcel), to);
}

// Returns whether no batch is left.
bool Outgoing::try_send_batch(int pe, Target& to) {
  return coalescer_.send(pe, [&](int, const am::Batch& batch) {
    const std::size_t bytes = batch.whole().size();
    const am::HandlerId handler = to.has_reply ? am::kTaskReplies : am::kTasks;
    if (!try_send({.pe = pe, .handler = handler, .header = {}, .payload = batch.whole()}, to)) return false;
    note_left(to, bytes);
    return true;
  });
}

bool Outgoing::try_send_alone(const NewTask& task, Target& to) {
  const ItemHeads heads(task);
  const std::size_t bytes = heads.bytes().size() + task.payload.size();
  if (bytes > port_.message_bytes(task.pe) || task.payload.size() >= transport::kLongBytes) return false;
  return try_send({.pe = task.pe, .handler = handler_of(task), .header = heads.bytes(), .payload = task.payload}, to);
}

bool Outgoing::try_send(const am::OutgoingMessage& message, Target& to) {
  if (!port_.try_send(message)) return false;
  to.sent = port_.last_sent(message.pe);
  to.is_outstanding = true;
  ++messages_;
  return true;
}

// Returns whether `pe` has received everything that has left.
bool Outgoing::is_idle(int pe, Target& to) {
  if (to.is_outstanding) to.is_outstanding = !port_.has_received(pe, to.sent);
  return !to.is_outstanding;
}

// ---- what waits ----

void Outgoing::add_parcel(std::unique_ptr<Parcel> parcel, Target& to) {
  note_active(parcel->pe, to);
  Parcel* const added = parcel.release();
  (to.first == nullptr ? to.first : to.last->next) = added;
  to.last = added;
}

void Outgoing::note_active(int pe, Target& to) {
  if (!std::exchange(to.is_active, true)) active_.push_back(pe);
}

void Outgoing::note_queued(int pe, Target& to, std::size_t bytes) {
  budget_.take(bytes, pe, false);
  to.queued_bytes += bytes;
}

void Outgoing::note_left(Target& to, std::size_t bytes) {
  budget_.give_back(bytes);
  to.queued_bytes -= bytes;
}

// Returns whether any has left.
bool Outgoing::push_parcels(Target& to) {
  bool any = false;
  while (to.first != nullptr) {
    Parcel& parcel = *to.first;
    const std::size_t offset = parcel.offset;
    const bool has_left = push(parcel, to);
    any |= has_left || parcel.offset != offset;
    if (!has_left) break;
    std::unique_ptr<Parcel> left(std::exchange(to.first, parcel.next));
    note_left(to, left->bytes());
    if (left->batch != nullptr) {
      coalescer_.give_back(std::move(left->batch));
    } else if (left->transfer != nullptr || (left->message == 0 && !left->outgoing.done)) {
      unconfirmed_.push_back(std::move(left));
    } else {
      end(*left);
    }
  }
  return any;
}

// A network may read a long payload while it travels.
bool Outgoing::push(Parcel& parcel, Target& to) {
  if (parcel.batch == nullptr && parcel.handler == am::kTasks && parcel.payload.size() >= kPullBytes)
    return push_offer(parcel, to);
  if (parcel.message != 0 || parcel.bytes() > port_.message_bytes(parcel.pe)) return push_pieces(parcel);
  am::OutgoingMessage message{
      .pe = parcel.pe, .handler = parcel.handler, .header = parcel.head_bytes(), .payload = parcel.payload_bytes()};
  if (parcel.batch == nullptr) message.lifetime = am::until_done(parcel.outgoing);
  return try_send(message, to);
}

// Tags repeat, so half of them may be in use.
bool Outgoing::push_offer(Parcel& parcel, Target& to) {
  if (pulls_ >= kPullTags / 2) return false;
  const OfferHead head{pull_tag(next_pull_), static_cast<std::uint32_t>(parcel.payload.size())};
  if (!try_send(
          {.pe = parcel.pe, .handler = am::kTaskOffer, .header = am::bytes_of(head), .payload = parcel.heads->bytes()},
          to))
    return false;
  ++next_pull_;
  ++pulls_;
  parcel.transfer = port_.start_transfer(parcel.pe, head.tag, parcel.payload);
  return true;
}

// The item's heads are the first piece.
bool Outgoing::push_pieces(Parcel& parcel) {
  Target& to = targets_[parcel.pe];
  const std::size_t most = port_.message_bytes(parcel.pe) - sizeof(PieceHead);
  const std::size_t heads = parcel.head_bytes().size();
  if (parcel.message == 0) parcel.message = next_message_++;
  if (next_message_ == 0) next_message_ = 1;
  while (parcel.offset != parcel.bytes()) {
    const Bytes rest = parcel.offset < heads ? parcel.head_bytes() : parcel.payload.subspan(parcel.offset - heads);
    const Bytes piece = rest.first(std::min(most, rest.size()));
    const PieceHead head{parcel.message, static_cast<std::uint32_t>(parcel.offset),
                         static_cast<std::uint32_t>(parcel.bytes()), parcel.handler == am::kTaskReplies ? 1U : 0U};
    if (!try_send({.pe = parcel.pe, .handler = am::kTaskPiece, .header = am::bytes_of(head), .payload = piece}, to))
      return false;
    parcel.offset += piece.size();
  }
  return true;
}

void Outgoing::end(Parcel& parcel) {
  if (parcel.release.function != nullptr) releases_.push_back(parcel.release);
}

void Outgoing::release_left() {
  std::erase_if(unconfirmed_, [this](const std::unique_ptr<Parcel>& parcel) {
    const bool is_over = parcel->transfer != nullptr ? port_.try_end_transfer(parcel->transfer) : parcel->outgoing.done;
    if (!is_over) return false;
    if (parcel->transfer != nullptr) --pulls_;
    end(*parcel);
    return true;
  });
}

void Outgoing::take_releases(std::vector<Release>& due) {
  due.insert(due.end(), releases_.begin(), releases_.end());
  releases_.clear();
}

bool Outgoing::progress(bool all) {
  if (!unconfirmed_.empty()) release_left();
  bool any = false;
  for (std::size_t i = active_.size(); i-- > 0;) {
    const int pe = active_[i];
    Target& to = targets_[pe];
    any |= push_parcels(to);
    if (to.first != nullptr) continue;
    const bool held = coalescer_.holds(pe);
    if (held && (all || is_idle(pe, to)) && try_send_batch(pe, to)) any = true;
    if (coalescer_.holds(pe)) continue;
    to.is_active = false;
    active_[i] = active_.back();
    active_.pop_back();
  }
  return any;
}

}  // namespace shmemx::tasks
