// fence and quiet. What a PE does to a mapped peer is a plain store or a locked instruction of its own, so there both
// concern this CPU only. What it sends to the others is carried out in the order in which it was sent, so fence needs
// to see to it only that the bytes of long messages do not come ahead, and that puts are complete that a network does
// by itself; quiet waits until all has been carried out and all replies are here.
#pragma once

#include <atomic>

#include "check/checks.hpp"
#include "context/context.hpp"
#include "nemesis/unflushed_pes.hpp"
#include "onesided/direct.hpp"
#include "onesided/operations.hpp"
#include "onesided/requests.hpp"

namespace shmemx::onesided {

// May something be under way that a flush waits for? Where calls of the library are the only ones to handle messages,
// they are to do so in any case.
inline bool may_be_under_way() noexcept {
  return nemesis::unflushed_count.load(std::memory_order_acquire) != 0 ||  // flushed
         requests.open_of_contexts() != 0 || has_direct_keys() || context::calls_make_progress;
}

// With SHMEM_CHECK: buffers of what the scope holds have not been touched.
[[gnu::cold]] void check_complete(const char* routine, const Scope& scope) noexcept;

// Deliveries in order: stores become visible in program order on x86 (a compiler barrier there), release elsewhere.
inline void fence(const char* routine, const context::Context& context) noexcept {
  std::atomic_thread_fence(std::memory_order_acq_rel);
  if (!context::all_mapped && may_be_under_way()) [[unlikely]]
    fence_unmapped(routine, context);
}

// Complete and visible to all PEs: the store buffer is drained, messages are carried out.
inline void quiet(const char* routine, const Scope& scope = {}) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (check::is_on()) [[unlikely]]
    check_complete(routine, scope);
  if (!context::all_mapped && may_be_under_way()) [[unlikely]]
    flush(routine, scope);
}

}  // namespace shmemx::onesided
