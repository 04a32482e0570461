#include "transport/tcp/outbox.hpp"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "base/bulk_copy.hpp"
#include "base/cache_line.hpp"
#include "transport/tcp/unmapped.hpp"

namespace shmemx::tcp {

namespace {

constexpr int kMaxAreas = 64;

void copy(std::byte*& to, Bytes from) noexcept {
  if (!from.empty()) copy_block(to, from.data(), from.size());
  to += from.size();
}

// Copies a frame header. The destination may have any alignment, since the rest of a message may end anywhere.
void put_frame(std::byte*& to, const FrameHeader& frame) noexcept {
  std::memcpy(to, &frame, sizeof frame);
  to += sizeof frame;
}

}  // namespace

void Outbox::append(const Header& fixed, Bytes header, Bytes payload) noexcept {
  const std::size_t message_bytes = header.size() + payload.size();
  const std::size_t padding = padding_of(message_bytes);
  std::byte* to = reserve(sizeof(FrameHeader) + message_bytes + padding);
  put_frame(to, {static_cast<std::uint32_t>(message_bytes), FrameKind::message, 0, fixed});
  copy(to, header);
  copy(to, payload);
  std::memset(to, 0, padding);
}

void Outbox::append_control(FrameKind kind, std::uint64_t number) noexcept {
  std::byte* to = reserve(sizeof(FrameHeader));
  put_frame(to, {0, kind, 0, std::bit_cast<Header>(number)});
}

void Outbox::append_lasting(const Header& fixed, Bytes header, Bytes payload, transport::Outgoing& outgoing) noexcept {
  append_long(FrameKind::message, fixed, header, payload, outgoing);
}

void Outbox::append_part(const PartHeader& header, Bytes part, transport::Outgoing& outgoing) noexcept {
  append_long(FrameKind::part, {0, 0, sizeof header, 0}, std::as_bytes(std::span(&header, 1)), part, outgoing);
}

void Outbox::append_long(FrameKind kind, const Header& fixed, Bytes header, Bytes payload,
                         transport::Outgoing& outgoing) noexcept {
  const std::size_t message_bytes = header.size() + payload.size();
  std::byte* to = reserve(sizeof(FrameHeader) + header.size());
  put_frame(to, {static_cast<std::uint32_t>(message_bytes), kind, 0, fixed});
  copy(to, header);
  append_payload(payload, message_bytes, outgoing);
}

void Outbox::append_split(const SplitHeader& split, const Header& fixed, Bytes header, Bytes part,
                          transport::Outgoing& outgoing) noexcept {
  const std::size_t message_bytes = sizeof split + header.size() + part.size();
  std::byte* to = reserve(sizeof(FrameHeader) + sizeof split + header.size());
  put_frame(to, {static_cast<std::uint32_t>(message_bytes), FrameKind::split, 0, fixed});
  copy(to, std::as_bytes(std::span(&split, 1)));
  copy(to, header);
  append_payload(part, message_bytes, outgoing);
}

void Outbox::append_payload(Bytes payload, std::size_t message_bytes, transport::Outgoing& outgoing) noexcept {
  close_open(nullptr);
  queue_.push_back({payload.data(), payload.size(), &outgoing, nullptr, 0});
  bytes_ += payload.size();
  lasting_ += payload.size();
  ++lent_;
  const std::size_t padding = padding_of(message_bytes);
  std::memset(reserve(padding), 0, padding);
}

// Makes the open part a segment. A chunk that is used up is freed with it.
void Outbox::close_open(Chunks::Chunk* chunk) noexcept {
  const std::size_t bytes = chunks_.open_bytes();
  if (bytes == 0 && chunk == nullptr) return;
  const bool is_sent = first_ == queue_.size() && part_ == bytes;
  queue_.push_back({chunks_.open(), bytes, nullptr, chunk, 0});
  chunks_.close();
  if (!is_sent) return;
  ++first_;
  part_ = 0;
}

std::byte* Outbox::reserve_in_next(std::size_t bytes) noexcept {
  if (chunks_.present() != nullptr) close_open(chunks_.present());
  has_filled_chunk_ = true;
  return chunks_.reserve_in_next(bytes);
}

Outbox::Written Outbox::write(int fd) noexcept {
  while (bytes_ != 0) {
    iovec areas[kMaxAreas];
    std::size_t n = 0;
    std::size_t asked = 0;
    std::size_t part = part_;
    std::size_t i = first_;
    for (; i < queue_.size() && n < kMaxAreas - 1; ++i) {
      if (queue_[i].bytes > part) areas[n++] = {const_cast<std::byte*>(queue_[i].data) + part, queue_[i].bytes - part};
      asked += queue_[i].bytes - part;
      part = 0;
    }
    const std::size_t open = chunks_.open_bytes() - part;
    if (i == queue_.size() && open != 0) {
      areas[n++] = {const_cast<std::byte*>(chunks_.open()) + part, open};
      asked += open;
    }
    ssize_t sent = 0;
    if (n == 1) {
      sent = ::send(fd, areas[0].iov_base, areas[0].iov_len, MSG_NOSIGNAL);
    } else {
      msghdr message{};
      message.msg_iov = areas;
      message.msg_iovlen = n;
      sent = ::sendmsg(fd, &message, MSG_NOSIGNAL);
    }
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EFAULT) end_with_unmapped(areas, n, "read");
      return errno == EAGAIN || errno == EWOULDBLOCK ? Written::some : Written::failed;
    }
    gone(static_cast<std::size_t>(sent));
    if (static_cast<std::size_t>(sent) < asked) return Written::some;
  }
  return Written::all;
}

