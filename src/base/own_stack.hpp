// Calls on a stack of their own: threads and fibers of programs may have stacks of a few KiB, or stacks in memory that
// is about to be moved.
#pragma once

#include <cstddef>
#include <type_traits>

namespace shmemx {

// Returns how many bytes the current stack has left; 0 if that is not known, as on a stack that is not the thread's.
std::size_t stack_bytes_left() noexcept;

// Calls `call(argument)` on a new stack of `bytes`, in this thread. Nothing is written to the current stack meanwhile
// but what `call` itself writes there. Returns false without a call if there is no memory.
[[nodiscard]] bool call_on_own_stack(std::size_t bytes, void (*call)(void*), void* argument) noexcept;

// Calls `run` here if the stack has `bytes` left, and otherwise on a stack of its own, as far as there is memory for
// it.
template <class Run>
void call_with_stack(std::size_t bytes, Run&& run) noexcept {
  const auto call = [](void* argument) { (*static_cast<std::remove_reference_t<Run>*>(argument))(); };
  if (stack_bytes_left() >= bytes || !call_on_own_stack(bytes, call, &run)) run();
}

}  // namespace shmemx
