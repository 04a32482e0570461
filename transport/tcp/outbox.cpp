#include "transport/tcp/outbox.hpp"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/cache_line.hpp"
#include "base/fatal.hpp"

namespace shmemx::tcp {

namespace {

constexpr std::size_t kChunkBytes = std::size_t{96} << 10;
constexpr int kMaxAreas = 32;

void copy(std::byte*& to, Bytes from) noexcept {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
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

void Outbox::append_control(FrameKind kind) noexcept {
  std::byte* to = reserve(sizeof(FrameHeader));
  put_frame(to, {0, kind, 0, {}});
}

void Outbox::append_lasting(const Header& fixed, Bytes header, Bytes payload, transport::Outgoing& outgoing) noexcept {
  const std::size_t message_bytes = header.size() + payload.size();
  std::byte* to = reserve(sizeof(FrameHeader) + header.size());
  put_frame(to, {static_cast<std::uint32_t>(message_bytes), FrameKind::message, 0, fixed});
  copy(to, header);
  close_open(nullptr);
  queue_.push_back({payload.data(), payload.size(), &outgoing, nullptr});
  bytes_ += payload.size();
  lasting_ += payload.size();
  const std::size_t padding = padding_of(message_bytes);
  std::memset(reserve(padding), 0, padding);
}

bool Outbox::append_rest(Bytes start, Bytes payload, std::size_t sent, transport::Outgoing* outgoing) noexcept {
  const std::size_t padding = padding_of(start.size() + payload.size());
  std::size_t skip = std::min(sent, start.size());
  append_bytes(start.subspan(skip));
  sent -= skip;
  skip = std::min(sent, payload.size());
  const Bytes rest = payload.subspan(skip);
  sent -= skip;
  const bool stays = outgoing != nullptr && !rest.empty();
  if (stays) {
    close_open(nullptr);
    queue_.push_back({rest.data(), rest.size(), outgoing, nullptr});
    bytes_ += rest.size();
    lasting_ += rest.size();
  } else {
    append_bytes(rest);
  }
  std::memset(reserve(padding - sent), 0, padding - sent);
  return stays;
}

void Outbox::append_bytes(Bytes bytes) noexcept {
  std::byte* to = reserve(bytes.size());
  copy(to, bytes);
}

// Makes the open part a segment. A chunk that is used up is freed with it.
void Outbox::close_open(Chunk* chunk) noexcept {
  if (at_ == open_ && chunk == nullptr) return;
  queue_.push_back({open_, static_cast<std::size_t>(at_ - open_), nullptr, chunk});
  open_ = at_;
}

void Outbox::next_chunk(std::size_t bytes) noexcept {
  if (chunk_ != nullptr) close_open(chunk_);
  const std::size_t wanted = std::max(kChunkBytes, round_up(bytes, kCacheLine));
  void* const memory = std::malloc(sizeof(Chunk) + wanted);
  if (memory == nullptr) fatal(nullptr, "tcp: no memory for %zu bytes of messages to be sent", wanted);
  chunk_ = new (memory) Chunk{wanted};
  open_ = at_ = chunk_->memory();
  limit_ = at_ + wanted;
}

Outbox::Written Outbox::write(int fd) noexcept {
  while (bytes_ != 0) {
    iovec areas[kMaxAreas];
    std::size_t n = 0;
    std::size_t asked = 0;
    for (std::size_t i = 0; i < queue_.size() && n < kMaxAreas - 1; ++i) {
      if (queue_[i].bytes == 0) continue;
      areas[n++] = {const_cast<std::byte*>(queue_[i].data), queue_[i].bytes};
      asked += queue_[i].bytes;
    }
    if (queue_.size() < kMaxAreas - 1 && at_ != open_) {
      areas[n++] = {open_, static_cast<std::size_t>(at_ - open_)};
      asked += static_cast<std::size_t>(at_ - open_);
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
      return errno == EAGAIN || errno == EWOULDBLOCK ? Written::some : Written::failed;
    }
    gone(static_cast<std::size_t>(sent));
    if (static_cast<std::size_t>(sent) < asked) return Written::some;
  }
  return Written::all;
}

void Outbox::gone(std::size_t bytes) noexcept {
  bytes_ -= bytes;
  while (!queue_.empty()) {
    Segment& first = queue_.front();
    const std::size_t part = std::min(bytes, first.bytes);
    first.data += part;
    first.bytes -= part;
    bytes -= part;
    if (first.outgoing != nullptr) lasting_ -= part;
    if (first.bytes != 0) return;
    if (first.outgoing != nullptr) first.outgoing->done = true;
    std::free(first.chunk);
    queue_.pop_front();
  }
  open_ += bytes;
  if (open_ != at_ || chunk_ == nullptr) return;
  open_ = at_ = chunk_->memory();
  if (chunk_->bytes > kChunkBytes) drop();  // it was made for one long message
}

void Outbox::drop() noexcept {
  for (const Segment& segment : queue_) {
    if (segment.outgoing != nullptr) segment.outgoing->done = true;
    std::free(segment.chunk);
  }
  queue_.clear();
  std::free(chunk_);
  chunk_ = nullptr;
  open_ = at_ = limit_ = nullptr;
  bytes_ = lasting_ = 0;
}

}  // namespace shmemx::tcp
