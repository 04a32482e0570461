// The control memory of a window: words of each process that the others increase to tell it something.
//
//   line 0            completions of exposure epochs
//   line 1            not 0: the memory is exposed by MPI_Win_post; the process itself writes it, the others read it
//   line 2 + round    rounds of the barrier, one for each power of two below the number of processes
//   then              a word for each process of the window: the posts that it has made to this one
//
// All but line 1 are increased by others and read, or decreased, by their process alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/window.hpp"

namespace shmemx::interpose::control {

inline constexpr std::size_t kLine = 64;

int rounds(int size) noexcept;
std::size_t bytes(int size) noexcept;
std::size_t completions() noexcept;
inline constexpr std::size_t kExposure = kLine;
std::size_t round(int number) noexcept;
std::size_t posts(int size, int rank) noexcept;

// Once, before the first window: lets this process be notified by messages.
void receive_notices();
// The window's words can be increased by others from begin() on until end().
void begin(Window& window);
void end(const Window& window);

// Adds 1 to a word of the target. What this process has completed before is visible to a process that sees it. Returns
// an error class.
int notify(Window& window, Target& target, std::size_t word);
// Does what notify() does behind the small puts to the target that are still gathered, in one message. Not with puts to
// a dynamic window.
int notify_behind_puts(Window& window, Target& target, std::size_t word);

// Waits until a word of this process is at least `value`.
void await(const Window& window, std::size_t word, std::uint64_t value);
// Returns true if it is.
bool has(const Window& window, std::size_t word, std::uint64_t value) noexcept;
// Subtracts from a word of this process.
void take(const Window& window, std::size_t word, std::uint64_t value) noexcept;

// Notes whether the memory of this process is exposed.
void set_exposed(const Window& window, bool is_exposed) noexcept;
// Returns whether that of the target is. Its words must be mapped.
inline bool is_exposed(const Target& target) noexcept {
  auto* const word = reinterpret_cast<std::uint64_t*>(target.control_mapped + kExposure);
  return std::atomic_ref<std::uint64_t>(*word).load(std::memory_order_seq_cst) != 0;  // exposure
}

// Waits until all processes of the window have called it.
int barrier(Window& window);

}  // namespace shmemx::interpose::control
