// Lanes: puts and gets of one context by endpoints of a network that no other context uses (transport::Lane). Contexts
// that only one thread uses at a time, private and serialized ones, have one from their first put or get past the
// target's CPU on, up to kMostLanes of a process; the others share the endpoint of the process (direct.hpp).
//
// All that an operation reads and writes belongs to the lane, so it takes no lock. The thread that has used the lane
// last makes its operations end, also when it waits for something else: then its polls do. A thread that follows it
// takes the lane over under the endpoint's lock, so that no poll of the former user is inside.
//
// The lane finds pieces and keys in the table of the direct path when it needs them first, under the endpoint's lock.
// What it cannot do goes by the direct path. Then the context has operations under way in both, and fence and quiet
// wait for both.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/contact_table.hpp"
#include "base/own_stack.hpp"
#include "context/context.hpp"
#include "context/location.hpp"
#include "onesided/direct_table.hpp"
#include "rma/strided.hpp"
#include "transport/rma.hpp"

namespace shmemx::onesided {

// A PE as a lane reaches it.
struct LanePeer {
  std::uint32_t fences = 0;  // Lane::fences when all messages sent there before had been executed
  std::array<DirectPieces, windows::kBuiltinWindows> of_window;

  const DirectPieces& heap() const noexcept { return of_window[windows::kHeapWindow.index]; }
};

// Names the calling thread.
[[gnu::always_inline]] inline const void* this_thread() noexcept {
#if __has_builtin(__builtin_thread_pointer)
  return __builtin_thread_pointer();
#else
  return &stack_bounds;
#endif
}

struct Lane {
  std::unique_ptr<transport::Lane> network;  // null: to be opened at the first operation, and no PE is known
  const transport::Rma* rma = nullptr;       // of the network that it leads to
  const void* user = nullptr;                // this_thread() of the last user; written under the endpoint's lock
  std::uint32_t fences = 0;                  // that the context has called
  std::uint32_t looks = 0;
  std::uint32_t awaited = 0;  // calls that wait for an operation of their own
  DirectOpen open;
  Contacts<LanePeer> peers;
  bool uses_direct = false;               // operations of the context may be under way by the direct path
  std::atomic<bool> may_be_open = false;  // written by the lane's user; others read it as a hint
  std::uint32_t context = 0;              // index of the user, 0: none

  [[gnu::always_inline]] void note_open() noexcept {
    may_be_open.store(true, std::memory_order_relaxed);  // a look whether it is costs more
  }
};

// To be called for a new context that one thread at a time uses.
void want_lane(context::Context& context) noexcept;
// The context ends, and its operations have ended.
void release_lane(context::Context& context) noexcept;
// Under the endpoint's lock: ends all lanes. No operation is under way.
void close_lanes() noexcept;
// Under the endpoint's lock: may some operation of a lane be under way?
bool may_lanes_be_open() noexcept;

// By polls, under the endpoint's lock: makes operations of this thread's lanes end.
inline constinit bool has_lanes = false;
void progress_own_lanes() noexcept;

// Of a context with a lane, see direct.hpp. They return false, or fewer blocks, if the direct path has to do the rest.
bool put_by_lane(const char* routine, const context::Context& context, const context::Place& dest,
                 transport::Bytes source) noexcept;
bool put_nbi_by_lane(const char* routine, const context::Context& context, const context::Place& dest,
                     transport::Bytes source) noexcept;
std::size_t put_strided_by_lane(const char* routine, const context::Context& context, context::Place dest,
                                const void* source, const rma::Strided& shape) noexcept;
bool get_by_lane(const char* routine, const context::Context& context, std::span<std::byte> dest,
                 const context::Place& source) noexcept;
bool get_nbi_by_lane(const char* routine, const context::Context& context, std::span<std::byte> dest,
                     const context::Place& source) noexcept;
std::size_t get_strided_by_lane(const char* routine, const context::Context& context, void* dest, context::Place source,
                                const rma::Strided& shape) noexcept;
// Waits for one that the short path has started. Returns false if it has failed, as the PE is lost.
bool await_get_of_lane(const char* routine, Lane& lane, transport::Completion& completion) noexcept;

// Fence and quiet of a context with a lane. They return true if nothing else of the context is under way.
// A context whose lane is fenced (DirectOpen) goes on by another way: waits until its puts are complete.
void await_fenced_puts_of_lane(const char* routine, const context::Context& context) noexcept;
bool fence_lane(const char* routine, const context::Context& context) noexcept;
bool flush_lane(const char* routine, const context::Context& context) noexcept;
// Of all contexts, which no thread uses now.
void flush_lanes(const char* routine) noexcept;

}  // namespace shmemx::onesided
