// Sizes at which the way of a message changes, measured (docs/messages.md says how and where). The only place for them.
#pragma once

#include <cstddef>

namespace shmemx::message {

// Longer messages wait for their receive (rendezvous).
inline constexpr std::size_t kEagerBytes = std::size_t{16} << 10;
// From here the kernel's copy beats two copies through a shared buffer.
inline constexpr std::size_t kCmaBytes = std::size_t{64} << 10;
// Copies of this size use the processor's string copy.
inline constexpr std::size_t kStringCopyBytes = 4096;
// How much one poll moves at most, so that other threads and senders get their turn.
inline constexpr std::size_t kMoveBytes = std::size_t{1} << 20;
// Messages that one poll may send for one transfer through the queue.
inline constexpr int kFragmentsPerPoll = 16;

}  // namespace shmemx::message
