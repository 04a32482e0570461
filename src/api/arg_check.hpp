// Argument checks beyond those of the route: handles, strides, comparisons, operators, counts. They are functions, so
// that tests can call them. Each failed check ends the job with one line that names routine, argument, value and what
// is allowed.
#pragma once

#include <shmemx/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "am/endpoint.hpp"
#include "coll/common/team.hpp"
#include "context/route.hpp"
#include "progress/test_loop.hpp"
#include "sync/compare.hpp"

namespace shmemx::api {

using context::Context;

inline const Context& default_context() noexcept { return context::default_context(); }

// Returns the context of a handle. Any value may be passed: a wrong one ends the job without an access outside the
// table.
[[gnu::always_inline]] inline const Context& checked_context(shmem_ctx_t ctx, const char* routine) noexcept {
  const auto handle = reinterpret_cast<std::uintptr_t>(ctx);
  const Context& context = context::context_at(handle);
  if (context.handle != handle) [[unlikely]]
    context::bad_context(routine, handle);
  return context;
}

coll::Team& checked_team(shmem_team_t team, const char* routine) noexcept;
// Returns null for SHMEM_TEAM_INVALID; other invalid handles end the job.
coll::Team* team_or_null(shmem_team_t team, const char* routine) noexcept;
Context* context_or_null(shmem_ctx_t ctx, const char* routine) noexcept;

[[noreturn, gnu::cold, gnu::noinline]] void bad_argument(const char* routine, const char* argument, long long value,
                                                         const char* allowed) noexcept;

inline void check_comparison(const char* routine, int cmp) noexcept {
  if (!sync::valid_comparison(cmp)) [[unlikely]]
    bad_argument(routine, "cmp", cmp, "the SHMEM_CMP_ constants");
}

inline void check_signal_operator(const char* routine, int sig_op) noexcept {
  if (sig_op != SHMEM_SIGNAL_SET && sig_op != SHMEM_SIGNAL_ADD) [[unlikely]] {
    bad_argument(routine, "sig_op", sig_op, "SHMEM_SIGNAL_SET and SHMEM_SIGNAL_ADD");
  }
}

// Rejects a number of elements that no memory can hold.
[[noreturn, gnu::cold, gnu::noinline]] void bad_count(const char* routine, const char* argument,
                                                      std::size_t count) noexcept;

// Rejects a null pointer for a result.
inline void check_result(const char* routine, const char* argument, const void* result) noexcept {
  if (result == nullptr) [[unlikely]]
    bad_argument(routine, argument, 0, "pointers to where the result goes");
}

// Rejects a null pointer for `bytes` bytes.
[[noreturn, gnu::cold, gnu::noinline]] void bad_memory(const char* routine, const char* argument) noexcept;
[[gnu::always_inline]] inline void check_memory(const char* routine, const char* argument, const void* memory,
                                                std::size_t bytes) noexcept {
  if (memory == nullptr && bytes != 0) [[unlikely]]
    bad_memory(routine, argument);
}

// Handles messages after a read of mapped memory, where no other thread may do so: they may bring what a program reads
// again and again.
inline void handle_messages_of_reader() noexcept {
  if (!context::node_is_mapped()) [[unlikely]] {
    am::poll();
  } else if (context::calls_make_progress) [[unlikely]] {
    progress::poll_at_intervals();
  }
}

template <class T>
inline std::uint64_t bits_of(T value) noexcept {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, std::min(sizeof value, sizeof bits));
  return bits;
}

// Notes a read of a word, or an operation that has left it unchanged: a loop of them may be a polling loop.
template <class T>
inline void note_answer(const char* routine, const void* address, T value) noexcept {
  constexpr std::size_t kBytes = std::min(sizeof value, sizeof(std::uint64_t));
  constexpr bool kIsSigned = std::is_integral_v<T> && static_cast<T>(-1) < T{};
  progress::note_same_answer(routine, address, bits_of(value), {0, kBytes, kIsSigned});
}

// Notes a read of mapped memory: no message has brought the answer, so the loop may need a rest, or messages.
template <class T>
inline void note_read(const char* routine, const void* address, T value) noexcept {
  handle_messages_of_reader();
  if (context::reads_are_watched || !context::node_is_mapped()) [[unlikely]] {
    if (!progress::repeated_test(address, bits_of(value))) return;
    if (context::alone_on_node) am::poll();
    note_answer(routine, address, value);
  }
}

// Rejects a null array whose element count is not zero.
inline void check_array(const char* routine, const char* argument, const void* array) noexcept {
  if (array == nullptr) [[unlikely]]
    bad_argument(routine, argument, 0, "arrays with as many elements as the count says");
}

// Rejects a stride below `least`. Strides count elements, from one to the next or from block to block.
inline void check_stride(const char* routine, const char* argument, std::ptrdiff_t stride, std::size_t least) noexcept {
  if (stride < 1 || static_cast<std::size_t>(stride) < least) [[unlikely]] {
    bad_argument(routine, argument, stride, least > 1 ? "strides of at least bsize" : "strides of at least 1");
  }
}

// Returns nelems * size. Ends the job if the product overflows.
inline std::uint64_t checked_bytes(const char* routine, std::size_t nelems, std::size_t size) noexcept {
  std::uint64_t bytes;
  if (__builtin_mul_overflow(nelems, size, &bytes)) [[unlikely]] {
    bad_count(routine, "nelems", nelems);
  }
  return bytes;
}

}  // namespace shmemx::api
