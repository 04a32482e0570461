// Buffers in which short messages of one PE wait and travel together.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "transport/ucx/wire.hpp"

namespace shmemx::transport::ucx {

inline constexpr std::size_t kGatherBytes = std::size_t{8} << 10;  // full enough to leave

struct Peer;

struct Staging {
  alignas(kRecordAlign) std::byte bytes[sizeof(Envelope) + kGatherBytes + kLargestRecord];
  std::size_t used;
  Peer* peer;  // while it is in flight

  bool is_empty() const noexcept { return used == sizeof(Envelope); }
  bool has_room_for(std::size_t record_bytes) const noexcept { return sizeof bytes - used >= record_bytes; }

  void add(const Head& head, Bytes header, Bytes body) noexcept {
    const RecordHead record{head, static_cast<std::uint32_t>(header.size() + body.size()), 0};
    std::byte* at = bytes + used;
    const std::size_t record_bytes = sizeof record + padded(record.bytes);
    std::memset(at + record_bytes - kRecordAlign, 0, kRecordAlign);  // what is padding must not be somebody's memory
    std::memcpy(at, &record, sizeof record);
    if (!header.empty()) std::memcpy(at + sizeof record, header.data(), header.size());
    if (!body.empty()) std::memcpy(at + sizeof record + header.size(), body.data(), body.size());
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

}  // namespace shmemx::transport::ucx
