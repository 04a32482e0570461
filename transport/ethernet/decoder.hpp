// From bytes of the network to frames and records. Pure. Nothing is trusted: each length is checked before its use.
#pragma once

#include "transport/common/record.hpp"
#include "transport/ethernet/frame.hpp"

namespace shmemx::ethernet {

struct Frame {
  FrameHeader header;
  Bytes content;
};

// Reads what follows the Ethernet header. Returns false if it is no frame: too short, of an unknown kind, or with a
// content that its kind cannot have. It says nothing about who has sent it.
bool read_frame(Bytes bytes, Frame& frame) noexcept;

// Reads the request of a pull frame.
PullRequest pull_request_of(const Frame& frame) noexcept;

constexpr RecordKind kind_of(const transport::Record& record) noexcept {
  return static_cast<RecordKind>(record.kind & ((1U << kRecordKindBits) - 1));
}
// The length of the whole message, of a record of kind first_part.
constexpr std::size_t whole_bytes_of(const transport::Record& record) noexcept {
  return record.kind >> kRecordKindBits;
}
constexpr std::uint32_t record_kind(RecordKind kind, std::size_t whole_bytes = 0) noexcept {
  return static_cast<std::uint32_t>(whole_bytes << kRecordKindBits) | static_cast<std::uint32_t>(kind);
}

// Returns what is wrong with a record that RecordReader has taken, or null if nothing is.
const char* check_record(const transport::Record& record, Bytes content) noexcept;
// Reads the announcement of a checked record.
Announcement announcement_of(Bytes content) noexcept;
// Reads the handle of a checked record of kind `pulled`.
std::uint64_t handle_of(Bytes content) noexcept;

}  // namespace shmemx::ethernet
