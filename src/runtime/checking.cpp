#include "runtime/checking.hpp"

#include <pthread.h>
#include <shmemx/types.h>

#include <cstring>

#include "check/blocks.hpp"
#include "check/c_library.hpp"
#include "check/checks.hpp"
#include "check/leaks.hpp"
#include "check/pending.hpp"
#include "coll/common/group.hpp"
#include "coll/exchange.hpp"
#include "context/context.hpp"
#include "onesided/order.hpp"
#include "stats/call_hooks.hpp"

namespace shmemx::runtime {
namespace {

struct LeakDigest {
  std::uint64_t digest;
  static bool merge(LeakDigest& into, const LeakDigest& from) noexcept { return into.digest == from.digest; }
};

// Has this PE left contexts that PE 0 has not?
bool has_other_contexts(coll::TeamGroup& group) {
  const LeakDigest mine{check::context_digest()};
  LeakDigest merged = mine;
  coll::Disagreement<LeakDigest> other{-1, {}};
  if (coll::exchange_merged(group, merged, other)) return false;
  if (!group.is_direct()) return other.pe == 0;
  std::memcpy(&other.data, group.published(0), sizeof other.data);
  return other.data.digest != mine.digest;
}

// Looks at all that has been watched.
void look_at_all(const char* routine) {
  check::verify(routine, check::Extent::all);
  onesided::quiet(routine);
}

}  // namespace

void open_checks(const config::Config& config, std::byte* heap, std::uint64_t heap_bytes) noexcept {
  check::enabled = config.check;
  if (!check::is_on()) return;
  context::uses_cold_halves = context::uses_cold_halves || check::watches_operations();
  check::forget_pending();
  check::forget_handles();
  check::watch_heap(heap, heap_bytes);
  check::watch_c_library();
}

void check_threads(int thread_level) noexcept {
  const bool is_one = check::is_on() && thread_level <= SHMEM_THREAD_FUNNELED;
  check::only_thread = is_one ? static_cast<std::uintptr_t>(::pthread_self()) : 0;
  check::thread_level_name = thread_level == SHMEM_THREAD_SINGLE ? "SHMEM_THREAD_SINGLE" : "SHMEM_THREAD_FUNNELED";
}

void end_checks(const char* routine) noexcept {
  if (!check::is_on()) return;
  look_at_all(routine);
  if (check::enabled.has(check::Checks::leaks)) {
    coll::TeamGroup group(coll::team_table[coll::kEndTeam], routine);
    group.begin(coll::call_word(coll::CallFamily::finalize));
    const bool is_other = has_other_contexts(group);
    check::report_leaks(routine, {group.me() == 0, group.me() == 0 || is_other});
  }
  check::enabled = {};
  check::only_thread = 0;
  stats::call_hooks = {};
}

void end_checks_at_exit(const char* routine) noexcept {
  if (!check::is_on()) return;
  check::only_thread = 0;  // any thread may call exit
  look_at_all(routine);
  const bool is_first = context::default_context().my_pe == 0;
  if (check::enabled.has(check::Checks::leaks) && is_first) check::report_leaks(routine, {true, true});
  check::enabled = {};
}

}  // namespace shmemx::runtime
