#include "transport/tcp/sealing.hpp"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "base/bulk_copy.hpp"
#include "transport/common/authentication.hpp"
#include "transport/common/keyed_hash.hpp"

namespace shmemx::tcp {

std::uint64_t Sealing::proof_of(const std::uint64_t (&key)[2], std::uint64_t number, Bytes content) const noexcept {
  const transport::NhHash::Digest digest = hash_->digest(content);
  const std::uint64_t words[] = {number, content.size(), digest.low, digest.high};
  return transport::keyed_hash(key, words);
}

// ---- sending ----

// Makes a record of the content that lies in its place.
void Sealing::seal(std::size_t content_bytes) noexcept {
  const Bytes content = Bytes(record_).subspan(sizeof(RecordHeader), content_bytes);
  const RecordHeader header{static_cast<std::uint32_t>(content_bytes), 0,
                            proof_of(keys_.sending, sent_number_++, content)};
  std::memcpy(record_.data(), &header, sizeof header);
  content_bytes_ = content_bytes;
  record_bytes_ = sizeof header + content_bytes;
  record_sent_ = 0;
}

// Returns whether the record has been sent completely. Otherwise errno says why.
bool Sealing::write_record(int fd) noexcept {
  while (record_sent_ < record_bytes_) {
    const ssize_t sent = ::send(fd, record_.data() + record_sent_, record_bytes_ - record_sent_, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    record_sent_ += static_cast<std::size_t>(sent);
  }
  record_bytes_ = 0;
  return true;
}

Outbox::Written Sealing::write(Outbox& out, int fd) noexcept {
  while (!out.empty()) {
    if (record_bytes_ == 0) seal(out.copy_next(std::span(record_).subspan(sizeof(RecordHeader))));
    if (!write_record(fd)) {
      return errno == EAGAIN || errno == EWOULDBLOCK ? Outbox::Written::some : Outbox::Written::failed;
    }
    out.gone(content_bytes_);
  }
  return Outbox::Written::all;
}

bool Sealing::send(int fd, Bytes content) noexcept {
  copy_block(record_.data() + sizeof(RecordHeader), content.data(), content.size());
  seal(content.size());
  return write_record(fd);
}

// ---- receiving ----

// Returns whether the next record, or one that is broken, is here.
bool Sealing::is_record_complete() const noexcept {
  if (end_ - begin_ < proven_ + sizeof(RecordHeader)) return false;
  RecordHeader header;
  std::memcpy(&header, received_.data() + begin_ + proven_, sizeof header);
  return header.bytes > kRecordBytes || end_ - begin_ - proven_ >= sizeof header + header.bytes;
}

// Checks the next record, which is complete. Returns false if it is broken.
bool Sealing::open_record() noexcept {
  RecordHeader header;
  std::memcpy(&header, received_.data() + begin_, sizeof header);
  if (header.bytes == 0 || header.bytes > kRecordBytes || header.reserved != 0) return false;
  const Bytes content = Bytes(received_).subspan(begin_ + sizeof header, header.bytes);
  if (!transport::is_same_proof(header.proof, proof_of(keys_.receiving, received_number_, content))) return false;
  ++received_number_;
  begin_ += sizeof header;
  proven_ = header.bytes;
  return true;
}

std::size_t Sealing::take(const iovec* areas, int n) noexcept {
  std::size_t taken = 0;
  for (int i = 0; i < n; ++i) {
    auto* const area = static_cast<std::byte*>(areas[i].iov_base);
    std::size_t filled = 0;
    while (filled < areas[i].iov_len) {
      if (proven_ == 0 && (!is_record_complete() || !open_record())) return taken;
      const std::size_t bytes = std::min(proven_, areas[i].iov_len - filled);
      copy_block(area + filled, received_.data() + begin_, bytes);
      begin_ += bytes;
      proven_ -= bytes;
      filled += bytes;
      taken += bytes;
    }
  }
  return taken;
}

ssize_t Sealing::read(int fd, const iovec* areas, int n) noexcept {
  for (;;) {
    if (const std::size_t taken = take(areas, n); taken != 0) return static_cast<ssize_t>(taken);
    if (is_record_complete()) {  // but it cannot be opened
      errno = EBADMSG;
      return -1;
    }
    std::memmove(received_.data(), received_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    const ssize_t got = ::recv(fd, received_.data() + end_, received_.size() - end_, 0);
    if (got <= 0) return got;
    end_ += static_cast<std::size_t>(got);
  }
}

}  // namespace shmemx::tcp
