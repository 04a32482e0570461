// What this process knows of others that run on its cores. The scheduler does not tell; how long a yield took does.
//
// A yield that returns after some microseconds has let a process run that gave the core back by itself, such as another
// PE that waits: yielding is cheap. One that takes as long as a time slice has let a program run that computes. There
// each yield costs a whole slice of that program, while a thread that sleeps and is woken runs at once.
#pragma once

#include <cstdint>

namespace shmemx::progress {

// A yield that takes longer has let another process run.
inline constexpr std::uint64_t kSwitchNs = 3'000;

// How long a PE that waits keeps a core at most, before all others that wait there had their turn: what takes longer
// computes. Shorter than a time slice. Set at init, where many PEs share a core.
inline constexpr std::uint64_t kDefaultTurnNs = 500'000;
void set_turn_ns(std::uint64_t ns) noexcept;

// Records that this thread was off its core from `now_ns - away_ns` to `now_ns`: it yielded, or was preempted.
void note_switch(std::uint64_t away_ns, std::uint64_t now_ns) noexcept;
// For a thread that polls without giving its core away: notes that it was preempted, if the time since its last look
// tells so. Sets `last_ns` to `now_ns`.
bool note_preemption(std::uint64_t& last_ns, std::uint64_t now_ns) noexcept;
// Returns true if another process ran on a core of this one within the last milliseconds.
bool core_is_shared(std::uint64_t now_ns) noexcept;
// Returns true if others took a core of this one in quick succession lately: PEs that wait hand it round. A progress
// thread, which looks at intervals, does not.
bool core_goes_round(std::uint64_t now_ns) noexcept;
// Returns true if others may need the core of this thread: another process ran there lately, or PEs outnumber cores.
bool core_is_wanted(std::uint64_t now_ns) noexcept;
// Returns true if a program that computes is expected to run on the core of this thread.
bool core_is_busy(std::uint64_t now_ns) noexcept;
// Records that a yield of this thread took that long. Returns true if yields are in vain: several in a row did not let
// anybody run, although others need the core. The scheduler shares a core among groups of processes first (sessions,
// containers), and a yield does not give it to another group; only a thread that sleeps does.
bool yields_in_vain(std::uint64_t away_ns, std::uint64_t now_ns) noexcept;
// Forgets everything; for tests.
void forget_core_sharing() noexcept;

enum class Yielded : std::uint8_t { usefully, beside_program, in_vain };
// Gives the core away once and records what that tells: whether a program that computes runs there, and whether yields
// are in vain.
Yielded yield_and_note() noexcept;

}  // namespace shmemx::progress
