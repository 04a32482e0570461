// Contexts that threads may not share: a private one is for the thread that has made it, a serialized one for one
// thread at a time. Contexts are known by their indices.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shmemx::check {

inline constexpr std::size_t kMostContexts = 4096;

enum class Sharing : std::uint8_t { free, serialized, private_to_thread };

// Of a context that this thread has just made. From the first one on that is not free, calls are watched by the hooks
// of spans (stats/call_hooks.hpp).
void note_sharing(std::uint32_t context, Sharing sharing) noexcept;

// Ends the job if this thread may not use the context now.
void check_owner(const char* routine, std::uint32_t context) noexcept;

}  // namespace shmemx::check
