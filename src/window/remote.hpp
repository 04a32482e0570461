// The user's side of operations that travel by messages. Each request that wants an answer holds one of kTickets
// tickets until it comes; when none is free, whoever wants to send waits and polls. So any number of operations may be
// open, in bounded memory.
//
// The functions hand their data over before they return; what they started is complete when Completion says so.
#pragma once

#include <atomic>
#include <cstdint>

#include "atomic/elements.hpp"
#include "rma/shape.hpp"
#include "window/attached.hpp"

namespace shmemx::window {

// Where the end of an operation is noted. `counter` is a long of the program or of the caller's stack; positive while
// the operation is open. May be null.
struct Completion {
  long* counter;
  std::atomic<Code>* error;  // gets the first one
  bool awaited;              // somebody waits for it now; else it may leave together with what follows
};

// By start(). False: no memory.
bool set_up_remote() noexcept;
// With the channel's lock held.
void set_reply_handler() noexcept;

void put_remote(const char* routine, Attached& window, rma::PairWalk walk, Completion completion) noexcept;
void get_remote(const char* routine, Attached& window, rma::PairWalk walk, Completion completion) noexcept;
struct Operands {
  const std::byte* source;  // null with no_op
  std::byte* result;        // null: nothing is fetched
  std::uint64_t count;
};

// Offset, operands and result as atomic::apply() and atomic::apply_one() want them; the elements lie in the window.
void accumulate_remote(const char* routine, Attached& window, std::uint64_t offset, const atomic::Update& update,
                       Operands operands, Completion completion) noexcept;

struct AtomicCall {
  atomic::ElementType type;
  atomic::ElementOp op;
  std::uint64_t operand;
  std::uint64_t compare;
};
// Waits for the answer.
Code atomic_remote(const char* routine, Attached& window, std::uint64_t offset, const AtomicCall& call,
                   std::uint64_t& old) noexcept;

// Does the window live? Waits for the answer.
Code ask_owner(const char* routine, Attached& window) noexcept;

// Waits until the counter is 0.
void wait_for_counter(const char* routine, const long* counter) noexcept;
bool is_complete(const long* counter) noexcept;

// Completes what is open on the window, or with a PE. The first late error since the last time.
Code flush(const char* routine, Attached& window) noexcept;
Code flush_pe(const char* routine, int pe) noexcept;

}  // namespace shmemx::window
