#include "runtime/matching_line.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>

#include "am/endpoint.hpp"
#include "base/call_site.hpp"
#include "base/clock.hpp"
#include "base/fatal.hpp"
#include "base/object_name.hpp"
#include "bootstrap/status.hpp"
#include "coll/background/call_tag.hpp"
#include "coll/common/call_text.hpp"
#include "runtime/inquiry.hpp"

namespace shmemx::runtime {

using bootstrap::CollectiveWait;
using coll::CallFamily;
using coll::CallWord;

namespace {

constexpr std::uint64_t kSiteMs = 500;  // until it has noted where it was called

}  // namespace

bool is_foreign(int pe) { return !said_calls.arena->has(pe); }

bootstrap::PeRecord& record_of(int pe) { return is_foreign(pe) ? foreign_pe(pe).record : said_calls.arena->record(pe); }

CollectiveWait& wait_of(int pe) {
  if (is_foreign(pe)) return foreign_pe(pe).wait;
  return *bootstrap::collective_wait_of(&said_calls.arena->header(), said_calls.arena->place_of(pe));
}

bool says(int pe, std::uint64_t turn) { return wait_of(pe).turn.load(std::memory_order_acquire) == turn; }

void pause() {
  constexpr timespec kPause{0, 2'000'000};
  ::nanosleep(&kPause, nullptr);
}

void pause_for(int pe, const Said& mine) {
  if (pe >= 0 && is_foreign(pe)) {
    send_inquiry(pe, mine);
    am::poll();
  }
  pause();
}

void note_site() {
  std::atomic<std::uint64_t>& site = record_of(said_calls.pe).call_site;
  if (site.load(std::memory_order_relaxed) == 0) site.store(call_site(), std::memory_order_relaxed);  // for people
}

namespace {

// A PE that waits notes the place when it finds that another one is about to report.
std::uintptr_t site_of(const Shown& shown) {
  if (shown.turn == 0) return shown.site;
  const std::uint64_t end = coarse_now_ms() + kSiteMs;
  const std::atomic<std::uint64_t>& site = record_of(shown.pe).call_site;
  while (site.load(std::memory_order_relaxed) == 0 && says(shown.pe, shown.turn) && coarse_now_ms() < end)
    pause_for(shown.pe, {});
  return site.load(std::memory_order_relaxed);  // for people
}

std::string routine_of(const Said& said, const char* own_routine) {
  if (said.pe == said_calls.pe) return own_routine;
  return bootstrap::waiting_routine(&said_calls.arena->header(), record_of(said.pe));
}

// PEs of other machines run the same program, as a rule.
std::string executable_of(int pe) {
  return "/proc/" + std::to_string(record_of(is_foreign(pe) ? said_calls.pe : pe).pid) + "/exe";
}

std::string place_of(const Shown& shown) {
  const std::uintptr_t site = site_of(shown);
  return site != 0 ? call_site_text(executable_of(shown.pe), site) : std::string();
}

bool is_of_memory(const Shown& shown) {
  const CallFamily family = coll::family_in(shown.call);
  return family == CallFamily::allocate || family == CallFamily::release || family == CallFamily::reallocate;
}

// Both PEs of a pair find out. On two machines each would print its line, so the second one lets the first one do so.
void let_other_machine_report(const Shown& first, const Shown& second) {
  if (second.pe != said_calls.pe || !is_foreign(first.pe)) return;
  const std::uint64_t end = coarse_now_ms() + kSayMs;
  while (coarse_now_ms() < end) pause_for(first.pe, {});
}

std::string symmetric_text(coll::SymmetricName name) {
  using Space = bootstrap::Awaited::Space;
  bootstrap::Awaited awaited;
  awaited.space = coll::is_in_heap(name) ? Space::heap : Space::executable;
  awaited.at = coll::is_in_heap(name) ? (name >> 1) - 1 : coll::address_of(name) - load_bias();
  return bootstrap::place_text(executable_of(said_calls.pe), awaited);
}

// Where only the places of dest differ.
void remark_dests(const Shown& first, const Shown& second, std::pair<std::string, std::string>& remarks) {
  if (first.call != second.call || first.dest == second.dest || first.dest == 0 || second.dest == 0) return;
  remarks.first += " with 'dest' at " + symmetric_text(first.dest);
  remarks.second += " with 'dest' at " + symmetric_text(second.dest);
}

std::string text_of(const Shown& shown, int team_size) {
  const bool is_in_background = (shown.call & coll::background::kBackgroundMark) != 0;
  if (is_in_background) return coll::background::background_text(nullptr, shown.call);
  const std::string text = coll::call_text(shown.routine, shown.call, team_size);
  if (shown.routine != "shmem_realloc") return text;
  const CallFamily family = coll::family_in(shown.call);
  if (family == CallFamily::release) return text + " (0 bytes: a free)";
  return family == CallFamily::allocate ? text + " (null: an allocation)" : text;
}

// Returns " (team 0x4003)", as the program has it; empty if that is no team of it.
std::string handle_text(const Said& said) {
  const std::size_t index = said.team.index();
  if (index >= coll::kMaxTeams || coll::team_table[index].handle == 0) return {};
  char text[32];
  std::snprintf(text, sizeof text, " (team %#llx)", static_cast<unsigned long long>(coll::team_table[index].handle));
  return text;
}

// `is_alike`: the other call is the same but for its team or its array.
std::string remark_of(const Said& said, bool is_alike) {
  const std::size_t index = said.team.index();
  if (index == coll::kWorldTeam) return is_alike ? " of team WORLD" : "";
  if (index == coll::kEndTeam) return {};
  if (!said.is_of_new_set()) return " of " + coll::members_text(said.team.set());
  const coll::ActiveSet set = set_of(said);
  const std::string psync = is_alike ? ", pSync at " + symmetric_text(said.call) : "";
  return " (PE_start " + std::to_string(set.start) + ", logPE_stride " + std::to_string(set.log_stride) + ", PE_size " +
         std::to_string(set.size) + psync + ")";
}

}  // namespace

Shown waiting_call(const Said& said, const char* own_routine) {
  const CallWord call = said.is_of_new_set() ? 0 : said.call;
  if (said.is_in_background() && said.begun_at != 0) return {said.pe, call, {}, said.begun_at - 1};
  return {said.pe, call, routine_of(said, own_routine), 0, said.turn, said.dest};
}

Shown passed_call(const Said& said) {
  return {said.pe, said.passed.call, said.passed.routine, said.passed.site, 0, said.passed.dest};
}

std::string places_of(const Shown& first, const Shown& second) {
  const std::string places[] = {place_of(first), place_of(second)};
  if (!places[0].empty() && !places[1].empty()) return places[0] + " and at " + places[1];
  if (!places[0].empty()) return places[0] + " by pe " + std::to_string(first.pe);
  return places[1].empty() ? std::string() : places[1] + " by pe " + std::to_string(second.pe);
}

void end_with(Shown first, Shown second, int team_size, std::pair<std::string, std::string> remarks) {
  if (second.pe < first.pe) {
    std::swap(first, second);
    std::swap(remarks.first, remarks.second);
  }
  remark_dests(first, second, remarks);
  note_site();  // another PE may be about to report
  let_other_machine_report(first, second);
  std::string places;
  if (claim_report()) places = places_of(first, second);
  const bool may_be_empty = is_of_memory(first) != is_of_memory(second);
  fatal_at(places.c_str(), "pe %d: %s%s does not match pe %d: %s%s%s", first.pe, text_of(first, team_size).c_str(),
           remarks.first.c_str(), second.pe, text_of(second, team_size).c_str(), remarks.second.c_str(),
           may_be_empty ? "; a call that asks for 0 bytes or names a null pointer is none" : "");
}

void end_with_waits(const Said& mine, const char* own_routine, const Said& theirs) {
  const Shown first = waiting_call(mine, own_routine);
  const Shown second = waiting_call(theirs, own_routine);
  const bool is_alike = mine.is_of_new_set() ? mine.team == theirs.team : text_of(first, 0) == text_of(second, 0);
  std::pair<std::string, std::string> remarks{remark_of(mine, is_alike), remark_of(theirs, is_alike)};
  const bool are_alike = remarks.first == remarks.second && !remarks.first.empty();
  if (are_alike && mine.team != theirs.team) {  // two teams of the same PEs
    remarks.first += handle_text(mine);
    remarks.second += handle_text(theirs);
  }
  end_with(first, second, 0, remarks);
}

}  // namespace shmemx::runtime
