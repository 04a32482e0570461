// fence and quiet for node peers. Everything a PE does to a node peer is a plain store or a locked instruction of its
// own, so both concern this CPU only.
#pragma once

#include <atomic>

namespace shmemx::rma {

// Deliveries in order: stores become visible in program order on x86 (a compiler barrier there), release elsewhere.
inline void fence() noexcept { std::atomic_thread_fence(std::memory_order_acq_rel); }

// Complete and visible to all: the store buffer is drained.
inline void quiet() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

}  // namespace shmemx::rma
