// Buffers of nonblocking operations: from the call to the next quiet a source must not change, and a dest not be used.
// Loads and stores of the program are not seen. A digest tells at the quiet whether a source still is as it was, or a
// dest as the data came.
//
// Any thread. One mutex guards the table.
#pragma once

#include <cstdint>

namespace shmemx::check {

// Of an operation: the number of its context, and the PE of the world.
struct Initiator {
  std::uint32_t context;
  std::int32_t pe;
};
struct Range {
  const void* at;
  std::uint64_t bytes;
};

void note_source(const char* routine, const Range& source, const Initiator& of) noexcept;
// The data are in the dest already.
void note_dest(const char* routine, const Range& dest, const Initiator& of) noexcept;

// Another operation reads or writes the buffer. Ends the job if it is in use. A later get into the same dest takes the
// place of the earlier one.
void check_reading(const char* routine, const char* argument, const Range& buffer) noexcept;
void check_writing(const char* routine, const char* argument, const Range& buffer) noexcept;

// The operations of a context to a PE are complete. -1: of all contexts, or to all PEs. Ends the job if a buffer was
// touched meanwhile.
inline constexpr int kAny = -1;
void complete(const char* routine, int context, int pe) noexcept;
void forget_pending() noexcept;

}  // namespace shmemx::check
