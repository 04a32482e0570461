#include "runtime/deadlock.hpp"

#include <cstring>
#include <string>

#include "base/call_site.hpp"
#include "base/fatal.hpp"
#include "base/object_name.hpp"
#include "bootstrap/status.hpp"
#include "coll/common/symmetric.hpp"
#include "context/context.hpp"

namespace shmemx::runtime {
namespace {

using bootstrap::Awaited;
using bootstrap::PeActivity;
using bootstrap::PeRecord;
using Kind = Awaited::Kind;

Kind kind_of(const PeRecord& record) {
  if (bootstrap::routine_of(record)[0] == '\0') return Kind::nothing;
  return bootstrap::load(record.awaited).kind;
}

// Returns the lowest PE that waits for something of this kind; -1 if none does.
int find_waiting(const windows::Arena& arena, Kind kind) {
  for (const auto& [pe, record] : arena.records()) {
    if (arena.has(pe) && kind_of(*record) == kind) return pe;
  }
  return -1;
}

// Returns this PE's copy of the awaited word; null if it is not symmetric.
const std::byte* own_copy_of(const Awaited& awaited) {
  const context::Context& world = context::default_context();
  if (awaited.space == Awaited::Space::heap) return reinterpret_cast<const std::byte*>(world.heap_base + awaited.at);
  if (awaited.space != Awaited::Space::executable) return nullptr;
  const std::uintptr_t address = awaited.at + load_bias();
  const bool is_symmetric = address - world.static_base < world.static_bytes;
  return is_symmetric ? reinterpret_cast<const std::byte*>(address) : nullptr;
}

// Returns "; on pe 2 it is 1" for a PE whose copy of the word has another value: perhaps it was meant for the PE that
// waits. Empty if there is none.
std::string other_copy_text(const Awaited& awaited, int waiting_pe) {
  const context::Context& world = context::default_context();
  const std::byte* const own = own_copy_of(awaited);
  if (own == nullptr || awaited.word_bytes > sizeof awaited.now) return {};
  for (int pe = 0; pe < static_cast<int>(world.n_pes); ++pe) {
    if (pe == waiting_pe || !context::is_mapped(world, pe)) continue;
    std::uint64_t value = 0;
    std::memcpy(&value, coll::mapped_copy(world, own, pe), awaited.word_bytes);
    if (std::memcmp(&value, &awaited.now, awaited.word_bytes) == 0) continue;
    return "; on pe " + std::to_string(pe) + " it is " + std::to_string(value);
  }
  return {};
}

std::string reason_of(const Awaited& awaited, int pe) {
  switch (awaited.kind) {
    case Kind::word:
      return "nobody has written such a value and all other PEs wait, too, or have ended" +
             other_copy_text(awaited, pe);
    case Kind::words:
      return "nobody has written such values and all other PEs wait, too, or have ended";
    case Kind::lock:
      return "nobody clears the lock and all other PEs wait, too, or have ended";
    case Kind::message:
      if (awaited.count != Awaited::kNoCount)
        return "nobody receives the message and all other PEs wait, too, or have ended";
      return "nobody has sent such a message and all other PEs wait, too, or have ended";
    default:
      return "no other PE makes a call that fits and all other PEs wait, too, or have ended";
  }
}

}  // namespace

bool some_wait_for_values(const windows::Arena& arena) noexcept {
  return find_waiting(arena, Kind::word) >= 0 || find_waiting(arena, Kind::words) >= 0;
}

bool some_wait_in_collectives(const windows::Arena& arena) noexcept {
  return find_waiting(arena, Kind::team) >= 0 || find_waiting(arena, Kind::nothing) >= 0;
}

void end_deadlock(windows::Arena& arena, const char* routine) noexcept {
  int pe = -1;
  for (const Kind kind : {Kind::word, Kind::words, Kind::lock, Kind::message}) {
    if (pe < 0) pe = find_waiting(arena, kind);
  }
  if (pe < 0) pe = diagnostic_identity().pe;
  const PeRecord& record = arena.record(pe);
  const std::string executable = "/proc/" + std::to_string(record.pid) + "/exe";
  const std::string waits_in =
      pe == diagnostic_identity().pe ? routine : bootstrap::waiting_routine(&arena.header(), record);
  const Awaited awaited = bootstrap::load(record.awaited);
  const std::uintptr_t site = record.call_site.load(std::memory_order_relaxed);
  const std::string place = site != 0 && claim_report() ? call_site_text(executable.c_str(), site) : std::string();
  fatal_at(place.c_str(), "pe %d: %s%s: can never end, since %s", pe, waits_in.c_str(),
           bootstrap::awaited_text(executable, {awaited}).c_str(), reason_of(awaited, pe).c_str());
}

}  // namespace shmemx::runtime
