// What the program has not given back at finalize: blocks, contexts, teams and locks, with the places where they were
// made or set.
#pragma once

#include <cstdint>

namespace shmemx::check {

enum class Handle : std::uint8_t { context, team, lock };

// A team is noted by its PE 0 alone. The index of a lock is made of its address.
void note_handle(Handle kind, std::uint32_t index, const char* routine) noexcept;
void forget_handle(Handle kind, std::uint32_t index) noexcept;
void forget_handles() noexcept;

// Prints a warning for each place. Blocks are the same on all PEs, contexts often: PEs with equal digests have made
// theirs at the same places.
struct LeakScope {
  bool blocks;
  bool contexts;
};
void report_leaks(const char* routine, LeakScope scope) noexcept;
std::uint64_t context_digest() noexcept;

}  // namespace shmemx::check
