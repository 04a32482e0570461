// Flags and data of collectives by messages, for members whose memory is not mapped. The handler stores the epoch in
// the flag of this PE's own slot, where the writer would store it if the slot were mapped. Data go to a private buffer.
//
// Messages of one PE are handled in order, so data sent before a flag are there when the flag is seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "coll/common/team.hpp"

namespace shmemx::coll {

// Registers the handlers. Called by runtime at init.
void set_handlers() noexcept;

// Accepts messages for this team from now on, and clears its contributions. Called before any other member can send.
void open_receiver(const Team& team) noexcept;
// Treats messages for this slot as damaged from now on.
void close_receiver(std::size_t team_index) noexcept;

// What a member publishes (TeamGroup::publish): at most contribution_bytes() of common/select.hpp.
struct Contribution {
  const void* data;
  std::size_t bytes;
  std::uint64_t parity;  // two buffers alternate
};

// These send to `pe` of the team, another one: a flag; a contribution without a flag; an eager message
// (common/eager.hpp), which is not empty, with its flag.
void send_flag(const Team& team, const char* routine, int pe, std::uint64_t epoch) noexcept;
void send_contribution(const Team& team, const char* routine, int pe, const Contribution& contribution) noexcept;
void send_fragments(const Team& team, const char* routine, int pe, std::uint64_t epoch,
                    std::span<const std::byte> data) noexcept;

// Returns the buffer for contributions of `writer`, whose memory is not mapped.
const std::byte* received_contribution(const Team& team, int writer, std::uint64_t parity) noexcept;

}  // namespace shmemx::coll
