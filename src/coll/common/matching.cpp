#include "coll/common/matching.hpp"

#include <algorithm>
#include <iterator>

#include "coll/common/flag_messages.hpp"
#include "context/route.hpp"

namespace shmemx::coll {

CallFamily family_in(CallWord call) noexcept {
  const std::uint32_t kind = kind_in(call);
  if (kind <= kind_of(CallFamily::destroy) || kind == kind_of(CallFamily::barrier))
    return static_cast<CallFamily>(kind);
  for (const CallFamily family : {CallFamily::broadcast, CallFamily::collect, CallFamily::fcollect,
                                  CallFamily::alltoall, CallFamily::alltoalls}) {
    if (kind >= kind_of(family) && kind < kind_of(family) + kSizesOfElements) return family;
  }
  if (kind < kind_of(CallFamily::reduce) || kind % kKindsOfOperator >= kKindTypes) return CallFamily::none;
  if (kind < kind_of(CallFamily::inclusive_scan)) return CallFamily::reduce;
  if (kind < kind_of(CallFamily::exclusive_scan)) return CallFamily::inclusive_scan;
  return kind < kind_of(CallFamily::exclusive_scan) + kKindTypes ? CallFamily::exclusive_scan : CallFamily::none;
}

void note_dest(Team& team, const void* dest) noexcept {
  const SymmetricName name = name_of_symmetric(dest);
  Calls& calls = team.calls;
  calls.digest = digest_after(calls.digest, name << kKindShift);
  std::copy_backward(calls.dests, std::end(calls.dests) - 1, std::end(calls.dests));
  calls.dests[0] = {calls.digest, name};
}

SymmetricName dest_of(const Calls& calls, std::uint64_t digest, CallWord call) noexcept {
  for (const Calls::Dest& dest : calls.dests) {
    if (dest.name != 0 && dest.digest == digest_before(digest, call)) return dest.name;
  }
  return 0;
}

void report_mismatch(const Team& team, const char* routine) noexcept {
  if (on_mismatch != nullptr) on_mismatch({team, routine, -1, 0, 0});
}

void look_at_tag(const Team& team, const char* routine, int pe, const MemberFlag& flag, std::uint64_t epoch) noexcept {
  const std::uint64_t tag = flag.tag.load(std::memory_order_relaxed);  // arrive, of this epoch or a later one
  std::atomic_thread_fence(std::memory_order_acquire);
  // A root of broadcasts may be any number of epochs ahead. Where the flag has still this one, the tag is of this epoch
  // or of the next.
  const bool is_ahead = flag.epoch.load(std::memory_order_relaxed) != epoch;
  const bool is_of_epoch = static_cast<std::uint16_t>(tag) == static_cast<std::uint16_t>(epoch);
  if (is_ahead || !is_of_epoch || tag == tag_of(team, epoch) || on_mismatch == nullptr) return;
  on_mismatch({team, routine, pe, epoch, tag - epoch});
}

void look_at_tags(const Team& team, const char* routine) noexcept {
  for (int pe = 0; pe < team.size(); ++pe) {
    if (pe == team.me() || !context::is_mapped(team.route, pe)) continue;
    look_at_tag(team, routine, pe, team.flag(team.me(), pe), team.epoch);
  }
  for (const auto& [pe, flag] : all_received_flags(team)) look_at_tag(team, routine, pe, *flag, team.epoch);
}

}  // namespace shmemx::coll
