#include "transport/common/inbound_queue.hpp"

#include <utility>

#include "base/bulk_copy.hpp"

namespace shmemx::transport {
namespace {

using Stage = InboundMessage::Stage;

void copy(std::byte* to, Bytes from) noexcept {
  if (!from.empty()) copy_block(to, from.data(), from.size());
}

}  // namespace

bool InboundMessage::overlaps(const InboundMessage& other) const noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(place);
  const auto there = reinterpret_cast<std::uintptr_t>(other.place);
  return here != 0 && there != 0 && here < there + other.payload_bytes && there < here + payload_bytes;
}

void InboundQueue::add_whole(const Header& fixed, Bytes message) {
  if (is_stopped_) return;
  if (queue_.empty()) return deliver_whole(fixed, message);
  const Bytes payload = message.subspan(fixed.header_bytes);
  if (payload.size() >= kLongBytes) return add_long(fixed, message.first(fixed.header_bytes), payload);
  queue_copy(fixed, message);
}

// Nothing is in front of the message, so its payload needs no memory of the queue.
void InboundQueue::deliver_whole(const Header& fixed, Bytes message) {
  const Bytes header = message.first(fixed.header_bytes);
  const Bytes payload = message.subspan(fixed.header_bytes);
  *settings_.active = true;
  if (payload.size() >= kLongBytes && place_at_once(fixed, header, payload)) return;
  sink_.deliver(settings_.source, fixed, message);
}

// Copies a long payload that is here to its place. Returns false if it has none.
bool InboundQueue::place_at_once(const Header& fixed, Bytes header, Bytes payload) {
  std::byte* const place = sink_.placement(settings_.source, fixed, header, payload.size());
  if (place == nullptr || place == declined()) return false;
  copy(place, payload);
  sink_.placed(settings_.source, fixed, header, payload.size());
  return true;
}

// As deliver_whole(), for a long message whose parts lie apart.
void InboundQueue::deliver_parts(const Header& fixed, Bytes header, Bytes payload) {
  *settings_.active = true;
  if (place_at_once(fixed, header, payload)) return;
  const AlignedMemory whole = allocate_aligned(header.size() + payload.size());
  if (whole == nullptr) return fail_for_memory(payload.size());
  copy(whole.get(), header);
  copy(whole.get() + header.size(), payload);
  sink_.deliver(settings_.source, fixed, {whole.get(), header.size() + payload.size()});
}

std::byte* InboundQueue::place_parts(const Header& fixed, Bytes header, std::size_t payload_bytes) {
  return sink_.placement(settings_.source, fixed, header, payload_bytes);
}

void InboundQueue::add_placed(const Header& fixed, Bytes header, std::size_t payload_bytes) {
  if (is_stopped_) return;
  *settings_.active = true;
  sink_.placed(settings_.source, fixed, header, payload_bytes);
}

void InboundQueue::add_without_place(const Header& fixed, Bytes message) {
  if (is_stopped_) return;
  *settings_.active = true;
  sink_.deliver(settings_.source, fixed, message);
}

// A short message that waits is its own memory, header and payload.
void InboundQueue::queue_copy(const Header& fixed, Bytes message) {
  AlignedMemory own = allocate_aligned(message.size());
  if (own == nullptr) return fail_for_memory(message.size());
  copy(own.get(), message);
  push(fixed, message.size() - fixed.header_bytes, message.size()).own = std::move(own);
}

InboundMessage& InboundQueue::push(const Header& fixed, std::size_t payload_bytes, std::size_t waiting_bytes) {
  InboundMessage& message = *queue_.emplace_back(std::make_unique<InboundMessage>());
  message.queue = this;
  message.fixed = fixed;
  message.payload_bytes = payload_bytes;
  message.waiting_bytes = sizeof message + waiting_bytes;
  waiting_bytes_ += message.waiting_bytes;
  return message;
}

// `kept_bytes`: of the payload, if it is here.
InboundMessage& InboundQueue::push_long(const Header& fixed, Bytes header, std::size_t payload_bytes,
                                        std::size_t kept_bytes) {
  InboundMessage& message = push(fixed, payload_bytes, header.size() + kept_bytes);
  message.stage = Stage::unplaced;
  message.header.assign(header.begin(), header.end());
  return message;
}

void InboundQueue::add_long(const Header& fixed, Bytes header, Bytes payload) {
  if (is_stopped_) return;
  if (queue_.empty()) return deliver_parts(fixed, header, payload);
  InboundMessage& message = push_long(fixed, header, payload.size(), payload.size());
  advance();  // begins the message if it may
  if (!is_stopped_ && keep_copy(message, payload)) advance();
}

