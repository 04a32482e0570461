#include "transport/ethernet/decoder.hpp"

#include <cstring>

namespace shmemx::ethernet {
namespace {

bool has_right_content(const FrameHeader& header) noexcept {
  switch (header.kind) {
    case FrameKind::records:
    case FrameKind::block:
      return header.bytes != 0;
    case FrameKind::pull:
      return header.bytes == sizeof(PullRequest);
    case FrameKind::ack:
    case FrameKind::gone:
      return header.bytes == 0;
  }
  return false;
}

}  // namespace

bool read_frame(Bytes bytes, Frame& frame) noexcept {
  if (bytes.size() < sizeof frame.header) return false;
  std::memcpy(&frame.header, bytes.data(), sizeof frame.header);
  if (frame.header.bytes > bytes.size() - sizeof frame.header) return false;
  if (frame.header.window == 0 || (frame.header.flags & ~kAckNow) != 0) return false;
  frame.content = bytes.subspan(sizeof frame.header, frame.header.bytes);
  return has_right_content(frame.header);
}

PullRequest pull_request_of(const Frame& frame) noexcept {
  PullRequest request;
  std::memcpy(&request, frame.content.data(), sizeof request);
  return request;
}

const char* check_record(const transport::Record& record, Bytes content) noexcept {
  const std::size_t whole = whole_bytes_of(record);
  const RecordKind kind = kind_of(record);
  if (kind != RecordKind::first_part && whole != 0) return "a record of an unknown kind";
  switch (kind) {
    case RecordKind::message:
      return content.size() - record.fixed.header_bytes > kMediumBytes ? "a message that is too long" : nullptr;
    case RecordKind::first_part:
      if (whole <= content.size() || whole > kMediumBytes + kMaxHeaderBytes) return "a part of a wrong message";
      return record.fixed.header_bytes > whole ? "a header that is longer than its message" : nullptr;
    case RecordKind::next_part:
      return content.empty() ? "a part that is empty" : nullptr;
    case RecordKind::announced: {
      if (content.size() != sizeof(Announcement) + record.fixed.header_bytes) return "a broken announcement";
      const Announcement announcement = announcement_of(content);
      if (announcement.pushed > kMostBlockPackets) return "an announcement of too many packets";
      const std::size_t bytes = announcement.payload_bytes;
      return bytes < kLongBytes || bytes > kMaxPayloadBytes ? "an announcement of a wrong length" : nullptr;
    }
    case RecordKind::pulled:
      return content.size() != sizeof(std::uint64_t) ? "a broken note" : nullptr;
    case RecordKind::shutdown:
      return content.empty() ? nullptr : "a shutdown with a content";
  }
  return "a record of an unknown kind";
}

Announcement announcement_of(Bytes content) noexcept {
  Announcement announcement;
  std::memcpy(&announcement, content.data(), sizeof announcement);
  return announcement;
}

std::uint64_t handle_of(Bytes content) noexcept {
  std::uint64_t handle;
  std::memcpy(&handle, content.data(), sizeof handle);
  return handle;
}

}  // namespace shmemx::ethernet
