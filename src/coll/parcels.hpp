// Data of any length from a member of a team on another node, in front of its tick: kept by this PE until the
// collective that they belong to takes them. Nothing is agreed on beforehand, so data may be here before this PE has
// entered; they are few, since a collective's sender soon waits for something of the receiver's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "coll/team.hpp"

namespace shmemx::coll {

inline constexpr std::size_t kMaxParcelBytes = std::size_t{64} << 20;

struct ParcelNode;
struct FreeParcel {
  void operator()(ParcelNode* node) const noexcept;
};

// Owns its memory, which may be written.
class Parcel {
 public:
  Parcel() = default;
  explicit Parcel(ParcelNode* node) : node_(node) {}
  std::byte* data() const noexcept;
  std::size_t bytes() const noexcept;

 private:
  std::unique_ptr<ParcelNode, FreeParcel> node_;
};

// To `pe` of the team, on another node, and `tick` behind it. `data` may be used again.
void send_parcel(const Team& team, const char* routine, int pe, std::uint64_t tick,
                 std::span<const std::byte> data) noexcept;
// Waits for what `pe` has sent with this tick, `bytes` long.
Parcel await_parcel(const Team& team, const char* routine, int pe, std::uint64_t tick, std::size_t bytes) noexcept;

// ---- for the handler of ticks; under the endpoint's lock ----
struct ParcelName {
  std::uint32_t team_index;
  std::uint32_t writer;
  std::uint64_t tick;
};
struct ParcelPiece {
  std::uint64_t total;
  std::uint64_t offset;
  std::size_t bytes;
};
// Where the piece belongs, once for each; null when that cannot be.
std::byte* place_of_piece(const ParcelName& name, const ParcelPiece& piece) noexcept;
// True when the parcel is complete.
bool count_piece(const ParcelName& name, std::size_t bytes) noexcept;
void drop_parcels(std::size_t team_index) noexcept;

}  // namespace shmemx::coll
