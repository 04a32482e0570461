// From (context, symmetric address, PE) to the address in the peer's memory. The hot half is inline; the cold half
// finds static data, and names what is wrong with anything else.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "context/location.hpp"

namespace shmemx::context {

// What a diagnostic calls the operation and its address argument.
struct Site {
  const char* routine;
  const char* argument;
};

inline Doorbell& doorbell_of_heap(std::byte* heap) noexcept {
  return *reinterpret_cast<Doorbell*>(heap - sizeof(Doorbell));
}

// To be called at the end of a hot path, after the data have been stored. The cold half takes the heap, not the
// doorbell: its address would cost an instruction in the hot half.
[[gnu::noinline, gnu::cold]] void wake_owner(std::byte* heap) noexcept;
[[gnu::always_inline]] inline void wake_heap(std::byte* heap) noexcept {
  if (has_sleepers(doorbell_of_heap(heap))) [[unlikely]]
    wake_owner(heap);
}

template <std::size_t Bytes>
inline constexpr int kSizeClass = std::countr_zero(std::bit_ceil(Bytes));

// The rest of the routes: static data of the executable, PEs that are not near; PE check included. Ends the job with a
// diagnostic when the address is not symmetric, the range leaves its window or the PE is out of range. A range of 0
// bytes is always fine. The location has its place.
[[gnu::noinline]] Location resolve_cold(const Context& context, Site site, std::uintptr_t address, std::uint64_t bytes,
                                        int pe) noexcept;

inline bool pe_in_range(const Context& context, int pe) noexcept {
  return static_cast<std::uint32_t>(pe) < context.n_pes;
}

inline bool in_heap(const Context& context, std::uintptr_t address, std::uint64_t bytes) noexcept {
  return range_fits(address - context.heap_base, bytes, context.heap_bytes);
}

// Do the `bytes` lie in the heap of a near PE? Never where operations are checked.
[[gnu::always_inline]] inline bool is_near(const Context& context, const void* symmetric, std::uint64_t bytes,
                                           std::uint32_t near) noexcept {
  return in_heap(context, reinterpret_cast<std::uintptr_t>(symmetric), bytes) && near < context.n_near;
}
[[gnu::always_inline]] inline Location locate_near(const Context& context, const void* symmetric,
                                                   std::uint32_t near) noexcept {
  Location found;
  std::byte* const heap = near_heap(context, near);
  found.address = heap + (reinterpret_cast<std::uintptr_t>(symmetric) - context.heap_base);
  found.doorbell = &doorbell_of_heap(heap);
  return found;
}

// Returns the location of the `bytes` of a PE whose copy on this PE is at `symmetric`.
[[gnu::always_inline]] inline Location resolve_near(const Context& context, Site site, const void* symmetric,
                                                    std::uint64_t bytes, std::uint32_t near) noexcept {
  if (is_near(context, symmetric, bytes, near)) [[likely]]
    return locate_near(context, symmetric, near);
  return resolve_cold(context, site, reinterpret_cast<std::uintptr_t>(symmetric), bytes, pe_at(context, near));
}
[[gnu::always_inline]] inline Location resolve(const Context& context, Site site, const void* symmetric,
                                               std::uint64_t bytes, int pe) noexcept {
  return resolve_near(context, site, symmetric, bytes, near_index(context, pe));
}

// Resolve a word that is updated or waited for; the cold half requires that it is aligned.
[[gnu::noinline]] Location resolve_word_cold(const Context& context, Site site, std::uintptr_t address,
                                             std::size_t bytes, int pe) noexcept;
[[gnu::always_inline]] inline Location resolve_word(const Context& context, Site site, const std::uint64_t* symmetric,
                                                    int pe) noexcept {
  const std::uint32_t near = near_index(context, pe);
  if (is_near(context, symmetric, sizeof *symmetric, near)) [[likely]]
    return locate_near(context, symmetric, near);
  return resolve_word_cold(context, site, reinterpret_cast<std::uintptr_t>(symmetric), sizeof *symmetric,
                           pe_at(context, near));
}
void check_alignment(Site site, std::uintptr_t address, std::size_t bytes) noexcept;

// Below this address no program has memory.
inline constexpr std::uintptr_t kLeastAddress = 4096;
// Ends the job: the address of a local buffer is below that.
[[noreturn, gnu::cold, gnu::noinline]] void bad_local(Site site, const void* address) noexcept;

// Checks an address of routines without a PE, which access this PE's own copy: wait and test, and lock words.
bool is_symmetric(const Context& context, const void* address, std::uint64_t bytes) noexcept;

// Ends the job: there is no such PE in the context's team.
[[noreturn, gnu::cold, gnu::noinline]] void bad_pe(const Context& context, const char* routine, int pe);
// Ends the job when the handle is not that of a live context.
[[noreturn, gnu::cold, gnu::noinline]] void bad_context(const char* routine, std::uint64_t handle) noexcept;
[[noreturn, gnu::cold, gnu::noinline]] void not_initialized(const char* routine) noexcept;
// Ends the job when the library is not initialised, returns otherwise.
inline void require_initialized(const char* routine) noexcept {
  if (default_context().n_pes == 0) [[unlikely]]
    not_initialized(routine);
}
// Said by runtime: why the library cannot be used now ("before shmem_init", "after shmem_finalize", "in a forked
// child").
void set_unusable_reason(const char* reason) noexcept;

}  // namespace shmemx::context
