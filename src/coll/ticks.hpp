// Flags and short data of teams by messages, where a PE does not map the memory of the others. The handler stores a
// tick in the arrival line of this PE's own slot, where it would also lie if the writer had stored it itself; data
// that come with it go into a private inbox of the team.
//
// Messages of one PE are handled in order, so what it has put before a tick is there when the tick is seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "coll/team.hpp"
#include "rma/remote.hpp"

namespace shmemx::coll {

// By runtime, at init.
void set_handlers() noexcept;

// From now on ticks for this team are taken; its inbox is empty. Before any other member can send one.
void open_port(const Team& team) noexcept;
// Ticks for this slot are rubbish from now on.
void close_port(std::size_t team_index) noexcept;

// What each member may have in the inbox: whatever a scratch area or a short reduction holds, and a proposal for a
// split.
std::size_t blob_bytes(int n_pes) noexcept;

// Data for the inbox, without a tick.
struct Blob {
  const void* data;
  std::size_t bytes;
  std::uint64_t parity;  // two take turns
};

// To `pe` of the team, which is another one.
void send_tick(const Team& team, const char* routine, int pe, std::uint64_t tick) noexcept;
void send_blob(const Team& team, const char* routine, int pe, const Blob& blob) noexcept;
// A parcel (coll/parcels.hpp), not empty.
void send_pieces(const Team& team, const char* routine, int pe, std::uint64_t tick,
                 std::span<const std::byte> data) noexcept;
// The blob of `writer`; this PE writes its own itself.
std::byte* inbox(const Team& team, int writer, std::uint64_t parity) noexcept;

// The arrival line that this PE writes in the slot of `pe`, for data that carry their tick themselves.
rma::RemotePlace tick_place(const Team& team, int pe) noexcept;

}  // namespace shmemx::coll
