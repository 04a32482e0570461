// The line about two collective calls that do not match, and what PEs of this arena and others say for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "bootstrap/wire.hpp"
#include "coll/common/call.hpp"
#include "runtime/collective_words.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// Set by watch_collectives(), before anything below is called.
struct SaidCalls {
  windows::Arena* arena = nullptr;
  int pe = 0;  // this one
};
inline constinit SaidCalls said_calls;

bool is_foreign(int pe);
// Of a PE of another machine it is what that one has answered.
bootstrap::PeRecord& record_of(int pe);
bootstrap::CollectiveWait& wait_of(int pe);
// Returns whether the wait of this number lasts.
bool says(int pe, std::uint64_t turn);

void pause();
inline constexpr std::uint64_t kSayMs = 1500;  // the longest time for another PE to say where it is
// Waits a moment for what `pe` says; -1: others of this arena.
void pause_for(int pe, const Said& mine);

// Notes where the program called what this PE waits in, if nobody has.
void note_site();

// A call as the line shows it.
struct Shown {
  int pe;
  coll::CallWord call;
  std::string routine;           // empty: not known
  std::uintptr_t site = 0;       // 0: not known
  std::uint64_t turn = 0;        // of the wait in it, if that tells the site
  coll::SymmetricName dest = 0;  // 0: not known
};
Shown waiting_call(const Said& said, const char* own_routine);
Shown passed_call(const Said& said);
std::string places_of(const Shown& first, const Shown& second);

// Ends the job. `remarks`: what follows each of the two calls.
[[noreturn]] void end_with(Shown first, Shown second, int team_size, std::pair<std::string, std::string> remarks = {});
// Ends the job for two waits that need each other.
[[noreturn]] void end_with_waits(const Said& mine, const char* own_routine, const Said& theirs);

}  // namespace shmemx::runtime
