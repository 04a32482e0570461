#include "check/owners.hpp"

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <unordered_map>

#include "base/fatal.hpp"
#include "base/mutex.hpp"
#include "check/checks.hpp"
#include "stats/call_hooks.hpp"
#include "stats/span.hpp"

namespace shmemx::check {
namespace {

// A private context: its thread. A serialized one: the thread whose call is under way; 0: none.
struct Owner {
  std::atomic<Sharing> sharing{Sharing::free};
  std::atomic<std::uintptr_t> thread{0};
  std::atomic<const char*> routine{nullptr};  // of that call
};
constinit Owner owners[kMostContexts] = {};

std::uintptr_t this_thread() { return static_cast<std::uintptr_t>(::pthread_self()); }

[[noreturn]] void end_with_other(const char* routine, const Owner& owner) {
  const char* const other = owner.routine.load(std::memory_order_relaxed);  // for people
  fatal(routine,
        "argument 'ctx' was made with SHMEM_CTX_SERIALIZED, and another thread is in %s with it; allowed is one thread "
        "at a time",
        other == nullptr ? "a call" : other);
}

void check_private(const char* routine, const Owner& owner) {
  if (owner.thread.load(std::memory_order_relaxed) == this_thread()) return;  // set before others know the context
  fatal(routine,
        "argument 'ctx' was made with SHMEM_CTX_PRIVATE by another thread; allowed are calls of that thread, or a "
        "context of this one");
}

void begin_call(const stats::Call& call) noexcept {
  Owner& owner = owners[call.context];
  const Sharing sharing = owner.sharing.load(std::memory_order_relaxed);  // set before others know the context
  if (sharing == Sharing::free || !is_on()) return;
  if (sharing == Sharing::private_to_thread) return check_private(call.routine, owner);
  std::uintptr_t nobody = 0;
  const bool is_only = owner.thread.compare_exchange_strong(nobody, this_thread(), std::memory_order_relaxed);
  if (!is_only && nobody != this_thread()) end_with_other(call.routine, owner);
  owner.routine.store(call.routine, std::memory_order_relaxed);  // for people
}

void end_call(const stats::Call& call) noexcept {
  Owner& owner = owners[call.context];
  if (owner.sharing.load(std::memory_order_relaxed) != Sharing::serialized) return;  // as in begin_call()
  std::uintptr_t own = this_thread();
  owner.thread.compare_exchange_strong(own, 0, std::memory_order_relaxed);  // alone: no order is needed
}

struct TeamUser {
  std::uintptr_t thread;
  const char* routine;
};
struct TeamUsers {
  Mutex mutex;
  std::unordered_map<std::uint32_t, TeamUser> by_team;
};
// Never destroyed: threads may still use the library while the process exits.
TeamUsers& team_users() {
  static auto* const instance = new TeamUsers;
  return *instance;
}

}  // namespace

void TeamUse::begin(const char* routine) noexcept {
  TeamUsers& users = team_users();
  const std::lock_guard guard(users.mutex);
  const auto [user, is_first] = users.by_team.try_emplace(team_, TeamUser{this_thread(), routine});
  is_open_ = is_first;
  if (is_first || user->second.thread == this_thread()) return;
  fatal(routine,
        "another thread of this PE is in %s of the same team; allowed is one thread at a time in the collectives of a "
        "team",
        user->second.routine);
}

void TeamUse::end() noexcept {
  TeamUsers& users = team_users();
  const std::lock_guard guard(users.mutex);
  users.by_team.erase(team_);
}

void note_sharing(std::uint32_t context, Sharing sharing) noexcept {
  if (!is_on()) return;
  Owner& owner = owners[context];
  owner.thread.store(sharing == Sharing::private_to_thread ? this_thread() : 0, std::memory_order_relaxed);
  owner.sharing.store(sharing, std::memory_order_relaxed);  // others learn of the context later
  if (sharing == Sharing::free) return;
  stats::call_hooks = {begin_call, end_call};
  stats::observes = true;
}

void check_owner(const char* routine, std::uint32_t context) noexcept {
  if (!is_on()) return;
  const Owner& owner = owners[context];
  const Sharing sharing = owner.sharing.load(std::memory_order_relaxed);  // set before others know the context
  if (sharing == Sharing::private_to_thread) check_private(routine, owner);
  const std::uintptr_t user = owner.thread.load(std::memory_order_relaxed);  // a call that is under way
  if (sharing == Sharing::serialized && user != 0 && user != this_thread()) end_with_other(routine, owner);
}

}  // namespace shmemx::check
