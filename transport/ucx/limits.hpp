// Numbers that were measured or chosen; see README.md.
#pragma once

#include <cstddef>

namespace shmemx::ucx {

// Bodies up to here leave at once and are copied to their place; longer ones wait for the receiver, which costs a round
// trip, and come without a copy. It is below UCX's receive segment, so that they come in one piece.
inline constexpr std::size_t kEagerBytes = std::size_t{128} << 10;
inline constexpr std::size_t kMostUnderWay = 8;                   // long payloads of one PE, to their places
inline constexpr unsigned kMostInFlight = 64;                     // to one PE
inline constexpr std::size_t kMostCopied = std::size_t{4} << 20;  // of payloads to one PE, before another is copied

}  // namespace shmemx::ucx
