// put, get and their kin by messages that the target executes: for peers whose memory is not mapped. The target checks
// name, offset and length before it touches memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "am/handlers.hpp"
#include "context/context.hpp"
#include "context/location.hpp"
#include "onesided/direct.hpp"
#include "rma/strided.hpp"

namespace shmemx::onesided {

// How the program's operations on a context are sent.
inline am::SendOptions options_of(const context::Context& context) noexcept {
  return {.leave = context::batches(context) ? am::Leave::session : am::Leave::idle};
}

// Returns when `source` may be used again. Complete at the target after flush(), unless `options` say otherwise.
// Long blocks go by the network's own put and get where it has them (rdma.hpp). Those of one source are in order with
// other messages, unless they are long.
void put(const char* routine, context::Place dest, const void* source, std::size_t bytes,
         am::SendOptions options = {}) noexcept;
// A put of the program: of any size by a network that needs no CPU of the target, if one leads there.
void put(const char* routine, const context::Context& context, const context::Place& dest, const void* source,
         std::size_t bytes) noexcept;
// As put(), but `source` stays in use until flush(): short ones may leave together with others, long ones are
// read from their place.
void put_nbi(const char* routine, const context::Context& context, context::Place dest, const void* source,
             std::size_t bytes) noexcept;
void put_strided(const char* routine, context::Place dest, const void* source, const rma::Strided& shape,
                 am::SendOptions options = {}) noexcept;
void put_strided(const char* routine, const context::Context& context, const context::Place& dest, const void* source,
                 const rma::Strided& shape) noexcept;
// An update of a signal word.
struct Signal {
  context::Place place;
  std::uint64_t value;
  int sig_op;
};
// Data first, then the signal: one message where it fits.
void put_signal(const char* routine, context::Place dest, const void* source, std::size_t bytes, const Signal& signal,
                am::SendOptions options = {}) noexcept;

// The signal alone, after everything sent to that PE before.
void update_signal(const char* routine, const Signal& signal, am::SendOptions options = {}) noexcept;

// Returns when the data are here.
void get(const char* routine, const context::Context& context, void* dest, context::Place source,
         std::size_t bytes) noexcept;
void get_strided(const char* routine, const context::Context& context, void* dest, context::Place source,
                 const rma::Strided& shape) noexcept;
// Complete after flush() of the context.
void get_nbi(const char* routine, const context::Context& context, void* dest, context::Place source,
             std::size_t bytes) noexcept;

// Sends what has been gathered, without waiting. At the end of a session.
void send_gathered() noexcept;

// What a flush waits for: what one context has started, or all, towards one PE (of the world), or all.
struct Scope {
  const context::Context* context = nullptr;  // null: all contexts, towards all PEs
  int pe = -1;                                // -1: all PEs
};
// quiet: all that was started before is done and visible.
void flush(const char* routine, const Scope& scope) noexcept;

// Before each message of the program's: returns when those puts of the context are complete that a fence has put before
// it, if the network orders nothing but puts behind them.
[[gnu::cold]] void await_fenced_puts(const char* routine, const context::Context& context) noexcept;
inline void order_message(const char* routine, const context::Context& context) noexcept {
  if (fenced_contexts.load(std::memory_order_relaxed) != 0) [[unlikely]]  // this thread's own are in it
    await_fenced_puts(routine, context);
}

// Orders what this thread does later after what it has done, including the context's puts by a network. Part of fence
// if some memory is not mapped.
void fence_unmapped(const char* routine, const context::Context& context) noexcept;

// Registers the handlers of requests and replies. By runtime, at init.
void set_handlers() noexcept;

}  // namespace shmemx::onesided
