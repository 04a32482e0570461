#include "tasks/outgoing.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "am/endpoint.hpp"
#include "base/bulk_copy.hpp"

namespace shmemx::tasks {

// A message that waits: a batch, or one task with memory of its own or of the program.
struct Outgoing::Unsent {
  int pe;
  std::uint16_t details = kPlain;  // of its items
  Unsent* next = nullptr;
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
    for (Unsent* unsent = targets_[pe].first; unsent != nullptr;) delete std::exchange(unsent, unsent->next);
  }
}

// ---- sending ----

void Outgoing::send(const NewTask& task) {
  Target& to = targets_[task.pe];
  const std::size_t bytes = kMostHeadBytes + task.payload.size();
  if (am::Coalescer::takes(bytes, port_.batch_bytes(task.pe))) {
    gather(task, to);
  } else if (to.first != nullptr || !try_send_alone(task, to)) {
    add_unsent_task(task, to);
    push_unsent(to);
    return;
  }
  if (task.is_owned()) releases_.push_back(task.release);
}

void Outgoing::add_unsent_task(const NewTask& task, Target& to) {
  auto unsent = std::make_unique<Unsent>();
  unsent->pe = task.pe;
  unsent->heads = std::make_unique<ItemHeads>(task);
  unsent->details = unsent->heads->detail();
  unsent->payload = task.payload;
  unsent->release = task.release;
  if (!task.is_owned()) {
    unsent->copy.reset(new std::byte[task.payload.size()]);
    copy_payload(unsent->copy.get(), task.payload);
    unsent->payload = {unsent->copy.get(), task.payload.size()};
  }
  note_queued(task.pe, to, unsent->bytes());
  add_unsent(std::move(unsent), to);
}

