#include "tasks/outgoing.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "am/endpoint.hpp"
#include "base/bulk_copy.hpp"

namespace shmemx::tasks {

// A message that waits: a batch, or one task in memory of its own.
struct Outgoing::Parcel {
  int pe;
  Parcel* next = nullptr;
  std::unique_ptr<am::Batch> batch;
  std::unique_ptr<std::byte[]> task;
  std::size_t task_bytes = 0;
  std::size_t offset = 0;     // bytes that have left in pieces
  std::uint32_t message = 0;  // the name of the pieces; 0: none has left
  transport::Outgoing outgoing;

  Bytes contents() const noexcept { return batch != nullptr ? batch->whole() : Bytes{task.get(), task_bytes}; }
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

void Outgoing::send(const NewTask& task) {
  Target& to = targets_[task.pe];
  const std::size_t bytes = kMostHeadBytes + task.payload.size();
  if (am::Coalescer::takes(bytes, port_.batch_bytes(task.pe))) return gather(task, to);
  if (to.first == nullptr && try_send_alone(task, to)) return;
  const ItemHeads heads(task);
  auto parcel = std::make_unique<Parcel>();
  parcel->pe = task.pe;
  parcel->task_bytes = heads.bytes().size() + task.payload.size();
  parcel->task.reset(new std::byte[parcel->task_bytes]);
  std::memcpy(parcel->task.get(), heads.bytes().data(), heads.bytes().size());
  copy_payload(parcel->task.get() + heads.bytes().size(), task.payload);
  note_queued(task.pe, to, parcel->task_bytes);
  add_parcel(std::move(parcel), to);
  push_parcels(to);
}

void Outgoing::gather(const NewTask& task, Target& to) {
  const Heads heads(task);
  if (coalescer_.try_append(task.pe, task.id, heads.bytes(), task.payload, heads.detail())) [[likely]] {
    note_queued(task.pe, to, am::Batch::room_for(heads.bytes().size() + task.payload.size()));
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
  note_queued(task.pe, to, batch.whole().size());
  note_active(task.pe, to);
}

void Outgoing::end_full_batch(int pe, Target& to) {
  ++filled_;
  if (to.first == nullptr && try_send_batch(pe, to)) return;
  auto parcel = std::make_unique<Parcel>();
  parcel->pe = pe;
  parcel->batch = coalescer_.take(pe);
  add_parcel(std::move(parcel), to);
}

// Returns whether no batch is left.
bool Outgoing::try_send_batch(int pe, Target& to) {
  return coalescer_.send(pe, [&](int, const am::Batch& batch) {
    const std::size_t bytes = batch.whole().size();
    if (!try_send({.pe = pe, .handler = am::kTasks, .header = {}, .payload = batch.whole()}, to)) return false;
    note_left(to, bytes);
    return true;
  });
}

bool Outgoing::try_send_alone(const NewTask& task, Target& to) {
  const ItemHeads heads(task);
  const std::size_t bytes = heads.bytes().size() + task.payload.size();
  if (bytes > port_.message_bytes(task.pe) || task.payload.size() >= transport::kLongBytes) return false;
  return try_send({.pe = task.pe, .handler = am::kTasks, .header = heads.bytes(), .payload = task.payload}, to);
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
    note_left(to, left->contents().size());
    if (left->batch != nullptr) {
      coalescer_.give_back(std::move(left->batch));
    } else if (left->message == 0 && !left->outgoing.done) {
      unconfirmed_.push_back(std::move(left));
    }
  }
  return any;
}

// A network may read a long payload while it travels.
bool Outgoing::push(Parcel& parcel, Target& to) {
  const Bytes contents = parcel.contents();
  if (parcel.message != 0 || contents.size() > port_.message_bytes(parcel.pe)) return push_pieces(parcel);
  am::OutgoingMessage message{.pe = parcel.pe, .handler = am::kTasks, .header = {}, .payload = contents};
  if (parcel.batch == nullptr) message.lifetime = am::until_done(parcel.outgoing);
  return try_send(message, to);
}

bool Outgoing::push_pieces(Parcel& parcel) {
  Target& to = targets_[parcel.pe];
  const Bytes contents = parcel.contents();
  const std::size_t most = port_.message_bytes(parcel.pe) - sizeof(PieceHead);
  if (parcel.message == 0) parcel.message = next_message_++;
  if (next_message_ == 0) next_message_ = 1;
  while (parcel.offset != contents.size()) {
    const Bytes piece = contents.subspan(parcel.offset, std::min(most, contents.size() - parcel.offset));
    const PieceHead head{parcel.message, static_cast<std::uint32_t>(parcel.offset),
                         static_cast<std::uint32_t>(contents.size()), 0};
    if (!try_send({.pe = parcel.pe, .handler = am::kTaskPiece, .header = am::bytes_of(head), .payload = piece}, to))
      return false;
    parcel.offset += piece.size();
  }
  return true;
}

void Outgoing::release_left() {
  std::erase_if(unconfirmed_, [](const std::unique_ptr<Parcel>& parcel) { return parcel->outgoing.done; });
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
