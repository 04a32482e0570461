// Waiting: spin, then yield, then sleep. Every wait of the library is one of the four below.
//
//   wait_for         for a change of memory that another PE or thread makes
//   wait_for_store   the same where a node peer makes it: no network brings it, so they are polled rarely
//   wait_until       the same where a message brings the change: polls at once, first of all what one PE sends
//   wait_under_lock  for what may be read under the endpoint's lock only
//
// Where a program that computes shares the core (core_sharing.hpp), a waiter spins for the time of a wake-up and then
// sleeps: a yield there costs a time slice of that program, and a thread that is woken runs at once. A loop of the
// program that tests a value repeatedly, instead of waiting for it, is treated as a wait (test_loop.hpp).
//
// A waiter handles messages between its looks at the condition, and once more after it has marked itself as sleeping.
#pragma once

#include <cstdint>

#include "am/endpoint.hpp"
#include "progress/policy.hpp"

namespace shmemx::progress {

using PollFunction = bool (*)(void*);
using DescribeFunction = bootstrap::Awaited (*)(const void*);
// `describe`, which may be null, tells people what done(state) waits for.
[[gnu::noinline, gnu::cold]] void wait_slow(PollFunction done, void* state, const char* routine,
                                            DescribeFunction describe) noexcept;

// A condition of which the arguments can be told: describe() is called before a sleep.
template <class Done, class Describe>
struct Described {
  Done done;
  Describe describe;
  bool operator()() { return done(); }
  bootstrap::Awaited awaited() const { return describe(); }
};

template <class Done>
constexpr DescribeFunction describe_function() noexcept {
  if constexpr (requires(const Done& done) { done.awaited(); }) {
    return [](const void* done) { return static_cast<const Done*>(done)->awaited(); };
  } else {
    return nullptr;
  }
}

// Returns when done() has returned true. `routine` names the API routine for diagnostics.
template <class Done>
inline void wait_for(const char* routine, Done done) noexcept {
  for (std::uint32_t polls = bare_polls(); polls != 0; --polls) {
    if (done()) return;
  }
  wait_slow([](void* state) { return (*static_cast<Done*>(state))(); }, &done, routine, describe_function<Done>());
}

// The PE from which this thread expects a message, -1: any; for the polls that the waiting policy makes. Each reads it,
// so it lies at an offset from the thread's own block: a look-up would be a call.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local int expected_pe = -1;
class Expecting {
 public:
  explicit Expecting(int pe) noexcept : before_(expected_pe) { expected_pe = pe; }
  ~Expecting() { expected_pe = before_; }
  Expecting(const Expecting&) = delete;
  Expecting& operator=(const Expecting&) = delete;

 private:
  int before_;
};

// The two halves of wait_for_store(): the first returns whether the wait is over.
template <class Done>
inline bool poll_store(Done& done) noexcept {
  for (std::uint32_t polls = policy().store_polls; polls != 0; --polls) {
    if (done()) return true;
  }
  return false;
}
template <class Done>
inline void wait_for_store_slow(const char* routine, int pe, Done& done) noexcept {
  const Expecting expecting(pe);
  wait_slow([](void* state) { return (*static_cast<Done*>(state))(); }, &done, routine, describe_function<Done>());
}

// `pe`: any of the node peers that may make the change.
template <class Done>
inline void wait_for_store(const char* routine, int pe, Done done) noexcept {
  if (!poll_store(done)) wait_for_store_slow(routine, pe, done);
}

// Returns how many polls for messages come before the policy's ones.
std::uint32_t polls_at_once() noexcept;

// Returns how many looks at a network that finishes a put or get come first. They cost less: no messages are handled.
std::uint32_t looks_at_network() noexcept;

// Polls for messages until done() returns true, then waits by the policy. done() runs without the lock. Requires
// open().
template <class Done>
void wait_until(const char* routine, int expected, Done done) noexcept {
  if (done()) return;
  for (std::uint32_t polls = polls_at_once(); polls != 0; --polls) {
    am::poll(expected);
    if (done()) return;
  }
  const Expecting expecting(expected);
  wait_for(routine, done);
}

// Waits for what may be read under the endpoint's lock only: calls done(endpoint) before and after each poll.
template <class Done>
void wait_under_lock(const char* routine, int expected, Done done) noexcept {
  wait_for(routine, [&] {
    const am::Locked endpoint;
    if (done(*endpoint)) return true;
    endpoint->poll(expected);
    return done(*endpoint);
  });
}

}  // namespace shmemx::progress
