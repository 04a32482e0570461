#include "base/own_stack.hpp"

#include <pthread.h>
#include <sys/mman.h>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

#include <algorithm>
#include <cstdint>

#include "base/lazy_mapping.hpp"
#include "base/machine.hpp"

namespace shmemx {
namespace {

[[gnu::cold, gnu::noinline]] void read_bounds(StackBounds& bounds) noexcept {
  bounds.are_read = true;
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  if (::pthread_attr_getstack(&attributes, &lowest, &bytes) == 0) {
    bounds.begin = reinterpret_cast<std::uintptr_t>(lowest);
    bounds.end = bounds.begin + bytes;
    bounds.roomy_begin = bounds.begin + std::min(bytes, kRoomyStackBytes);
    bounds.roomy_bytes = bounds.end - bounds.roomy_begin;
  }
  ::pthread_attr_destroy(&attributes);
}

#if defined(__x86_64__) || defined(__aarch64__)
// With a frame pointer, by which debuggers find the caller's frame from the other stack.
[[gnu::noinline]] void call_on(std::byte* top, void (*call)(void*), void* argument) noexcept {
#if defined(__x86_64__)
  __asm__ volatile(
      "movq %%rsp, %%rbx\n"
      "movq %[top], %%rsp\n"
      "call *%[call]\n"
      "movq %%rbx, %%rsp\n"
      : "+D"(argument), [top] "+a"(top), [call] "+d"(call)
      : "r"(__builtin_frame_address(0))
      : "rbx", "rcx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
        "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
#else
  register void* x0 __asm__("x0") = argument;
  __asm__ volatile(
      "mov x19, sp\n"
      "mov sp, %[top]\n"
      "blr %[call]\n"
      "mov sp, x19\n"
      : "+r"(x0)
      : [top] "r"(top), [call] "r"(call), "r"(__builtin_frame_address(0))
      : "x19", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
        "x17", "x18", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
        "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29",
        "v30", "v31", "memory", "cc");
#endif
}
#else
struct Switch {
  void (*call)(void*);
  void* argument;
  ucontext_t caller;
  ucontext_t own;
};
// makecontext passes ints.
void run_switch(unsigned high, unsigned low) {
  auto& made = *reinterpret_cast<Switch*>(static_cast<std::uintptr_t>(static_cast<std::uint64_t>(high) << 32 | low));
  made.call(made.argument);
  ::setcontext(&made.caller);
}
// The contexts lie at the top of the new stack.
void call_on(std::byte* top, void (*call)(void*), void* argument) noexcept {
  auto& made =
      *reinterpret_cast<Switch*>((reinterpret_cast<std::uintptr_t>(top) - sizeof(Switch)) & ~std::uintptr_t{63});
  made.call = call;
  made.argument = argument;
  ::getcontext(&made.own);
  constexpr std::size_t kLeastBytes = std::size_t{16} << 10;
  made.own.uc_stack.ss_sp = reinterpret_cast<std::byte*>(&made) - kLeastBytes;
  made.own.uc_stack.ss_size = kLeastBytes;
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&made));
  ::makecontext(&made.own, reinterpret_cast<void (*)()>(run_switch), 2, static_cast<unsigned>(address >> 32),
                static_cast<unsigned>(address));
  ::swapcontext(&made.caller, &made.own);
}
#endif

}  // namespace

bool has_stack(std::size_t bytes) noexcept {
  if (!kStackMayChange) return true;
  if (!stack_bounds.are_read) read_bounds(stack_bounds);
  const std::uintptr_t at = stack_address();
  return at >= stack_bounds.begin && at < stack_bounds.end && at - stack_bounds.begin >= bytes;
}

OwnStack::OwnStack(std::size_t bytes) noexcept {
  if (!kStackMayChange) return;
  const std::size_t mapped_bytes = page_bytes() + bytes;
  void* const memory = map_on_touch(nullptr, mapped_bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK);
  if (memory == MAP_FAILED) return;
  ::mprotect(memory, page_bytes(), PROT_NONE);
  memory_ = static_cast<std::byte*>(memory);
  bytes_ = mapped_bytes;
}

OwnStack::~OwnStack() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

void OwnStack::run(void (*call)(void*), void* argument) const noexcept { call_on(memory_ + bytes_, call, argument); }

bool OwnStack::is_current() const noexcept {
  return stack_address() - reinterpret_cast<std::uintptr_t>(memory_) < bytes_;
}

}  // namespace shmemx
