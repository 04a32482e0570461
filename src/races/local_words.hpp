// How threads of this PE synchronise: by objects of the C library, of OpenMP, and by atomics of the language.
#pragma once

#include <cstdint>

#include "races/sync_table.hpp"
#include "races/thread.hpp"

namespace shmemx::races {

// The thread's knowledge goes to the word, or the word's to the thread. Nothing, if this is a thread of the library, or
// the call one of the library.
void release_word(std::uint64_t word) noexcept;
void acquire_word(std::uint64_t word) noexcept;

// The clock of a word of private memory.
SyncWord& local_word(std::uint64_t word) noexcept;

// A new thread may have the stack of one that has ended.
void clear_own_stack() noexcept;

}  // namespace shmemx::races
