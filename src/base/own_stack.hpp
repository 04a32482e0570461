// Calls on a stack of their own: threads and fibers of programs may have stacks of a few KiB, or stacks in memory that
// is about to be moved.
#pragma once

#include <atomic>
#include <cstddef>
#include <type_traits>

namespace shmemx {

// Enough for the start and the end: for the libraries of launchers and networks, too.
inline constexpr std::size_t kAmpleStackBytes = std::size_t{512} << 10;

// Returns true if the current stack is known to have as many bytes left. Not known on a stack that is not the thread's,
// such as that of a fiber. Takes a few instructions after the first call of a thread.
bool has_stack(std::size_t bytes) noexcept;

// Memory for a stack, with a guard page.
class OwnStack {
 public:
  explicit OwnStack(std::size_t bytes) noexcept;
  ~OwnStack();
  OwnStack(const OwnStack&) = delete;
  OwnStack& operator=(const OwnStack&) = delete;

  bool is_valid() const noexcept { return memory_ != nullptr; }
  // Calls `call(argument)` on it, in this thread. Nothing is written to the current stack meanwhile but what `call`
  // itself writes there. One call at a time.
  void run(void (*call)(void*), void* argument) const noexcept;
  // Returns true if the caller is on it.
  bool is_current() const noexcept;

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

template <class Run>
void call_by_pointer(void* run) {
  (*static_cast<std::remove_reference_t<Run>*>(run))();
}

// Calls `run` here if the stack has `bytes` left, and otherwise on a stack of its own, if there is memory for it.
template <class Run>
void call_with_stack(std::size_t bytes, Run&& run) noexcept {
  if (has_stack(bytes)) return run();
  const OwnStack own(bytes);
  if (!own.is_valid()) return run();
  own.run(call_by_pointer<Run>, &run);
}

// call_with_stack() for calls that are made often: keeps the stack for the next one. Any thread.
class SpareStack {
 public:
  // Would call() run here, on the stack that the thread has?
  static bool is_needless() noexcept { return has_stack(kBytes); }
  template <class Run>
  void call(Run&& run) noexcept {
    if (has_stack(kBytes) || stack_.is_current()) return run();
    if (!stack_.is_valid() || is_used_.exchange(true, std::memory_order_acquire))  // used
      return call_with_stack(kBytes, run);
    stack_.run(call_by_pointer<Run>, &run);
    is_used_.store(false, std::memory_order_release);  // used
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{64} << 10;
  OwnStack stack_{kBytes + kBytes};
  std::atomic<bool> is_used_{false};
};

}  // namespace shmemx
