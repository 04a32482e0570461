// Calls on a stack of their own: threads and fibers of programs may have stacks of a few KiB, or stacks in memory that
// is about to be moved.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace shmemx {

// Enough for the start and the end: for the libraries of launchers and networks, too.
inline constexpr std::size_t kAmpleStackBytes = std::size_t{512} << 10;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kStackMayChange = false;  // sanitizers follow each change of the stack
#else
inline constexpr bool kStackMayChange = true;
#endif

// What calls of networks are given. See SpareStack.
inline constexpr std::size_t kRoomyStackBytes = std::size_t{64} << 10;

// The stack that the C library has given to this thread.
struct StackBounds {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  // Where kRoomyStackBytes are left, as the lowest address and the bytes from there on: 0 if not known.
  std::uintptr_t roomy_begin = 0;
  std::size_t roomy_bytes = 0;
  bool are_read = false;
};
// At an offset from the thread's own block: a look-up would be a call, at each call of a network.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local StackBounds stack_bounds;

// Returns where the stack of the caller ends now, about. Asks for no frame pointer, which would cost each caller some
// instructions.
[[gnu::always_inline]] inline std::uintptr_t stack_address() noexcept {
#if defined(__x86_64__)
  std::uintptr_t at;
  __asm__ volatile("movq %%rsp, %0" : "=r"(at));
  return at;
#elif defined(__aarch64__)
  std::uintptr_t at;
  __asm__ volatile("mov %0, sp" : "=r"(at));
  return at;
#else
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
#endif
}

// Returns true if the current stack is known to have as many bytes left. Not known on a stack that is not the thread's,
// such as that of a fiber.
bool has_stack(std::size_t bytes) noexcept;
// Is has_stack(kRoomyStackBytes) in a few instructions; false before the first has_stack() of a thread.
[[gnu::always_inline]] inline bool is_on_roomy_stack() noexcept {
  return !kStackMayChange || stack_address() - stack_bounds.roomy_begin < stack_bounds.roomy_bytes;
}

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
  static bool is_needless() noexcept { return is_on_roomy_stack() || has_stack(kBytes); }
  template <class Run>
  [[gnu::always_inline]] void call(Run&& run) noexcept {
    if (is_needless()) [[likely]]
      return run();
    // By a copy: what lies in memory for the other stack would be stored there in each call.
    auto apart = run;
    call_apart(apart);
  }

 private:
  template <class Run>
  [[gnu::noinline, gnu::cold]] void call_apart(Run& run) noexcept {
    if (stack_.is_current()) return run();
    if (!stack_.is_valid() || is_used_.exchange(true, std::memory_order_acquire))  // used
      return call_with_stack(kBytes, run);
    stack_.run(call_by_pointer<Run>, &run);
    is_used_.store(false, std::memory_order_release);  // used
  }

  static constexpr std::size_t kBytes = kRoomyStackBytes;
  OwnStack stack_{kBytes + kBytes};
  std::atomic<bool> is_used_{false};
};

}  // namespace shmemx
