#include "base/own_stack.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>

#include "base/lazy_mapping.hpp"
#include "base/machine.hpp"

namespace shmemx {
namespace {

struct Call {
  void (*call)(void*);
  void* argument;
  ucontext_t caller;
  ucontext_t own;
};

// makecontext passes ints.
void run(unsigned high, unsigned low) {
  const std::uintptr_t address = static_cast<std::uintptr_t>(static_cast<std::uint64_t>(high) << 32 | low);
  Call& call = *reinterpret_cast<Call*>(address);
  call.call(call.argument);
  ::setcontext(&call.caller);
}

}  // namespace

std::size_t stack_bytes_left() noexcept {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  const bool is_known = ::pthread_attr_getstack(&attributes, &lowest, &bytes) == 0;
  ::pthread_attr_destroy(&attributes);
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const std::size_t left = here - reinterpret_cast<std::uintptr_t>(lowest);
  return is_known && left < bytes ? left : 0;
}

// Both contexts lie at the top of the new stack: together they take 2 KiB, which a small stack may not have.
bool call_on_own_stack(std::size_t bytes, void (*call)(void*), void* argument) noexcept {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;  // sanitizers follow each change of the stack
#endif
  const std::size_t guard_bytes = page_bytes();
  const std::size_t mapped_bytes = guard_bytes + bytes;
  void* const memory = map_on_touch(nullptr, mapped_bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK);
  if (memory == MAP_FAILED) return false;
  ::mprotect(memory, guard_bytes, PROT_NONE);
  auto* const top = static_cast<std::byte*>(memory) + mapped_bytes - sizeof(Call);
  Call& made = *reinterpret_cast<Call*>(reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{63});
  made.call = call;
  made.argument = argument;
  ::getcontext(&made.own);
  made.own.uc_link = nullptr;
  made.own.uc_stack.ss_sp = static_cast<std::byte*>(memory) + guard_bytes;
  made.own.uc_stack.ss_size =
      static_cast<std::size_t>(reinterpret_cast<std::byte*>(&made) - static_cast<std::byte*>(made.own.uc_stack.ss_sp));
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&made));
  ::makecontext(&made.own, reinterpret_cast<void (*)()>(run), 2, static_cast<unsigned>(address >> 32),
                static_cast<unsigned>(address));
  ::swapcontext(&made.caller, &made.own);
  ::munmap(memory, mapped_bytes);
  return true;
}

}  // namespace shmemx
