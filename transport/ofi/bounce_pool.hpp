// Registered buffers of one size: for data of RMA whose own place is not registered, or may change before they leave.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "transport/ofi/memory.hpp"

namespace shmemx::ofi {

struct Bounce {
  std::byte* at = nullptr;  // null: none
  void* descriptor = nullptr;
};

class BouncePool {
 public:
  static constexpr std::size_t kBytes = std::size_t{4} << 10;  // of a buffer

  explicit BouncePool(Memory& memory) noexcept : memory_(memory) {}

  // Makes the first buffers, so that there are some when nothing else is registered any more.
  Status open() { return slabs_.empty() ? add_slab() : Status(); }

  // Returns none if all are in use, or if there is no memory for more.
  Bounce take() {
    if (free_.empty() && slabs_.size() < kMostSlabs) static_cast<void>(add_slab());
    if (free_.empty()) return {};
    const Bounce bounce = free_.back();
    free_.pop_back();
    return bounce;
  }
  void give_back(const Bounce& bounce) { free_.push_back(bounce); }

 private:
  static constexpr std::size_t kOfSlab = 64;
  static constexpr std::size_t kMostSlabs = 2;
  struct Slab {
    std::unique_ptr<std::byte[]> memory;
    Place place;
  };

  Status add_slab() {
    Slab slab;
    slab.memory.reset(new std::byte[kOfSlab * kBytes]);
    SHMEMX_TRY_ASSIGN(place, memory_.open_to_me(Bytes(slab.memory.get(), kOfSlab * kBytes)));
    slab.place = std::move(place);
    for (std::size_t i = kOfSlab; i-- != 0;) free_.push_back({slab.memory.get() + i * kBytes, slab.place.descriptor});
    slabs_.push_back(std::move(slab));
    return {};
  }

  Memory& memory_;
  std::vector<Slab> slabs_;
  std::vector<Bounce> free_;
};

}  // namespace shmemx::ofi
