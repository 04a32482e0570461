// Flags and data of collectives by messages, for members whose memory is not mapped. The receiver keeps an entry in its
// private memory for each member that has sent something or from which something is awaited: so teams cost memory by
// the members that a PE communicates with, which algorithms over many nodes keep to log2(n).
//
// Messages of one PE are handled in order, so data sent before a flag are there when the flag is seen.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "coll/common/team.hpp"
#include "context/location.hpp"
#include "progress/send.hpp"

namespace shmemx::coll {

// Registers the handlers. Called by runtime at init.
void set_handlers() noexcept;

// Accepts messages for this team from now on. Called before any other member can send.
void open_receiver(const Team& team) noexcept;
// All flags are 0 again: the slot belongs to a new team.
void clear_received_flags(const Team& team) noexcept;
// Treats messages for this slot as damaged from now on.
void close_receiver(std::size_t team_index) noexcept;

// For whom a member sends: for itself alone, or for its node, as the last member to arrive there (internode/
// first_round.hpp). The receiver then does not know before which member that is.
enum class SentFor : std::uint8_t { member, node };
struct Sending {
  SentFor sent_for = SentFor::member;
  progress::LongSends* sends = nullptr;  // with these, long data stay in use until they have finished
};

// These send to `pe` of the team, another one: a flag; data for symmetric memory, shorter than long messages, and then
// a flag; an eager message (common/eager.hpp), which is not empty, with its flag.
void send_flag(const Team& team, const char* routine, int pe, std::uint64_t epoch,
               SentFor sent_for = SentFor::member) noexcept;
void send_put(const Team& team, const char* routine, context::Place dest, std::uint64_t epoch,
              std::span<const std::byte> data) noexcept;
void send_fragments(const Team& team, const char* routine, int pe, std::uint64_t epoch, std::span<const std::byte> data,
                    const Sending& how = {}) noexcept;

// Returns the latest flag that any member has set for its node, with the highest epoch.
const MemberFlag& latest_node_flag(const Team& team) noexcept;
// Returns how many messages of `writer` for its node have come, in `epoch`. `tag` is the caller's own, 0 at first.
MemberFlag& messages_for_node(const Team& team, int writer) noexcept;
// Returns the flag that `writer`, whose memory is not mapped, sets by messages. It stays until the team ends.
const MemberFlag& received_flag(const Team& team, int writer) noexcept;
// Returns those of all members that have set theirs, with their numbers in the team.
std::vector<std::pair<int, const MemberFlag*>> all_received_flags(const Team& team);

}  // namespace shmemx::coll
