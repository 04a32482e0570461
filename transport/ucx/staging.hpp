// Buffers in which short messages of one PE wait and travel together.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "transport/ucx/wire.hpp"

namespace shmemx::ucx {

inline constexpr std::size_t kGatherBytes = std::size_t{8} << 10;  // full enough to leave

struct Peer;

struct Staging {
  alignas(kRecordAlign) std::byte bytes[sizeof(Envelope) + kGatherBytes + kLargestRecord];
  std::size_t used;
  Peer* peer;  // while it is in flight

  bool is_empty() const noexcept { return used == sizeof(Envelope); }
  bool has_room_for(std::size_t record_bytes) const noexcept { return sizeof bytes - used >= record_bytes; }

  void add(const Header& fixed, Bytes header, Bytes payload) noexcept {
    const RecordHeader record{fixed, static_cast<std::uint32_t>(header.size() + payload.size()), 0};
    std::byte* at = bytes + used;
    const std::size_t record_bytes = sizeof record + padded(record.bytes);
    std::memset(at + record_bytes - kRecordAlign, 0, kRecordAlign);  // what is padding must not be somebody's memory
    std::memcpy(at, &record, sizeof record);
    if (!header.empty()) std::memcpy(at + sizeof record, header.data(), header.size());
    if (!payload.empty()) std::memcpy(at + sizeof record + header.size(), payload.data(), payload.size());
    used += record_bytes;
  }
};

using StagingPtr = std::unique_ptr<Staging>;

class StagingPool {
 public:
  StagingPtr take() {
    StagingPtr staging;
    if (spare_.empty()) {
      staging.reset(new Staging);  // not value-initialised: it is written before it is read
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
