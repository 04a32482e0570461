#include "coll/parcels.hpp"

#include <cstdlib>
#include <new>

#include "am/channel.hpp"
#include "base/fatal.hpp"
#include "coll/barrier.hpp"
#include "coll/ticks.hpp"

namespace shmemx::coll {

// The data follow.
struct alignas(kCacheLine) ParcelNode {
  ParcelNode* next;
  ParcelName name;
  std::size_t bytes;
  std::size_t unplaced;  // nobody has asked where they go
  std::size_t missing;

  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

namespace {

constinit ParcelNode* parcels = nullptr;  // a list, few at a time; changes under the endpoint's lock

ParcelNode** find(const ParcelName& name) {
  ParcelNode** link = &parcels;
  while (*link != nullptr && ((*link)->name.tick != name.tick || (*link)->name.writer != name.writer ||
                              (*link)->name.team_index != name.team_index)) {
    link = &(*link)->next;
  }
  return link;
}

ParcelNode* make(const ParcelName& name, std::size_t bytes) {
  void* const memory = std::aligned_alloc(kCacheLine, sizeof(ParcelNode) + round_up(bytes, kCacheLine));
  if (memory == nullptr) fatal(nullptr, "no memory: %zu bytes for a collective", bytes);
  return new (memory) ParcelNode{nullptr, name, bytes, bytes, bytes};
}

}  // namespace

void FreeParcel::operator()(ParcelNode* node) const noexcept { std::free(node); }
std::byte* Parcel::data() const noexcept { return node_ == nullptr ? nullptr : node_->data(); }
std::size_t Parcel::bytes() const noexcept { return node_ == nullptr ? 0 : node_->bytes; }

std::byte* place_of_piece(const ParcelName& name, const ParcelPiece& piece) noexcept {
  if (piece.total > kMaxParcelBytes || piece.offset > piece.total || piece.bytes > piece.total - piece.offset)
    return nullptr;
  ParcelNode** const link = find(name);
  if (*link == nullptr) *link = make(name, piece.total);
  ParcelNode& parcel = **link;
  if (parcel.bytes != piece.total || piece.bytes > parcel.unplaced) return nullptr;
  parcel.unplaced -= piece.bytes;
  return parcel.data() + piece.offset;
}

bool count_piece(const ParcelName& name, std::size_t bytes) noexcept {
  ParcelNode& parcel = **find(name);
  parcel.missing -= bytes;
  return parcel.missing == 0;
}

void drop_parcels(std::size_t team_index) noexcept {
  for (ParcelNode** link = &parcels; *link != nullptr;) {
    ParcelNode* const parcel = *link;
    if (parcel->name.team_index != team_index) {
      link = &parcel->next;
      continue;
    }
    *link = parcel->next;
    std::free(parcel);
  }
}

void send_parcel(const Team& team, const char* routine, int pe, std::uint64_t tick,
                 std::span<const std::byte> data) noexcept {
  if (data.empty()) return send_tick(team, routine, pe, tick);
  send_pieces(team, routine, pe, tick, data);
}

Parcel await_parcel(const Team& team, const char* routine, int pe, std::uint64_t tick, std::size_t bytes) noexcept {
  await_tick(team, routine, pe, tick);
  if (bytes == 0) return {};
  const ParcelName name{team.route.team_index, static_cast<std::uint32_t>(pe), tick};
  ParcelNode* taken = nullptr;
  {
    const am::Locked lock;
    ParcelNode** const link = find(name);
    taken = *link;
    if (taken != nullptr) *link = taken->next;
  }
  if (taken == nullptr || taken->bytes != bytes) {
    fatal(routine, "PE %d of the team takes part with another length or in another routine, %zu bytes were due from it",
          pe, bytes);
  }
  return Parcel(taken);
}

}  // namespace shmemx::coll
