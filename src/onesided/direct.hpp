// Puts and gets of the program, of any size, by a network that needs no CPU of the target: one look-up in an array, one
// lock, one call of the network, no allocation. A blocking get then looks at that network alone, not at the endpoint.
// A context with a lane uses that where it can (lane.hpp).
// The general path (rdma.hpp) asks for the keys; from then on what lies in one registered piece of the heap or of the
// static data is accessed like this.
//
// Where something does not fit, the general path or messages do it: no key yet, a range over two pieces, another
// network has taken over. All counts are read and written under the endpoint's lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "context/context.hpp"
#include "context/location.hpp"
#include "rma/strided.hpp"
#include "transport/rma.hpp"

namespace shmemx::onesided {

// Is a piece of a PE known? Set under the endpoint's lock, and read without.
inline constinit std::atomic<bool> direct_keys{false};
inline bool has_direct_keys() noexcept { return direct_keys.load(std::memory_order_relaxed); }  // a hint
// Is one known, and does nothing observe or check operations? Then the short path (short_path.hpp) may do them.
inline constinit std::atomic<bool> short_path{false};
[[gnu::always_inline]] inline bool has_short_path() noexcept { return short_path.load(std::memory_order_relaxed); }

// By the general path, under the endpoint's lock: `place` lies in the piece of `bytes` from `begin` on.
struct DirectPiece {
  std::uint64_t begin;
  std::uint64_t bytes;
  transport::RemoteKey* key;
  std::uint64_t short_bytes = 0;  // from `begin` on: a short operation that begins there ends in the piece

  // An offset in front of the piece becomes a large distance.
  bool holds(std::uint64_t offset, std::uint64_t n) const noexcept { return bytes >= n && offset - begin <= bytes - n; }
};
struct DirectNetwork {
  transport::Rma* rma;
  bool has_reserve;  // another network may take over: what is under way is kept (rdma.hpp)
};
void add_direct(const context::Place& place, const DirectPiece& piece, const DirectNetwork& network);
// Under the endpoint's lock. All operations have ended.
void forget_direct() noexcept;

// To be called for each new context of the table, before its first operation.
void open_direct(context::Context& entry) noexcept;

// Return false if the general path has to do it, all of it; the strided ones how many blocks, from the first on, are
// done. Require has_direct_keys(), and something to do.
// Returns when the source may be used again.
bool put_direct(const char* routine, const context::Context& context, const context::Place& dest, const void* source,
                std::size_t bytes) noexcept;
// The source stays in use until the flush of the context.
bool put_nbi_direct(const char* routine, const context::Context& context, const context::Place& dest,
                    const void* source, std::size_t bytes) noexcept;
std::size_t put_strided_direct(const char* routine, const context::Context& context, const context::Place& dest,
                               const void* source, const rma::Strided& shape) noexcept;
bool get_direct(const char* routine, const context::Context& context, void* dest, const context::Place& source,
                std::size_t bytes) noexcept;
bool get_nbi_direct(const char* routine, const context::Context& context, void* dest, const context::Place& source,
                    std::size_t bytes) noexcept;
std::size_t get_strided_direct(const char* routine, const context::Context& context, void* dest, context::Place source,
                               const rma::Strided& shape) noexcept;

// Under the endpoint's lock: has some operation not ended yet?
bool has_direct_open() noexcept;

// Orders what the context does to a PE later after its puts that are under way there. If the network does so only for
// puts, the context is fenced until these are complete: then no message of it may leave (order_message()).
void fence_direct_puts(const char* routine, const context::Context& context) noexcept;
bool is_fenced(const context::Context& context) noexcept;
inline constinit std::atomic<std::uint32_t> fenced_contexts{0};  // also those with a lane that is
// Wait until the puts of a context, or all of its operations, or those of all contexts (null), are complete.
void await_direct_puts(const char* routine, const context::Context& context) noexcept;
void await_direct(const char* routine, const context::Context* context) noexcept;

}  // namespace shmemx::onesided
