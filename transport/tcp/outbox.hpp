// The output of one connection, in order: messages copied to chunks of memory, and payloads that are sent from where
// they lie.
#pragma once

#include <cstring>
#include <deque>

#include "transport/tcp/frame.hpp"

namespace shmemx::tcp {

class Outbox {
 public:
  enum class Written : std::uint8_t { all, some, failed };  // failed: errno says why

  Outbox() noexcept = default;
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  ~Outbox() { drop(); }

  bool empty() const noexcept { return bytes_ == 0; }
  std::size_t copied() const noexcept { return bytes_ - lasting_; }  // bytes that take memory of the outbox
  std::size_t segments() const noexcept { return queue_.size(); }

  // Appends a copy of the message.
  void append(const Header& fixed, Bytes header, Bytes payload) noexcept;
  // Appends a frame without a message.
  void append_control(FrameKind kind) noexcept;
  // Appends a message whose payload is sent from where it lies. `outgoing` is done when it has been sent.
  void append_lasting(const Header& fixed, Bytes header, Bytes payload, transport::Outgoing& outgoing) noexcept;
  // Appends the rest of a message of which the caller has sent the first `sent` bytes. The outbox is empty. Copies the
  // payload if `outgoing` is null. Returns true if the payload stays in use.
  bool append_rest(Bytes start, Bytes payload, std::size_t sent, transport::Outgoing* outgoing) noexcept;

  // Appends bytes that are no frame.
  void append_bytes(Bytes bytes) noexcept;

  Written write(int fd) noexcept;
  // Drops everything.
  void drop() noexcept;

 private:
  struct Chunk {
    std::size_t bytes;
    std::byte* memory() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  };
  struct Segment {
    const std::byte* data;
    std::size_t bytes;
    transport::Outgoing* outgoing;  // done with the segment
    Chunk* chunk;                   // freed with it
  };

  std::byte* reserve(std::size_t bytes) noexcept {
    if (static_cast<std::size_t>(limit_ - at_) < bytes) [[unlikely]]
      next_chunk(bytes);
    std::byte* const place = at_;
    at_ += bytes;
    bytes_ += bytes;
    return place;
  }
  void next_chunk(std::size_t bytes) noexcept;
  void close_open(Chunk* chunk) noexcept;
  void gone(std::size_t bytes) noexcept;

  std::deque<Segment> queue_;  // in front of the open part
  std::byte* open_ = nullptr;  // the open part: [open_, at_) of chunk_
  std::byte* at_ = nullptr;
  std::byte* limit_ = nullptr;  // of chunk_
  Chunk* chunk_ = nullptr;
  std::size_t bytes_ = 0;    // all that is to be sent
  std::size_t lasting_ = 0;  // of those, in payloads that are not copied
};

}  // namespace shmemx::tcp