// Copies the payload to its destination, or keeps it if that is not known yet.
bool InboundQueue::keep_copy(InboundMessage& message, Bytes payload) {
  const bool has_begun = message.stage == Stage::begun;
  if (!has_begun) message.kept = allocate_aligned(payload.size());
  std::byte* const to = has_begun ? message.destination() : message.kept.get();
  if (to == nullptr) {
    fail_for_memory(payload.size());
    return false;
  }
  copy(to, payload);
  if (has_begun) message.stage = Stage::complete;
  return true;
}

void InboundQueue::add_announced(const Header& fixed, Bytes header, std::size_t payload_bytes,
                                 const FetchKey& fetch_key) {
  InboundMessage& message = push_long(fixed, header, payload_bytes, 0);
  message.is_fetched = true;
  message.fetch_key = fetch_key;
  advance();
}

void InboundQueue::complete(InboundMessage& message) {
  message.stage = Stage::complete;
  advance();
}

void InboundQueue::advance() {
  while (!queue_.empty() && !is_stopped_ && finish(*queue_.front())) {
    waiting_bytes_ -= queue_.front()->waiting_bytes;
    queue_.pop_front();
  }
  look_ahead();
}

// Delivers the first message. Returns false if bytes of it are still under way.
bool InboundQueue::finish(InboundMessage& message) {
  if (message.stage != Stage::whole) {
    if (message.stage == Stage::unplaced) find_place(message);
    if (message.stage == Stage::placed) begin(message);
    if (message.stage != Stage::complete || is_stopped_) return false;
  }
  *settings_.active = true;
  if (message.copied_to != nullptr)
    copy_block(message.copied_to, message.own.get() + message.fixed.header_bytes, message.payload_bytes);
  if (message.has_place()) {
    sink_.placed(settings_.source, message.fixed, message.header_bytes(), message.payload_bytes);
  } else {
    sink_.deliver(settings_.source, message.fixed,
                  {message.own.get(), message.fixed.header_bytes + message.payload_bytes});
  }
  return true;
}

// Asks for payloads behind the first one meanwhile; otherwise each would cost a round trip of its own. Not behind a
// message without a place: the sink has not seen it yet, and would take the later one first.
void InboundQueue::look_ahead() {
  std::size_t under_way = 0;
  for (const auto& message : queue_) {
    if (is_stopped_ || message->stage == Stage::whole || under_way == settings_.most_under_way) return;
    if (message->stage == Stage::unplaced) {
      if ((message->fixed.flags & kPlacedEarly) == 0) return;
      find_place(*message);
    }
    if (message->stage == Stage::placed) {
      if (would_overwrite(*message)) return;
      begin(*message);
    }
    if (!message->has_place()) return;
    ++under_way;
  }
}

// Returns true if the place of a message in front of this one overlaps its place.
bool InboundQueue::would_overwrite(const InboundMessage& message) const noexcept {
  for (const auto& other : queue_) {
    if (other.get() == &message) return false;
    if (other->overlaps(message)) return true;
  }
  return false;
}

void InboundQueue::find_place(InboundMessage& message) {
  message.stage = Stage::placed;
  message.place = sink_.placement(settings_.source, message.fixed, message.header_bytes(), message.payload_bytes);
  if (message.place == declined()) return decline(message);
  if (message.is_fetched && !settings_.places) message.copied_to = std::exchange(message.place, nullptr);
}

// A payload that is here needs no place.
void InboundQueue::decline(InboundMessage& message) {
  message.place = nullptr;
  if (!message.is_fetched) return;
  transport_.discard(message);
  message.is_fetched = false;
  message.payload_bytes = 0;
  if (make_own_memory(message)) message.stage = Stage::complete;
}

// Sends the payload on its way to its destination.
void InboundQueue::begin(InboundMessage& message) {
  if (message.place == nullptr && !make_own_memory(message)) return;
  message.stage = Stage::begun;
  if (message.kept != nullptr) {
    message.stage = Stage::complete;
    copy_block(message.destination(), message.kept.get(), message.payload_bytes);
    message.kept.reset();
  }
  if (message.is_fetched && transport_.fetch(message)) message.stage = Stage::complete;
}

bool InboundQueue::make_own_memory(InboundMessage& message) {
  const Bytes header = message.header_bytes();
  message.own = allocate_aligned(header.size() + message.payload_bytes);
  if (message.own == nullptr) {
    fail_for_memory(message.payload_bytes);
    return false;
  }
  copy(message.own.get(), header);
  return true;
}

void InboundQueue::fail_for_memory(std::size_t bytes) noexcept {
  is_stopped_ = true;
  transport_.out_of_memory(settings_.source, bytes);
}

void InboundQueue::discard_waiting() noexcept {
  is_stopped_ = true;
  for (const auto& message : queue_) {
    if (message->is_fetched && message->stage < Stage::begun) {
      transport_.discard(*message);
      message->is_fetched = false;
    }
  }
}

}  // namespace shmemx::transport
