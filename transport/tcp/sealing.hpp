// Integrity of what travels on a connection (SHMEMX_NET_MAC=on): the stream is cut into records, each with a keyed hash
// of its number and content. The key belongs to one direction of one connection and comes from the handshake, so an
// altered, forged, repeated or missing record is noticed, and no byte of it is taken. The streams of the peers, and how
// they continue on another connection, are the same with and without records.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <memory>

#include "transport/common/handshake.hpp"
#include "transport/common/nh_hash.hpp"
#include "transport/tcp/outbox.hpp"

namespace shmemx::tcp {

using transport::ConnectionKeys;

class Sealing {
 public:
  static constexpr std::size_t kRecordBytes = std::size_t{32} << 10;  // of the longest content

  // `hash`, of contents up to kRecordBytes, outlives this.
  Sealing(const transport::NhHash& hash, const ConnectionKeys& keys) noexcept : hash_(&hash), keys_(keys) {}

  // As Outbox::write(). Bytes are gone when their record has been sent completely.
  Outbox::Written write(Outbox& out, int fd) noexcept;
  // Sends a record of its own, in front of all others. Returns false and sets errno if that is not possible at once.
  bool send(int fd, Bytes content) noexcept;
  // As readv(), of proven bytes; EBADMSG if a record is broken. Fills the areas as far as there are complete records.
  ssize_t read(int fd, const iovec* areas, int n) noexcept;
  // Returns whether read() has bytes for which the descriptor does not become readable.
  bool has_unread() const noexcept { return proven_ != 0 || is_record_complete(); }

 private:
  struct RecordHeader {
    std::uint32_t bytes;  // of the content
    std::uint32_t reserved;
    std::uint64_t proof;
  };
  static_assert(sizeof(RecordHeader) == 16);
  static constexpr std::size_t kMostBytes = sizeof(RecordHeader) + kRecordBytes;

  std::uint64_t proof_of(const std::uint64_t (&key)[2], std::uint64_t number, Bytes content) const noexcept;
  void seal(std::size_t content_bytes) noexcept;
  bool write_record(int fd) noexcept;
  bool is_record_complete() const noexcept;
  bool open_record() noexcept;
  std::size_t take(const iovec* areas, int n) noexcept;

  const transport::NhHash* hash_;
  ConnectionKeys keys_;
  std::uint64_t sent_number_ = 0;
  std::uint64_t received_number_ = 0;
  std::size_t content_bytes_ = 0;  // of the record that is being sent
  std::size_t record_bytes_ = 0;   // 0: none
  std::size_t record_sent_ = 0;
  std::size_t begin_ = 0;  // of received bytes that have not been taken
  std::size_t end_ = 0;
  std::size_t proven_ = 0;  // of those, the content of the record that has been opened
  std::array<std::byte, kMostBytes> record_;
  std::array<std::byte, 2 * kMostBytes> received_;
};

}  // namespace shmemx::tcp
