#include "tasks/incoming.hpp"

#include <cstring>

#include "base/bulk_copy.hpp"
#include "base/cache_line.hpp"

namespace shmemx::tasks {
namespace {

constexpr std::size_t footprint(std::size_t bytes) { return sizeof(Record) + round_up(bytes, sizeof(Record)); }

}  // namespace

Buffer* Incoming::buffer_for(int source, std::size_t bytes) noexcept {
  if (footprint(bytes) <= kBufferBytes) {
    if (Buffer* const buffer = unused_.take()) return buffer;
  }
  return make_buffer(budget_, footprint(bytes), source);
}

void Incoming::append(Buffer* buffer) noexcept {
  buffer->next = nullptr;
  (first_ == nullptr ? first_ : last_->next) = buffer;
  last_ = buffer;
}

std::byte* Incoming::add_record(Buffer& buffer, int source, std::size_t bytes, bool is_mixed) noexcept {
  const Record record{source, static_cast<std::uint32_t>(bytes) & 0x7fffffffU, is_mixed ? 1U : 0U};
  std::byte* const at = buffer.data() + buffer.used;
  std::memcpy(at, &record, sizeof record);
  buffer.used += static_cast<std::uint32_t>(footprint(bytes));
  return at + sizeof record;
}

std::byte* Incoming::place_of(int source, std::size_t bytes, bool is_mixed) noexcept {
  if (last_ == nullptr || last_->room() < footprint(bytes)) append(buffer_for(source, bytes));
  std::byte* const at = add_record(*last_, source, bytes, is_mixed);
  has_any_.store(true, std::memory_order_relaxed);  // the lock orders the tasks
  return at;
}

void Incoming::add(int source, Bytes message, bool is_mixed) noexcept {
  copy_payload(place_of(source, message.size(), is_mixed), message);
}

bool Incoming::add_piece(int source, const PieceHead& head, Bytes piece, Buffer*& whole) noexcept {
  if (head.total > am::Batch::room_for(kMostHeadBytes + kMaxPayloadBytes)) return false;
  const auto make = [&](Buffer*& buffer) {
    buffer = buffer_for(source, head.total);
    return add_record(*buffer, source, head.total, true);
  };
  return partials_.add(source, head, piece, make, whole) != PartialMessages<Buffer*>::Added::damaged;
}

Buffer* Incoming::make_pulled(int source, Bytes item, std::size_t payload_bytes, std::byte*& payload) noexcept {
  Buffer* const buffer = buffer_for(source, item.size() + payload_bytes);
  std::byte* const at = add_record(*buffer, source, item.size() + payload_bytes, true);
  std::memcpy(at, item.data(), item.size());
  payload = at + item.size();
  return buffer;
}

Bytes Incoming::message_of(Buffer& buffer) noexcept {
  Record record;
  std::memcpy(&record, buffer.data(), sizeof record);
  return {buffer.data() + sizeof record, record.bytes};
}

Buffer* Incoming::take_all(BufferList& unused) noexcept {
  while (Buffer* const buffer = unused.take()) {
    if (unused_.count() < kMostUnused) {
      unused_.add(buffer);
    } else {
      release_share(budget_, buffer);
    }
  }
  Buffer* const first = first_;
  first_ = last_ = nullptr;
  has_any_.store(false, std::memory_order_relaxed);  // under the lock
  return first;
}

void Incoming::clear() noexcept {
  BufferList none;
  for (Buffer* buffer = take_all(none); buffer != nullptr;) {
    Buffer* const next = buffer->next;
    release_share(budget_, buffer);
    buffer = next;
  }
  partials_.clear([this](Buffer* buffer) { drop(buffer); });
}

}  // namespace shmemx::tasks
