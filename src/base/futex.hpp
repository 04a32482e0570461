// Sleeping on a word of memory until another thread changes it.
#pragma once

#include <atomic>
#include <cstdint>

namespace shmemx {

// Where the threads are that sleep on a word and that wake the sleepers.
enum class FutexScope : std::uint8_t { process, node };

// Sleeps for at most `ns`, unless `word` is no longer `seen`. May return early: the caller looks again.
void futex_sleep(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t ns, FutexScope scope) noexcept;
// Wakes all threads that sleep on `word`.
void futex_wake(std::atomic<std::uint32_t>& word, FutexScope scope) noexcept;

}  // namespace shmemx
