#include "runtime/matching.hpp"

#include <shmemx/types.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "am/endpoint.hpp"
#include "base/clock.hpp"
#include "base/fatal.hpp"
#include "bootstrap/status.hpp"
#include "check/checks.hpp"
#include "coll/active_set/teams.hpp"
#include "coll/background/begin.hpp"
#include "coll/background/call_tag.hpp"
#include "coll/common/call_text.hpp"
#include "coll/common/matching.hpp"
#include "coll/common/team.hpp"
#include "coll/split.hpp"
#include "progress/policy.hpp"
#include "runtime/collective_words.hpp"
#include "runtime/inquiry.hpp"
#include "runtime/job.hpp"
#include "runtime/matching_line.hpp"
#include "runtime/waiting.hpp"

namespace shmemx::runtime {
namespace {

using bootstrap::CollectiveWait;
using coll::CallFamily;
using coll::CallWord;
using coll::Team;

constexpr std::uint64_t kFirstLookMs = 200;
constexpr std::uint64_t kMostPauseMs = 5000;   // between looks, which get rarer
constexpr int kAskedAtOnce = 16;               // members on other machines
constexpr int kMostMembers = 1024;             // of a team whose members are all asked, in turns
constexpr std::uint64_t kMostRepeated = 1000;  // calls that are undone
constexpr std::uint64_t kMeetingMs = 4000;     // the same where all have met, and it is not known who it is

struct Comparison {
  CollectiveWait* own = nullptr;
  std::atomic<bool> is_taken{false};  // a thread has said what it waits in
  std::atomic<std::uint64_t> next_look_ms{0};
  std::atomic<std::uint64_t> pause_ms{0};
  int next_member = 0;  // of the team, to be asked; of the thread that has said what it waits in
};
// Never destroyed: other threads may still wait while the process exits.
constinit Comparison* comparison = nullptr;
constinit thread_local bool has_published = false;

// Returns false if another thread of this PE has said what it waits in.
bool publish_once(const Said& said) {
  if (has_published) return true;
  if (comparison->is_taken.exchange(true, std::memory_order_acquire)) return false;
  has_published = true;
  publish(said, *comparison->own);
  comparison->pause_ms.store(kFirstLookMs, std::memory_order_relaxed);  // of this thread, like the next one
  comparison->next_look_ms.store(coarse_now_ms() + kFirstLookMs, std::memory_order_relaxed);
  return true;
}

std::optional<Said> said_by(int pe) { return said_in(wait_of(pe), pe); }

template <class Call>
Said said_here(const Call& call) {
  return own_calls(call, said_calls.pe, *comparison->own);
}

// Returns what this thread waits in, and has passed; nothing if that tells nothing.
std::optional<Said> said_here(const bootstrap::Awaited& awaited) {
  if (coll::awaited_team != nullptr) return said_here(*coll::awaited_team);
  if (coll::awaited_set != nullptr) return said_here(*coll::awaited_set);
  if (awaited.kind != bootstrap::Awaited::Kind::operation) return own_passed(said_calls.pe, *comparison->own);
  const auto call = coll::background::find_under_way(pt2pt::RequestId::of(awaited.at));
  return call ? std::optional(said_here(*call)) : std::nullopt;
}

// A wait for something else tells what was passed before it, if it lasts. Other threads may call collectives meanwhile.
bool tells_what_was_passed() {
  if (coll::latest_passed.load(std::memory_order_relaxed) == nullptr || thread_level() > SHMEM_THREAD_FUNNELED)
    return false;
  const std::uint64_t since_ns = record_of(said_calls.pe).waiting_since_ns.load(std::memory_order_relaxed);  // own
  return since_ns != 0 && now_ns() > since_ns + kFirstLookMs * 1'000'000;
}

bool has_something_to_say(const bootstrap::Awaited& awaited) {
  if (coll::awaited_team != nullptr || coll::awaited_set != nullptr) return true;
  return awaited.kind == bootstrap::Awaited::Kind::operation || has_published || tells_what_was_passed();
}

// ---- what two PEs have called ----

// Returns the call that led to `after`, if it is one.
std::optional<CallWord> call_after(std::uint64_t before, std::uint64_t after, int size) {
  const CallWord call = coll::call_between(before, after);
  return coll::is_call(call, size) ? std::optional(call) : std::nullopt;
}

// One of them has passed a collective, and it seems that the other one made another call in its place, just before the
// one that it waits in.
void end_with_passed(const Said& one, const Said& other) {
  if (!one.has_passed_on(other.team)) return;
  const auto call = call_after(one.passed.digest_before(), other.before, other.team.size());
  if (call && *call != one.passed.call) end_with(passed_call(one), {other.pe, *call, {}}, one.team.size());
}

bool waits_where_passed(const Said& one, const Said& other) {
  return !one.is_in_finalize() && other.has_passed_on(one.team) && one.epoch == other.passed.epoch;
}

// Do they differ where the digests tell nothing, or not only about them?
bool differ(const SaidCall& one, const SaidCall& other) {
  return one.call != other.call || (one.dest != other.dest && one.dest != 0 && other.dest != 0);
}

// The latest calls of the other one were all the same, and it made the first of them in place of the one that this one
// waits in. Then it may be any number of calls ahead.
bool waits_behind_repeated(const Said& one, const Said& other) {
  if (one.is_in_background() || !other.has_passed_on(one.team)) return false;
  const std::uint64_t first = one.is_in_finalize() ? 1 : one.epoch;
  SaidCall call = other.passed;
  for (std::uint64_t epoch = first; epoch <= other.passed.epoch && epoch < first + kMostRepeated; ++epoch) {
    call.digest = call.digest_before();
    if (call.digest == one.before) return one.is_in_finalize() || differ(one, call);
  }
  return false;
}

bool passed_differ(const Said& mine, const Said& theirs) {
  return mine.passed.epoch != 0 && mine.passed.epoch == theirs.passed.epoch && mine.passed.team == theirs.passed.team &&
         differ(mine.passed, theirs.passed);
}

// The digests of two members of a team differ: shows the calls that do.
[[noreturn]] void end_with_difference(const char* routine, const Said& mine, const Said& theirs) {
  const int size = mine.team.size();
  const bool same_team = mine.team == theirs.team && !mine.is_of_none();
  if (same_team && mine.epoch == theirs.epoch && mine.before == theirs.before)
    end_with(waiting_call(mine, routine), waiting_call(theirs, routine), size);
  if (waits_where_passed(mine, theirs)) end_with(waiting_call(mine, routine), passed_call(theirs), size);
  if (waits_where_passed(theirs, mine)) end_with(passed_call(mine), waiting_call(theirs, routine), size);
  if (passed_differ(mine, theirs)) end_with(passed_call(mine), passed_call(theirs), mine.passed.team.size());
  if (waits_behind_repeated(mine, theirs)) end_with(waiting_call(mine, routine), passed_call(theirs), size);
  if (waits_behind_repeated(theirs, mine)) end_with(passed_call(mine), waiting_call(theirs, routine), size);
  end_with_passed(mine, theirs);
  end_with_passed(theirs, mine);
  const std::string remark = ", after different calls";
  end_with(waiting_call(mine, routine), waiting_call(theirs, routine), size, {remark, remark});
}

// Of `pe` nothing is known but the digest of its calls.
[[noreturn]] void end_with_digest(const char* routine, const Said& mine, int pe, std::uint64_t digest) {
  const int size = mine.team.size();
  const Shown own = waiting_call(mine, routine);
  if (!mine.is_in_finalize()) {
    const auto call = call_after(mine.before, digest, size);
    if (call && *call != mine.call) end_with(own, {pe, *call, {}}, size);
    // Perhaps both make the same call, after different ones.
    const auto before = call_after(mine.passed.digest_before(), coll::digest_before(digest, mine.call), size);
    if (mine.has_passed_on(mine.team) && before && *before != mine.passed.call)
      end_with(passed_call(mine), {pe, *before, {}}, size);
  }
  if (check::is_on()) end_with(own, {pe, 0, {}}, size);  // the digest holds the place of dest, too
  const std::string remark = ", after different calls";
  end_with(own, {pe, mine.call, {}}, size, {remark, remark});
}

// ---- PEs that wait ----

bool contradicts(const Said& mine, const Said& theirs) {
  if (mine.is_in_background() || theirs.is_in_background())
    return mine.team == theirs.team && mine.is_in_background() == theirs.is_in_background() &&
           mine.epoch == theirs.epoch && mine.call != theirs.call;
  const bool same_team = mine.team == theirs.team && !mine.is_of_none();
  if (same_team && mine.epoch == theirs.epoch) return mine.digest != theirs.digest;
  if (waits_where_passed(mine, theirs)) return mine.digest != theirs.passed.digest;
  if (waits_where_passed(theirs, mine)) return theirs.digest != mine.passed.digest;
  return passed_differ(mine, theirs) || waits_behind_repeated(mine, theirs) || waits_behind_repeated(theirs, mine);
}

// Returns whether `pe` of a team cannot complete a collective before `other` has entered it.
bool needs(const SaidCall& said, int pe, int other) {
  const CallWord call = said.call;
  switch (said.is_in_background() ? coll::background::background_family(call) : coll::family_in(call)) {
    case CallFamily::none:
      return false;
    case CallFamily::broadcast:
      return coll::root_in(call) == other && pe != other;
    case CallFamily::inclusive_scan:
    case CallFamily::exclusive_scan:
      return other < pe && coll::count_in(call) != 0;
    case CallFamily::fcollect:
    case CallFamily::alltoall:
    case CallFamily::alltoalls:
    case CallFamily::reduce:
      return coll::count_in(call) != 0;
    default:
      return true;
  }
}

// Returns whether the PE waits in a collective that needs this PE, which has not entered it.
bool lacks_this_pe(int pe, const SaidCall& theirs) {
  if (theirs.is_of_new_set()) return theirs.team.set().find(Pe{said_calls.pe}) && !coll::has_met(set_of(theirs));
  if (theirs.team.index() >= coll::kTeamEntries) return false;
  const Team& team = coll::team_table[theirs.team.index()];
  const auto their_number = team.route.set.find(Pe{pe});
  if (name_of(team) != theirs.team || !their_number) return false;
  const std::uint64_t entered = theirs.is_in_background() ? coll::background::begun(theirs.team.index()) : team.epoch;
  return entered < theirs.epoch && needs(theirs, their_number->value, team.me());
}

bool says_lacking(const CollectiveWait& wait, std::uint64_t word) {
  for (const std::atomic<std::uint64_t>& entry : wait.lacking) {
    if (entry.load(std::memory_order_acquire) == word) return true;  // lacking
  }
  return false;
}

// Returns false if there is no room.
bool say_lacking(std::uint64_t word) {
  for (std::atomic<std::uint64_t>& entry : comparison->own->lacking) {
    const std::uint64_t there = entry.load(std::memory_order_relaxed);  // own
    if (there == word) return true;
    if (there != 0) continue;
    entry.store(word, std::memory_order_release);  // lacking
    return true;
  }
  return false;
}

// Those of one team that block are compared in other ways.
bool is_elsewhere(const Said& mine, const Said& theirs) {
  if (mine.is_in_background() || theirs.is_in_background()) return true;
  return mine.team != theirs.team || (mine.is_of_new_set() && mine.call != theirs.call);
}

// No other thread of the program may enter a collective.
bool is_alone() { return thread_level() <= SHMEM_THREAD_FUNNELED || program_threads().size() == 1; }

// The PE waits in a collective of another team, or in another kind of collective.
void look_at_other_team(const char* routine, const Said& mine, const Said& theirs) {
  if (!mine.team.set().find(Pe{theirs.pe}) || !lacks_this_pe(theirs.pe, theirs)) return;
  if (!say_lacking(CollectiveWait::lacking_word(theirs.pe, theirs.turn))) return;
  if (!says_lacking(wait_of(theirs.pe), CollectiveWait::lacking_word(mine.pe, mine.turn))) return;
  if (!says(theirs.pe, theirs.turn)) return;
  end_with_waits(mine, routine, theirs);
}

// Reads the answers that PEs of other machines have sent in this wait, and sends requests to some members, in turns.
void look_at_other_machines(const char* routine, const Said& mine, bool alone) {
  for (ForeignPe* const heard : heard_in(mine.turn)) {
    const std::optional<Said> theirs = said_by(heard->pe);
    if (!theirs) continue;
    if (contradicts(mine, *theirs)) end_with_difference(routine, mine, *theirs);
    const bool lacks = heard->lacks_turn.load(std::memory_order_relaxed) == mine.turn;  // after its turn
    if (alone && lacks && is_elsewhere(mine, *theirs) && lacks_this_pe(theirs->pe, *theirs))
      end_with_waits(mine, routine, *theirs);
  }
  const TeamName& team = mine.is_of_none() ? mine.passed.team : mine.team;
  const int size = team.size();
  if (size > kMostMembers) return;
  for (int looked = 0, asked = 0; looked < size && asked < kAskedAtOnce; ++looked) {
    comparison->next_member = (comparison->next_member + 1) % size;
    const int pe = team.set().world(TeamPe{comparison->next_member}).value;
    if (!is_foreign(pe)) continue;
    send_inquiry(pe, mine);
    ++asked;
  }
}

void look_at_others(const char* routine, const Said& mine) {
  if (coll::awaited_team != nullptr) coll::look_at_tags(*coll::awaited_team, routine);
  const bool alone = is_alone();
  forget_lacking(*comparison->own);
  for (std::size_t place = 0; place < said_calls.arena->header().n_node_pes; ++place) {
    const int pe = said_calls.arena->pe_at(place);
    if (pe == mine.pe) continue;
    const std::optional<Said> theirs = said_by(pe);
    if (!theirs) continue;
    if (contradicts(mine, *theirs)) end_with_difference(routine, mine, *theirs);
    if (alone && !mine.is_of_none() && is_elsewhere(mine, *theirs)) look_at_other_team(routine, mine, *theirs);
  }
  const bootstrap::JobHeader& header = said_calls.arena->header();
  if (header.n_pes > header.n_node_pes) look_at_other_machines(routine, mine, alone);
}

// ---- members that have met ----

// Returns what another member says that contradicts. One that is late says what it waited in before. `pe`: of the
// world, which has made the calls of `digest`; -1: any.
std::optional<Said> find_other(const Said& mine, int pe, std::uint64_t digest) {
  if (pe >= 0 && is_foreign(pe)) {
    const std::optional<Said> theirs = said_by(pe);
    return theirs && (theirs->digest == digest || contradicts(mine, *theirs)) ? theirs : std::nullopt;
  }
  for (std::size_t place = 0; place < said_calls.arena->header().n_node_pes; ++place) {
    const int at = said_calls.arena->pe_at(place);
    if (at == mine.pe || (pe >= 0 && at != pe)) continue;
    const std::optional<Said> theirs = said_by(at);
    if (!theirs) continue;
    const bool is_seen = pe >= 0 && theirs->team == mine.team && theirs->digest == digest;
    if (is_seen || contradicts(mine, *theirs)) return theirs;
  }
  return {};
}

void end_on_mismatch(const coll::Mismatch& seen) noexcept {
  const Team& team = seen.team;
  const int pe = seen.pe < 0 ? -1 : context::world_pe(team.route, seen.pe);
  publish_once(said_here(team));
  bootstrap::set_routine(record_of(said_calls.pe), seen.routine);
  note_site();
  const Said mine = said_here(team);
  const std::uint64_t end = coarse_now_ms() + (pe < 0 ? kMeetingMs : kSayMs);
  while (coarse_now_ms() < end) {
    if (const auto theirs = find_other(mine, pe, seen.digest)) end_with_difference(seen.routine, mine, *theirs);
    pause_for(pe, mine);
  }
  if (pe >= 0) end_with_digest(seen.routine, mine, pe, seen.digest);
  const bool may_be_threads = thread_level() == SHMEM_THREAD_MULTIPLE && program_threads().size() > 1;
  fatal(seen.routine, "other PEs of the team (%s) are in other collectives%s",
        coll::members_text(team.route.set).c_str(),
        may_be_threads ? ", or several threads of one PE are in collectives of the team at once; SHMEM_CHECK=1 tells"
                       : "");
}

// The PE of the other machine is about to report. This one may be called while messages are handled, so it polls for
// none.
void wait_for_end_of_job() {
  const std::uint64_t end = coarse_now_ms() + kSayMs;
  while (coarse_now_ms() < end) pause();
}

// Both sides have said all of it in their messages.
void end_on_background_mismatch(const coll::background::Mismatch& seen) noexcept {
  Shown mine{seen.mine, 0, seen.my_call, seen.my_site - 1};
  Shown theirs{seen.theirs, 0, seen.their_call, seen.their_site - 1};
  if (theirs.pe < mine.pe) std::swap(mine, theirs);
  if (mine.pe != said_calls.pe && is_foreign(mine.pe)) wait_for_end_of_job();
  std::string places;
  if (claim_report()) places = places_of(mine, theirs);
  fatal_at(places.c_str(), "pe %d: %s does not match pe %d: %s", mine.pe, mine.routine.c_str(), theirs.pe,
           theirs.routine.c_str());
}

}  // namespace

void watch_collectives(windows::Arena& arena) {
  auto* const made = new Comparison;
  said_calls = {&arena, diagnostic_identity().pe};
  comparison = made;
  made->own = &wait_of(said_calls.pe);
  open_inquiries(arena);
  coll::on_mismatch = end_on_mismatch;
  coll::background::on_mismatched_call = end_on_background_mismatch;
}

void note_collective(const char* routine, const bootstrap::Awaited& awaited) {
  if (comparison == nullptr || !has_something_to_say(awaited)) return;
  if (!has_published) {
    const std::optional<Said> said = said_here(awaited);
    if (!said || !publish_once(*said)) return;
  }
  if (said_calls.arena->header().reporter.load(std::memory_order_relaxed) != 0 || site_is_wanted()) note_site();
  const std::uint64_t now = coarse_now_ms();
  if (now < comparison->next_look_ms.load(std::memory_order_relaxed)) return;  // of this thread, like the next ones
  const std::uint64_t pause_ms = std::min(2 * comparison->pause_ms.load(std::memory_order_relaxed), kMostPauseMs);
  comparison->pause_ms.store(pause_ms, std::memory_order_relaxed);
  comparison->next_look_ms.store(now + pause_ms, std::memory_order_relaxed);
  if (const std::optional<Said> said = said_here(awaited)) look_at_others(routine, *said);
}

// Once in a while, whichever thread waits.
void compare_background_calls() {
  static constinit std::atomic<std::uint64_t> next_ms{0};
  const std::uint64_t now = coarse_now_ms();
  if (now < next_ms.load(std::memory_order_relaxed)) return;  // a hint
  next_ms.store(now + kFirstLookMs, std::memory_order_relaxed);
  // A PE that has sent no message polls for none, and what it has not expected may be all that others wait for.
  if (!progress::is_open() && am::poll()) progress::open();
  coll::background::compare_with_others();
}

bool lacks_this_pe_alone(int pe, const SaidCall& theirs) {
  return theirs.epoch != 0 && lacks_this_pe(pe, theirs) && is_alone();
}

void forget_collective() noexcept {
  if (!has_published) return;
  has_published = false;
  const std::uint64_t turn = comparison->own->turn.load(std::memory_order_relaxed);  // own
  comparison->own->turn.store(turn + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // before what the next wait says
  comparison->is_taken.store(false, std::memory_order_release);
}

}  // namespace shmemx::runtime
