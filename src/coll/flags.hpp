// Flags and short data of teams by messages, where a PE does not map the memory of the others. The handler stores a
// epoch in the flag of this PE's own slot, where it would also lie if the writer had stored it itself; data
// that come with it go into a private inbox of the team.
//
// Messages of one PE are handled in order, so what it has put before a flag is there when the flag is seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "coll/team.hpp"
#include "rma/remote.hpp"

namespace shmemx::coll {

// By runtime, at init.
void set_handlers() noexcept;

// From now on flags for this team are taken; its inbox is empty. Before any other member can send one.
void open_receiver(const Team& team) noexcept;
// Flags for this slot are invalid from now on.
void close_receiver(std::size_t team_index) noexcept;

// What each member may have in the inbox: whatever a scratch area or a short reduction holds, and a proposal for a
// split.
std::size_t contribution_bytes(int n_pes) noexcept;

// Data for the inbox, without a epoch.
struct Contribution {
  const void* data;
  std::size_t bytes;
  std::uint64_t parity;  // two take turns
};

// To `pe` of the team, which is another one.
void send_flag(const Team& team, const char* routine, int pe, std::uint64_t epoch) noexcept;
void send_contribution(const Team& team, const char* routine, int pe, const Contribution& contribution) noexcept;
// A message (coll/eager.hpp), not empty.
void send_fragments(const Team& team, const char* routine, int pe, std::uint64_t epoch,
                    std::span<const std::byte> data) noexcept;
// The contribution of `writer`; this PE writes its own itself.
std::byte* inbox(const Team& team, int writer, std::uint64_t parity) noexcept;

// The flag that this PE writes in the slot of `pe`, for data that carry their epoch themselves.
rma::RemotePlace flag_place(const Team& team, int pe) noexcept;

}  // namespace shmemx::coll
