// Numbers that were measured or chosen; README.md gives the reasons.
#pragma once

#include <cstddef>

namespace shmemx::ucx {

// Payloads up to here leave at once and are copied to their place. Longer ones wait until the receiver asks for them,
// which costs a round trip and saves the copy. The limit is below UCX's receive segment, so that an eager payload
// arrives in one piece.
inline constexpr std::size_t kEagerBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMostUnderWay = 8;  // long payloads of one PE on the way to their places
inline constexpr unsigned kMostInFlight = 64;    // active messages to one PE
inline constexpr std::size_t kMostCopied = std::size_t{4}
                                           << 20;  // bytes of copied payloads to one PE, beyond which send() refuses

}  // namespace shmemx::ucx
