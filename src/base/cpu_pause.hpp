// What a loop executes between two looks at memory that another CPU writes.
#pragma once

#include <atomic>

namespace shmemx {

inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" : : : "memory");  // some tens of cycles, as a pause; yield is none on most
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace shmemx