std::size_t Outbox::copy_next(std::span<std::byte> to) const noexcept {
  std::size_t copied = 0;
  std::size_t part = part_;
  const auto take = [&](const std::byte* data, std::size_t bytes) {
    const std::size_t now = std::min(bytes - part, to.size() - copied);
    if (now != 0) copy_block(to.data() + copied, data + part, now);
    copied += now;
    part = 0;
  };
  for (std::size_t i = first_; i < queue_.size() && copied < to.size(); ++i) take(queue_[i].data, queue_[i].bytes);
  if (copied < to.size()) take(chunks_.open(), chunks_.open_bytes());
  return copied;
}

void Outbox::gone(std::size_t bytes) noexcept {
  bytes_ -= bytes;
  sent_ += bytes;
  while (first_ < queue_.size()) {
    const Segment& next = queue_[first_];
    const std::size_t now = std::min(bytes, next.bytes - part_);
    if (next.outgoing != nullptr) lasting_ -= now;
    part_ += now;
    bytes -= now;
    if (part_ < next.bytes) return;
    ++first_;
    part_ = 0;
  }
  part_ += bytes;
}

void Outbox::acknowledge(std::uint64_t offset) noexcept {
  has_filled_chunk_ = false;
  if (offset > kept_) {
    std::size_t bytes = offset - kept_;
    kept_ = offset;
    while (!queue_.empty()) {
      Segment& oldest = queue_.front();
      const std::size_t part = std::min(bytes, oldest.bytes);
      oldest.data += part;
      oldest.bytes -= part;
      bytes -= part;
      if (first_ == 0) part_ -= part;
      if (first_ == 0 || oldest.bytes != 0) break;
      finish(oldest);
      queue_.pop_front();
      --first_;
    }
    if (queue_.empty()) {
      chunks_.trim(bytes);
      part_ -= bytes;
    }
  }
  if (lent_ != 0) release_payloads();
}

void Outbox::finish(const Segment& segment) noexcept {
  if (segment.outgoing != nullptr) {
    segment.outgoing->done = true;
    --lent_;
  }
  if (segment.copies_end != 0) copies_.begin = segment.copies_end;
  chunks_.recycle(segment.chunk);
}

std::byte* Outbox::Copies::add(Bytes bytes) noexcept {
  if (memory == nullptr) memory = static_cast<std::byte*>(std::malloc(kBytes));
  if (memory == nullptr) return nullptr;
  if (begin == end) begin = end = 0;  // the first bytes are the ones that caches have
  std::size_t at = end;
  if (at % kBytes + bytes.size() > kBytes) at = round_up(at, kBytes);
  if (at + bytes.size() - begin > kBytes) return nullptr;
  end = at + bytes.size();
  std::byte* const to = memory + at % kBytes;
  copy_block(to, bytes.data(), bytes.size());
  return to;
}

void Outbox::Copies::reset() noexcept {
  std::free(std::exchange(memory, nullptr));
  begin = end = 0;
}

void Outbox::release_payloads() noexcept {
  for (std::size_t i = 0; lent_ != 0 && i < first_; ++i) {
    Segment& sent = queue_[i];
    if (sent.outgoing == nullptr || sent.outgoing->is_patient) continue;
    const std::byte* const copy = sent.bytes > kMostCopied ? nullptr : copies_.add({sent.data, sent.bytes});
    if (copy == nullptr) return;
    sent.data = copy;
    sent.copies_end = copies_.end;
    std::exchange(sent.outgoing, nullptr)->done = true;
    --lent_;
  }
}

// Not a part of copies_: payloads in front may be copied later.
void Outbox::keep_payload(const transport::Outgoing& outgoing) noexcept {
  for (std::size_t i = queue_.size(); i-- > 0 && !outgoing.done;) {
    Segment& kept = queue_[i];
    if (kept.outgoing != &outgoing) continue;
    if (i >= first_) lasting_ -= kept.bytes - (i == first_ ? part_ : 0);
    kept.chunk = Chunks::make(kept.bytes);
    copy_block(kept.chunk->memory(), kept.data, kept.bytes);
    kept.data = kept.chunk->memory();
    kept.outgoing = nullptr;
    --lent_;
    return;
  }
}

bool Outbox::rewind(std::uint64_t offset) noexcept {
  if (offset < kept_ || offset > sent_) return false;
  acknowledge(offset);
  bytes_ += sent_ - offset;
  sent_ = offset;
  first_ = part_ = 0;
  lasting_ = 0;
  for (const Segment& segment : queue_) lasting_ += segment.outgoing != nullptr ? segment.bytes : 0;
  return true;
}

void Outbox::drop() noexcept {
  for (const Segment& segment : queue_) {
    if (segment.outgoing != nullptr) segment.outgoing->done = true;
    chunks_.recycle(segment.chunk);
  }
  queue_.clear();
  chunks_.drop();
  sent_ += bytes_;
  kept_ = sent_;
  copies_.reset();
  first_ = part_ = bytes_ = lasting_ = lent_ = 0;
  has_filled_chunk_ = false;
}

}  // namespace shmemx::tcp
