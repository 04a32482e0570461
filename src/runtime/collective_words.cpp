#include "runtime/collective_words.hpp"

#include <shmemx/types.h>

#include <atomic>
#include <bit>

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
          load(from.digest),
          0};
}

SaidPassed passed_on(const coll::Team& team) {
  const coll::PassedCall& passed = team.calls.passed;
  SaidPassed said;
  static_cast<SaidCall&>(said) = {name_of(team), passed.epoch, passed.call, passed.digest,
                                  coll::dest_of(team.calls, passed.digest, passed.call)};
  said.routine = passed.routine != nullptr ? passed.routine : "";
  said.site = call_site_before(passed.site);
  return said;
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
  const coll::Calls& calls = team.calls;
  const coll::SymmetricName dest = coll::dest_of(calls, calls.digest, calls.latest);
  static_cast<SaidCall&>(said) = {name_of(team), team.epoch, calls.latest, calls.digest, dest};
  said.pe = pe;
  said.turn = own.turn.load(std::memory_order_relaxed);  // own
  said.before = said.is_in_finalize() ? coll::digest_of_all_pes() : said.digest_before();
  const coll::Team* const latest = coll::latest_passed.load(std::memory_order_relaxed);  // for people
  const bool is_mine = latest == &team || said.is_in_finalize() || thread_level() != SHMEM_THREAD_MULTIPLE;
  if (latest != nullptr && is_mine) said.passed = passed_on(*latest);
  return said;
}

Said own_passed(int pe, const CollectiveWait& own) {
  Said said;
  said.team.index_and_size = kNoTeam;
  said.pe = pe;
  said.turn = own.turn.load(std::memory_order_relaxed);                                  // own
  const coll::Team* const latest = coll::latest_passed.load(std::memory_order_relaxed);  // of this thread
  if (latest != nullptr) said.passed = passed_on(*latest);
  return said;
}

Said own_calls(const coll::background::UnderWay& call, int pe, const CollectiveWait& own) {
  Said said;
  static_cast<SaidCall&>(said) = {name_of(*call.team), call.number, call.tag.call, 0};
  said.pe = pe;
  said.turn = own.turn.load(std::memory_order_relaxed);  // own
  said.begun_at = call.tag.site;
  return said;
}

Said own_calls(const coll::ActiveSet& set, int pe, const CollectiveWait& own) {
  Said said;
  const auto stride = std::uint64_t{1} << set.log_stride;
  said.team = {kNewSet | static_cast<std::uint64_t>(set.size) << 32,
               static_cast<std::uint32_t>(set.start) | stride << 32};
  said.epoch = 1;
  said.call = coll::name_of_symmetric(set.psync);
  said.pe = pe;
  said.turn = own.turn.load(std::memory_order_relaxed);  // own
  return said;
}

coll::ActiveSet set_of(const SaidCall& call) {
  const int log_stride = std::countr_zero(static_cast<std::uint32_t>(call.team.stride()));
  return {call.team.start(), log_stride, call.team.size(), reinterpret_cast<const long*>(coll::address_of(call.call))};
}

bootstrap::Awaited awaited_call(const coll::Team& team) {
  using coll::CallFamily;
  bootstrap::Awaited awaited;
  const coll::CallWord call = team.calls.latest;
  const CallFamily family = coll::family_in(call);
  const TeamName name = name_of(team);
  const bool is_sync = family == CallFamily::sync || family == CallFamily::barrier;
  const bool names_team = family > CallFamily::reallocate || is_sync;
  if (!names_team || (is_sync && name.index() == coll::kWorldTeam)) return awaited;
  awaited.kind = bootstrap::Awaited::Kind::team;
  awaited.at = name.index_and_size;
  awaited.value = name.start_and_stride;
  if (family == CallFamily::broadcast) awaited.pe = coll::root_in(call);
  if (family >= CallFamily::broadcast && family != CallFamily::collect) awaited.count = coll::count_in(call);
  return awaited;
}

bootstrap::Awaited awaited_call(const bootstrap::Awaited& operation) {
  bootstrap::Awaited awaited;
  const auto call = coll::background::find_under_way(pt2pt::RequestId::of(operation.at));
  if (!call) return awaited;
  const TeamName name = name_of(*call->team);
  awaited.kind = bootstrap::Awaited::Kind::team;
  awaited.at = name.index_and_size;
  awaited.value = name.start_and_stride;
  if (coll::background::background_family(call->tag.call) == coll::CallFamily::broadcast)
    awaited.pe = coll::root_in(call->tag.call);
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
  own.dest.store(said.dest, std::memory_order_relaxed);
  own.passed_dest.store(said.passed.dest, std::memory_order_relaxed);
  own.begun_site.store(said.begun_at, std::memory_order_relaxed);
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
  said.dest = wait.dest.load(std::memory_order_relaxed);
  said.passed.dest = wait.passed_dest.load(std::memory_order_relaxed);
  said.begun_at = wait.begun_site.load(std::memory_order_relaxed);
  said.passed.routine = bootstrap::valid_name(bootstrap::name_in(wait.passed_routine));
  std::atomic_thread_fence(std::memory_order_acquire);
  if (wait.turn.load(std::memory_order_relaxed) != turn) return {};  // after the fence
  return said;
}

}  // namespace shmemx::runtime
