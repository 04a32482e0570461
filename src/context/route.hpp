// From (context, symmetric address, PE) to the address in the peer's memory. The hot half is inline; the cold half
// finds static data, and names what is wrong with anything else.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/doorbell.hpp"
#include "context/context.hpp"

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

// Where the peer's copy of an object is, and where its owner sleeps. For a peer whose memory is not mapped: where this
// PE's own copy is, and no doorbell; the operation then goes by a message.
struct Target {
  std::byte* address;
  Doorbell* doorbell;
};
// What resolve() then gives is this PE's own copy, checked.
inline bool is_remote(const Target& target) noexcept { return target.doorbell == nullptr; }

template <std::size_t Bytes>
inline constexpr int kSizeClass = std::countr_zero(std::bit_ceil(Bytes));

// The place of `pe` among the near PEs; n_near or more if it is none of them. Hot halves count from there, and hand
// this number to the cold ones: so they need not keep `pe`, and a job of several nodes costs no instruction more.
inline std::uint32_t near_index(const Context& context, int pe) noexcept {
  return static_cast<std::uint32_t>(pe) - context.first_near;
}
inline int pe_at(const Context& context, std::uint32_t near) noexcept {
  return static_cast<int>(near + context.first_near);
}
inline std::byte* near_heap(const Context& context, std::uint32_t index) noexcept {
  return context.near_heap + static_cast<std::int64_t>(index) * context.pe_step;
}
// How far in bytes the block of `pe`, which is mapped, lies behind that of the first near PE.
inline std::int64_t block_distance(const Context& context, int pe) noexcept {
  const std::uint32_t near = near_index(context, pe);
  if (near < context.n_near) [[likely]]
    return static_cast<std::int64_t>(near) * context.pe_step;
  const int first = world_pe(context, static_cast<int>(context.first_near));
  return (node_index(world_pe(context, pe)).value - node_index(first).value) * places.block_step;
}
// The heap of a PE whose memory is mapped.
inline std::byte* peer_heap(const Context& context, int pe) noexcept {
  return context.near_heap + block_distance(context, pe);
}

// The rest of the routes: static data of the executable; PE check included. Ends the job with a diagnostic when the
// address is not symmetric, the range leaves its window or the PE is out of range. A range of 0 bytes is always fine.
[[gnu::noinline]] Target resolve_cold(const Context& context, Site site, std::uintptr_t address, std::uint64_t bytes,
                                      int pe) noexcept;

inline bool pe_in_range(const Context& context, int pe) noexcept {
  return static_cast<std::uint32_t>(pe) < context.n_pes;
}

// Returns whether `bytes` at `offset` lie in a window of `window_bytes`. An offset at its end does not, even with 0
// bytes.
constexpr bool range_fits(std::uint64_t offset, std::uint64_t bytes, std::uint64_t window_bytes) noexcept {
  return offset < window_bytes && bytes <= window_bytes - offset;
}

inline bool in_heap(const Context& context, std::uintptr_t address, std::uint64_t bytes) noexcept {
  return range_fits(address - context.heap_base, bytes, context.heap_bytes);
}

// A range of `bytes` at `address`.
[[gnu::always_inline]] inline Target resolve_near(const Context& context, Site site, const void* symmetric,
                                                  std::uint64_t bytes, std::uint32_t near) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(symmetric);
  if (in_heap(context, address, bytes) && near < context.n_near) [[likely]] {
    std::byte* const heap = near_heap(context, near);
    return {heap + (address - context.heap_base), &doorbell_of_heap(heap)};
  }
  return resolve_cold(context, site, address, bytes, pe_at(context, near));
}
[[gnu::always_inline]] inline Target resolve(const Context& context, Site site, const void* symmetric,
                                             std::uint64_t bytes, int pe) noexcept {
  return resolve_near(context, site, symmetric, bytes, near_index(context, pe));
}

// Checks an address of routines without a PE, which access this PE's own copy: wait and test, and lock words.
bool is_symmetric(const Context& context, const void* address, std::uint64_t bytes) noexcept;

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
