// Sizes at which the way of a message changes, measured (docs/messages.md says how and where). The only place for them.
#pragma once

#include <cstddef>

namespace shmemx::pt2pt {

// Longer messages wait for their receive (rendezvous).
inline constexpr std::size_t kEagerBytes = std::size_t{24} << 10;
// From here one copy by one core beats two copies by two cores at once. With more PEs than cores it always does.
inline constexpr std::size_t kMappedBytes = std::size_t{192} << 10;
// The same for the kernel's copy.
inline constexpr std::size_t kCmaBytes = std::size_t{4} << 20;
// So often a receive looks at the sender's box alone, before it looks at everything.
inline constexpr int kBoxPolls = 200;
// How much one poll moves at most, so that other threads and senders get their turn.
inline constexpr std::size_t kMoveBytes = std::size_t{1} << 20;
// Messages that one poll may send for one transfer through the queue.
inline constexpr int kFragmentsPerPoll = 16;

// ---- between nodes ----
// Longer messages wait for their receive: the first to answer saves a copy, but costs a turn of the network.
inline constexpr std::size_t kInternodeEagerBytes = std::size_t{64} << 10;
// Of a long message, in one message of the network, so that others to the same PE get their turn.
inline constexpr std::size_t kNetworkBytes = std::size_t{16} << 20;
// The same where one of the sides has to pack: it fits the caches.
inline constexpr std::size_t kPackedBytes = std::size_t{256} << 10;
// Places of a list that are longer are sent from where they lie.
inline constexpr std::size_t kUnpackedBytes = std::size_t{64} << 10;

}  // namespace shmemx::pt2pt
