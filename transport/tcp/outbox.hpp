// The output of one peer: a stream of frames, copied to chunks of memory, and payloads that are sent from where they
// lie. What has been sent is kept until the other side has it, so that a broken connection can be followed by another
// one that continues where the other side has stopped to receive. Offsets count the bytes of the stream since the first
// connection.
#pragma once

#include <cstring>
#include <deque>
#include <utility>

#include "transport/tcp/chunks.hpp"
#include "transport/tcp/frame.hpp"

namespace shmemx::tcp {

class Outbox {
 public:
  enum class Written : std::uint8_t { all, some, failed };  // failed: errno says why

  Outbox() noexcept = default;
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  ~Outbox() { drop(); }

  bool empty() const noexcept { return bytes_ == 0; }                        // nothing is to be sent
  bool is_acknowledged() const noexcept { return kept_ == sent_ + bytes_; }  // nor is anything kept
  std::uint64_t unacknowledged() const noexcept { return sent_ + bytes_ - kept_; }
  std::uint64_t sent() const noexcept { return sent_; }
  std::uint64_t kept_from() const noexcept { return kept_; }         // offset of the first byte that can be sent again
  std::size_t unsent() const noexcept { return bytes_; }             // bytes to be sent
  std::size_t copied() const noexcept { return bytes_ - lasting_; }  // of those, in memory of the outbox
  std::size_t segments() const noexcept { return queue_.size() - first_; }  // to be sent
  bool lends() const noexcept { return lent_ != 0; }                        // a payload is in use where it lies

  // Appends a copy of the message.
  void append(const Header& fixed, Bytes header, Bytes payload) noexcept;
  // Appends a suspend frame for the socket of that number.
  void append_suspend(std::uint64_t number) noexcept { append_control(FrameKind::suspend, number); }
  // Appends the shutdown frame, once.
  void append_shutdown() noexcept {
    if (!std::exchange(is_shut_down_, true)) append_control(FrameKind::shutdown, 0);
  }
  // Appends a message whose payload is sent from where it lies. `outgoing` is done when the payload is not needed any
  // more: the other side has it, or the little that is missing has been copied.
  void append_lasting(const Header& fixed, Bytes header, Bytes payload, transport::Outgoing& outgoing) noexcept;
  // Appends, on the second rail, a part that is sent from where it lies.
  void append_part(const PartHeader& header, Bytes part, transport::Outgoing& outgoing) noexcept;

  // Appends the first part of a message whose second part travels on the other rail.
  void append_split(const SplitHeader& split, const Header& fixed, Bytes header, Bytes part,
                    transport::Outgoing& outgoing) noexcept;

  Written write(int fd) noexcept;
  // Copies the next bytes to be sent, as many as there are and have room. Returns their number.
  std::size_t copy_next(std::span<std::byte> to) const noexcept;
  // Notes that `bytes` have been sent.
  void gone(std::size_t bytes) noexcept;

  // Returns whether memory might be freed by acknowledge(): once for each chunk that has been filled.
  bool has_filled_chunk() const noexcept { return has_filled_chunk_; }
  // The other side has everything in front of `offset`, so it is not kept any more.
  void acknowledge(std::uint64_t offset) noexcept;
  // Copies the ends of payloads that have been sent, while there is room for copies, so that callers who are not
  // patient need not wait for the other side.
  void release_payloads() noexcept;
  // Copies what is here of a payload that is in use: it is not needed any more.
  void keep_payload(const transport::Outgoing& outgoing) noexcept;
  // Continues at `offset`: everything behind is sent once more. Returns false if not everything behind it is kept, or
  // if it has never been sent.
  bool rewind(std::uint64_t offset) noexcept;
  // Drops everything. The stream goes on behind it.
  void drop() noexcept;

  static constexpr std::size_t kMostCopied = std::size_t{256} << 10;  // of one payload that is sent where it lies

 private:
  struct Segment {
    const std::byte* data;
    std::size_t bytes;
    transport::Outgoing* outgoing;  // done with the segment
    Chunks::Chunk* chunk;           // freed with it
    std::size_t copies_end;         // the end of a payload: behind its copy, in copies_; otherwise 0
  };
  // A ring of copies, which are made and freed in the same order. Positions grow without end.
  struct Copies {
    static constexpr std::size_t kBytes = 2 * kMostCopied;
    std::byte* memory = nullptr;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::byte* add(Bytes bytes) noexcept;
    void reset() noexcept;
  };

  std::byte* reserve(std::size_t bytes) noexcept {
    bytes_ += bytes;
    std::byte* const place = chunks_.try_reserve(bytes);
    return place != nullptr ? place : reserve_in_next(bytes);
  }
  void append_control(FrameKind kind, std::uint64_t number) noexcept;
  void append_long(FrameKind kind, const Header& fixed, Bytes header, Bytes payload,
                   transport::Outgoing& outgoing) noexcept;
  void append_payload(Bytes payload, std::size_t message_bytes, transport::Outgoing& outgoing) noexcept;
  std::byte* reserve_in_next(std::size_t bytes) noexcept;
  void close_open(Chunks::Chunk* chunk) noexcept;
  void finish(const Segment& segment) noexcept;

  std::deque<Segment> queue_;  // in front of the open part
  std::size_t first_ = 0;      // the first segment that has not been sent completely; their number: the open part is
  std::size_t part_ = 0;       // bytes of that one that have been sent
  Chunks chunks_;
  std::size_t bytes_ = 0;    // all that is to be sent
  std::size_t lasting_ = 0;  // of those, in payloads that are not copied
  std::size_t lent_ = 0;     // segments with an Outgoing
  Copies copies_;
  std::uint64_t sent_ = 0;  // offset of the next byte to be sent
  std::uint64_t kept_ = 0;  // offset of the first byte that is here
  bool has_filled_chunk_ = false;
  bool is_shut_down_ = false;  // the shutdown frame has been appended
};

}  // namespace shmemx::tcp
