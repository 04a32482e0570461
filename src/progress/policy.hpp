// How the threads of this PE wait: set by runtime at the first init of the process, before it starts a thread, as the
// progress thread of the networks goes on between two lives; read by every wait.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/wait_mode.hpp"
#include "bootstrap/awaited.hpp"
#include "progress/pace.hpp"

namespace shmemx::progress {

struct Hooks {
  // Called before each sleep step, with the arguments of the routine; ends the job if a peer is gone.
  void (*on_sleep)(const char* routine, const bootstrap::Awaited& awaited) = nullptr;
  void (*on_wake)() = nullptr;  // called once after a wait that slept
  // Called now and then by a loop of the program that has tested a value in vain since then. Null: the latest one ends.
  void (*on_vain_tests)(const char* routine, const bootstrap::Awaited& awaited, std::uint64_t since_ns) = nullptr;
  // Called if another process seems to run on the core of a waiter, and PEs do not outnumber cores: moves the waiter
  // away if that process is a PE. Null: PEs stay where they are.
  void (*part_from_pes)() = nullptr;
  // Called before a sleep, after the thread has been counted in threads_asleep: until it wakes, another thread must
  // look for messages. Not before the first short step of a wait for a node peer's store. Null where senders wake the
  // sleeper themselves.
  void (*leave_polling)() = nullptr;
  // Sleeps for at most `ns` on the networks, unless `wake_seq` of the own doorbell is no longer `seen`. not_at_all:
  // sleep on the doorbell instead. Null where nothing wakes a thread there.
  Slept (*sleep_on_networks)(std::uint32_t seen, std::uint64_t ns) = nullptr;
  // Called by progress threads between their steps: for requests of other processes. It takes no time if there are
  // none.
  void (*serve)() = nullptr;
  bool only_for_other_nodes = false;  // where node peers, whose stores wake the doorbell sooner, may end other waits
};

// Where nothing wakes a thread, as for a network without a descriptor (transport::Capabilities::waits).
struct Unwoken {
  std::uint64_t longest_sleep_ns = kUntilWoken;  // of a waiter and of the networks' thread
  // A waiter yields for this long, if that is longer than Policy::yield_ns and PEs do not outnumber cores: a sleep
  // notices late what has come.
  std::uint64_t yield_ns = 0;
};

struct Policy {
  std::uint32_t bare_polls = 200;    // polls without pause: the change is close; 1 where `poll` brings it
  std::uint32_t store_polls = 200;   // the same where a node peer's store brings it
  std::uint32_t pause_polls = 80;    // polls with pause after that; 0 when PEs outnumber cores
  std::uint64_t poll_ns = 0;         // not 0: polls for this time instead, as a poll of a network exceeds a pause
  std::uint64_t yield_ns = 200'000;  // then sched_yield between polls for this long
  SleepSteps sleep;                  // then sleep
  Unwoken unwoken;
  WaitMode mode = WaitMode::automatic;
  bool crowded = false;  // PEs outnumber the cores they may use
  // Tests call this library's cold half: `crowded`, or SHMEM_WATCHDOG has to know loops of them.
  bool tests_are_watched = false;
  Hooks hooks;
  // Handles messages that have arrived and returns whether there were any: what is waited for may depend on them. Null
  // where no messages can arrive. It never waits.
  bool (*poll)() = nullptr;
};
inline constinit Policy policy_storage;
inline Policy& policy() noexcept { return policy_storage; }

// Polls without pause of a waiter that expects a message of a PE of its node.
inline constexpr std::uint32_t kMessagePolls = 300;

// `poll` and `bare_polls` change when a thread sends the first message, while others may wait: read and written whole,
// in no order.
inline bool (*message_poll() noexcept)() { return std::atomic_ref(policy().poll).load(std::memory_order_relaxed); }
inline std::uint32_t bare_polls() noexcept {
  return std::atomic_ref(policy().bare_polls).load(std::memory_order_relaxed);
}

// Makes all waits of this process poll for messages from now on.
void open() noexcept;

// What open() changes, to be restored when a job that sent no messages ends: its next life need not look for any.
struct MessagePolls {
  bool (*poll)() = nullptr;
  std::uint32_t bare_polls = 0;
};
inline MessagePolls message_polls() noexcept { return {message_poll(), bare_polls()}; }
void set_message_polls(const MessagePolls& polls) noexcept;

inline bool is_open() noexcept { return message_poll() != nullptr; }

}  // namespace shmemx::progress
