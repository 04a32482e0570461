// Buffers in which short messages to one PE wait and travel together.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "base/bulk_copy.hpp"
#include "transport/ucx/wire.hpp"

namespace shmemx::ucx {

inline constexpr std::size_t kGatherBytes = std::size_t{8} << 10;  // from here on a staging leaves at once

struct Peer;

struct Staging {
  static constexpr std::size_t kLargestRecord = transport::record_bytes(kMaxHeaderBytes + kLongBytes);

  alignas(transport::kRecordAlign) std::byte bytes[sizeof(Envelope) + kGatherBytes + kLargestRecord];
  std::size_t used;
  Peer* peer;  // while it is in flight

  bool is_empty() const noexcept { return used == sizeof(Envelope); }
  bool has_room_for(std::size_t record_bytes) const noexcept { return sizeof bytes - used >= record_bytes; }

  void add(const Header& fixed, Bytes header, Bytes payload) noexcept {
    const transport::Record record{fixed, static_cast<std::uint32_t>(header.size() + payload.size()),
                                   transport::kMessageRecord};
    std::byte* at = bytes + used;
    const std::size_t bytes_added = transport::record_bytes(record.bytes);
    // Padding must not show what the memory held before.
    std::memset(at + bytes_added - transport::kRecordAlign, 0, transport::kRecordAlign);
    std::memcpy(at, &record, sizeof record);
    if (!header.empty()) std::memcpy(at + sizeof record, header.data(), header.size());
    if (!payload.empty()) copy_block(at + sizeof record + header.size(), payload.data(), payload.size());
    used += bytes_added;
  }
};

using StagingPtr = std::unique_ptr<Staging>;

class StagingPool {
 public:
  // Returns an empty staging. Its bytes are not initialised; they are written before they are read.
  StagingPtr take() {
    StagingPtr staging;
    if (spare_.empty()) {
      staging.reset(new Staging);
    } else {
      staging = std::move(spare_.back());
      spare_.pop_back();
    }
    staging->used = sizeof(Envelope);
    return staging;
  }

  void give_back(StagingPtr staging) {
    if (spare_.size() < kMostSpare) spare_.push_back(std::move(staging));
  }

 private:
  static constexpr std::size_t kMostSpare = 64;
  std::vector<StagingPtr> spare_;
};

}  // namespace shmemx::ucx
