#include "runtime/collective_words.hpp"

#include <shmemx/types.h>

#include <atomic>

#include "base/call_site.hpp"
#include "bootstrap/status.hpp"
#include "coll/common/matching.hpp"
#include "coll/split.hpp"
#include "runtime/job.hpp"

namespace shmemx::runtime {

using bootstrap::CollectiveWait;

namespace {

void store_call(CollectiveWait::Call& into, const SaidCall& call) {
  const auto store = [](std::atomic<std::uint64_t>& word, std::uint64_t value) {
    word.store(value, std::memory_order_relaxed);  // published by the turn
  };
  store(into.team.index_and_size, call.team.index_and_size);
  store(into.team.start_and_stride, call.team.start_and_stride);
  store(into.epoch, call.epoch);
  store(into.call, call.call);
  store(into.digest, call.digest);
}

SaidCall load_call(const CollectiveWait::Call& from) {
  const auto load = [](const std::atomic<std::uint64_t>& word) {
    return word.load(std::memory_order_relaxed);  // valid if the turn is the same afterwards
  };
  return {{load(from.team.index_and_size), load(from.team.start_and_stride)},
          load(from.epoch),
          load(from.call),
          load(from.digest)};
}

}  // namespace

TeamName name_of(const coll::Team& team) {
  const team::PeSet& set = team.route.set;
  return {team.route.team_index | static_cast<std::uint64_t>(team.route.n_pes) << 32,
          static_cast<std::uint32_t>(set.start()) | static_cast<std::uint64_t>(static_cast<std::uint32_t>(set.stride()))
                                                        << 32};
}

Said own_calls(const coll::Team& team, int pe, const CollectiveWait& own) {
  Said said;
  static_cast<SaidCall&>(said) = {name_of(team), team.epoch, team.calls.latest, team.calls.digest};
  said.pe = pe;
  said.turn = own.turn.load(std::memory_order_relaxed);  // own
  said.before = said.is_in_finalize() ? coll::digest_of_all_pes() : coll::digest_before(said.digest, said.call);
  const coll::Team* const latest = coll::latest_passed.load(std::memory_order_relaxed);  // for people
  const bool is_mine = latest == &team || said.is_in_finalize() || thread_level() != SHMEM_THREAD_MULTIPLE;
  if (latest == nullptr || !is_mine) return said;
  const coll::PassedCall& passed = latest->calls.passed;
  static_cast<SaidCall&>(said.passed) = {name_of(*latest), passed.epoch, passed.call, passed.digest};
  said.passed.routine = passed.routine != nullptr ? passed.routine : "";
  said.passed.site = call_site_before(passed.site);
  return said;
}

bootstrap::Awaited awaited_call(const coll::Team& team) {
  using coll::CallFamily;
  bootstrap::Awaited awaited;
  const coll::CallWord call = team.calls.latest;
  const CallFamily family = coll::family_in(call);
  const TeamName name = name_of(team);
  const bool names_team = family > CallFamily::reallocate || family == CallFamily::sync;
  if (!names_team || (family == CallFamily::sync && name.index() == coll::kWorldTeam)) return awaited;
  awaited.kind = bootstrap::Awaited::Kind::team;
  awaited.at = name.index_and_size;
  awaited.value = name.start_and_stride;
  if (family == CallFamily::broadcast) awaited.pe = coll::root_in(call);
  if (family >= CallFamily::broadcast && family != CallFamily::collect) awaited.count = coll::count_in(call);
  return awaited;
}

void forget_lacking(CollectiveWait& own) {
  for (std::atomic<std::uint64_t>& entry : own.lacking) entry.store(0, std::memory_order_relaxed);  // own
}

void publish(const Said& said, CollectiveWait& own) {
  store_call(own.waiting, said);
  store_call(own.passed, said.passed);
  own.digest_before.store(said.before, std::memory_order_relaxed);  // published by the turn, like the next one
  own.passed_site.store(said.passed.site, std::memory_order_relaxed);
  bootstrap::set_words(own.passed_routine, said.passed.routine.c_str());
  forget_lacking(own);
  own.turn.store(said.turn + 1, std::memory_order_release);  // said
}

std::optional<Said> said_in(const CollectiveWait& wait, int pe) {
  const std::uint64_t turn = wait.turn.load(std::memory_order_acquire);  // said
  if (turn % 2 == 0) return {};
  Said said;
  static_cast<SaidCall&>(said) = load_call(wait.waiting);
  static_cast<SaidCall&>(said.passed) = load_call(wait.passed);
  said.pe = pe;
  said.turn = turn;
  said.before = wait.digest_before.load(std::memory_order_relaxed);  // valid if the turn is the same, like the next one
  said.passed.site = wait.passed_site.load(std::memory_order_relaxed);
  said.passed.routine = bootstrap::valid_name(bootstrap::name_in(wait.passed_routine));
  std::atomic_thread_fence(std::memory_order_acquire);
  if (wait.turn.load(std::memory_order_relaxed) != turn) return {};  // after the fence
  return said;
}

}  // namespace shmemx::runtime