void Outgoing::gather(const NewTask& task, Target& to) {
  const Heads heads(task);
  if (coalescer_.try_append(task.pe, task.id, heads.bytes(), task.payload, heads.detail())) [[likely]] {
    to.details |= heads.detail();
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
  const std::size_t most = port_.batch_bytes(task.pe);
  budget_.take(most, task.pe, false);
  am::Batch& batch = coalescer_.begin(task.pe, most);
  batch.append(task.id, heads.bytes(), task.payload, heads.detail());
  to.details = heads.detail();
  note_active(task.pe, to);
}

void Outgoing::end_full_batch(int pe, Target& to) {
  ++filled_;
  if (to.first == nullptr && try_send_batch(pe, to)) return;
  auto unsent = std::make_unique<Unsent>();
  unsent->pe = pe;
  unsent->details = to.details;
  unsent->batch = coalescer_.take(pe);
  to.queued_bytes += unsent->bytes();
  add_unsent(std::move(unsent), to);
}

// Returns whether no batch is left.
bool Outgoing::try_send_batch(int pe, Target& to) {
  return coalescer_.send(pe, [&](int, const am::Batch& batch) {
    if (!try_send({.pe = pe, .handler = handler_of(to.details), .header = {}, .payload = batch.whole()}, to))
      return false;
    budget_.give_back(batch.most());
    return true;
  });
}

bool Outgoing::try_send_alone(const NewTask& task, Target& to) {
  const ItemHeads heads(task);
  const std::size_t bytes = heads.bytes().size() + task.payload.size();
  if (bytes > port_.message_bytes(task.pe) || task.payload.size() >= transport::kLongBytes) return false;
  return try_send(
      {.pe = task.pe, .handler = handler_of(heads.detail()), .header = heads.bytes(), .payload = task.payload}, to);
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

void Outgoing::add_unsent(std::unique_ptr<Unsent> unsent, Target& to) {
  note_active(unsent->pe, to);
  Unsent* const added = unsent.release();
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

void Outgoing::note_left(const Unsent& unsent, Target& to) {
  budget_.give_back(unsent.batch != nullptr ? unsent.batch->most() : unsent.bytes());
  to.queued_bytes -= unsent.bytes();
}

// Returns whether any has left.
bool Outgoing::push_unsent(Target& to) {
  bool any = false;
  while (to.first != nullptr) {
    Unsent& unsent = *to.first;
    const std::size_t offset = unsent.offset;
    const bool has_left = push(unsent, to);
    any |= has_left || unsent.offset != offset;
    if (!has_left) break;
    std::unique_ptr<Unsent> left(std::exchange(to.first, unsent.next));
    note_left(*left, to);
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
bool Outgoing::push(Unsent& unsent, Target& to) {
  if (unsent.batch == nullptr && unsent.payload.size() >= kPullBytes) return push_offer(unsent, to);
  if (unsent.message != 0 || unsent.bytes() > port_.message_bytes(unsent.pe)) return push_pieces(unsent);
  am::OutgoingMessage message{.pe = unsent.pe,
                              .handler = handler_of(unsent.details),
                              .header = unsent.head_bytes(),
                              .payload = unsent.payload_bytes()};
  if (unsent.batch == nullptr) message.lifetime = am::until_done(unsent.outgoing);
  return try_send(message, to);
}

// Tags repeat, so half of them may be in use.
bool Outgoing::push_offer(Unsent& unsent, Target& to) {
  if (pulls_ >= kPullTags / 2) return false;
  const OfferHead head{pull_tag(next_pull_), static_cast<std::uint32_t>(unsent.payload.size())};
  if (!try_send(
          {.pe = unsent.pe, .handler = am::kTaskOffer, .header = am::bytes_of(head), .payload = unsent.heads->bytes()},
          to))
    return false;
  ++next_pull_;
  ++pulls_;
  unsent.transfer = port_.start_transfer(unsent.pe, head.tag, unsent.payload);
  return true;
}

// The item's heads are the first piece.
bool Outgoing::push_pieces(Unsent& unsent) {
  Target& to = targets_[unsent.pe];
  const std::size_t most = port_.message_bytes(unsent.pe) - sizeof(PieceHead);
  const std::size_t heads = unsent.head_bytes().size();
  if (unsent.message == 0) unsent.message = next_message_++;
  if (next_message_ == 0) next_message_ = 1;
  while (unsent.offset != unsent.bytes()) {
    const Bytes rest = unsent.offset < heads ? unsent.head_bytes() : unsent.payload.subspan(unsent.offset - heads);
    const Bytes piece = rest.first(std::min(most, rest.size()));
    const PieceHead head{unsent.message, static_cast<std::uint32_t>(unsent.offset),
                         static_cast<std::uint32_t>(unsent.bytes()), unsent.details};
    if (!try_send({.pe = unsent.pe, .handler = am::kTaskPiece, .header = am::bytes_of(head), .payload = piece}, to))
      return false;
    unsent.offset += piece.size();
  }
  return true;
}

void Outgoing::end(Unsent& unsent) {
  if (unsent.release.function != nullptr) releases_.push_back(unsent.release);
}

void Outgoing::release_left() {
  std::erase_if(unconfirmed_, [this](const std::unique_ptr<Unsent>& unsent) {
    const bool is_over = unsent->transfer != nullptr ? port_.try_end_transfer(unsent->transfer) : unsent->outgoing.done;
    if (!is_over) return false;
    if (unsent->transfer != nullptr) --pulls_;
    end(*unsent);
    return true;
  });
}

void Outgoing::take_releases(std::vector<Release>& due) {
  due.insert(due.end(), releases_.begin(), releases_.end());
  releases_.clear();
}

bool Outgoing::progress(Flush flush) {
  if (!unconfirmed_.empty()) release_left();
  bool any = false;
  for (std::size_t i = active_.size(); i-- > 0;) {
    const int pe = active_[i];
    Target& to = targets_[pe];
    any |= push_unsent(to);
    if (to.first != nullptr) continue;
    const bool held = coalescer_.holds(pe);
    const bool leaves = flush == Flush::all || (flush == Flush::near && port_.is_near(pe));
    if (held && (leaves || is_idle(pe, to)) && try_send_batch(pe, to)) any = true;
    if (coalescer_.holds(pe)) continue;
    to.is_active = false;
    active_[i] = active_.back();
    active_.pop_back();
  }
  return any;
}

}  // namespace shmemx::tasks
