// What is on its way out of one connection: messages copied to chunks of memory, and payloads that lie elsewhere, in
// order.
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
  std::size_t copied() const noexcept { return bytes_ - lasting_; }  // bytes that take memory here
  std::size_t segments() const noexcept { return queue_.size(); }

  // Takes a copy.
  void append(const Header& fixed, Bytes header, Bytes payload) noexcept;
  void append_good_bye() noexcept;
  // The payload is read where it lies; `outgoing` is done when it has gone.
  void append_lasting(const Header& fixed, Bytes header, Bytes payload, transport::Outgoing& outgoing) noexcept;
  // Takes what is left of a message of which `sent` bytes have been written by somebody else; the box is empty.
  // `outgoing` null: takes a copy. True when the payload stays in use.
  bool append_rest(Bytes start, Bytes payload, std::size_t sent, transport::Outgoing* outgoing) noexcept;

  // Bytes that are not a frame by themselves, such as what precedes the first one.
  void append_bytes(Bytes bytes) noexcept;

  Written write(int fd) noexcept;
  // Forgets everything.
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

  std::deque<Segment> queue_;  // before what is open
  std::byte* open_ = nullptr;  // what is open: [open_, at_) of chunk_
  std::byte* at_ = nullptr;
  std::byte* limit_ = nullptr;  // of chunk_
  Chunk* chunk_ = nullptr;
  std::size_t bytes_ = 0;    // all that waits
  std::size_t lasting_ = 0;  // of those, in payloads that lie elsewhere
};

}  // namespace shmemx::tcp
