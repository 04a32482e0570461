// The sizes at which a message's path changes, measured as docs/messages.md describes. They stand nowhere else.
#pragma once

#include <cstddef>

namespace shmemx::pt2pt {

// Longer messages wait for their receive (rendezvous).
inline constexpr std::size_t kEagerBytes = std::size_t{24} << 10;
// kEagerBytes where both PEs have a core and the sender's memory is one range: one copy after a handshake is faster
// there than two copies through several cells.
inline constexpr std::size_t kEagerBytesOfRange = std::size_t{8} << 10;
// Polls of the sender's fastbox alone, before a receive polls everything.
inline constexpr int kBoxPolls = 200;
// The shortest message whose copy sender and receiver share: through the kernel, and of memory that both map.
inline constexpr std::size_t kSharedCmaBytes = std::size_t{16} << 10;
inline constexpr std::size_t kSharedMappedBytes = std::size_t{64} << 10;
// Bytes that one poll moves at most for one transfer, so that other threads and senders get their turn.
inline constexpr std::size_t kMoveBytes = std::size_t{1} << 20;
// Messages that one poll sends at most for one transfer.
inline constexpr int kFragmentsPerPoll = 16;

// ---- between nodes ----
// Longer messages wait for their receive: a rendezvous saves a copy, and the receiver's memory.
inline constexpr std::size_t kInternodeEagerBytes = std::size_t{64} << 10;
// Bytes that leave with the offer of such a message: while they travel, the receiver answers it.
inline constexpr std::size_t kOfferedBytes = std::size_t{124} << 10;
// Up to here all of it leaves with the offer where the network leaves a payload with its sender until the receiver has
// a place for it. What is longer has measured faster with the rest behind the answer.
inline constexpr std::size_t kWholeOfferBytes = std::size_t{512} << 10;
// Bytes of a long message in one message of the network, so that others to the same PE get their turn.
inline constexpr std::size_t kNetworkBytes = std::size_t{16} << 20;
// kNetworkBytes if a side has to pack: what fits the caches.
inline constexpr std::size_t kPackedBytes = std::size_t{256} << 10;
// Longer places of a list are sent without packing.
inline constexpr std::size_t kUnpackedBytes = std::size_t{64} << 10;

}  // namespace shmemx::pt2pt
