#include "runtime/globals.hpp"

#include "base/fatal.hpp"
#include "bootstrap/wire.hpp"
#include "context/address_text.hpp"
#include "runtime/start.hpp"

namespace shmemx::runtime {
namespace {

using bootstrap::PeRecord;
using bootstrap::StaticDataState;

std::string why_private(int pe, StaticDataState state) {
  const std::string name = "PE " + std::to_string(pe);
  switch (state) {
    case StaticDataState::threads:
      return name +
             " has a thread that cannot be stopped while static data are moved into shared memory (it blocks all "
             "signals, or is stuck in the kernel)";
    case StaticDataState::other_namespace:
      return name +
             " has loaded the library into a link namespace of its own (dlmopen), which knows no globals of the "
             "executable";
    case StaticDataState::switched_off:
      return "SHMEMX_STATIC_DATA=0 on " + name;
    case StaticDataState::found:
      break;
  }
  return {};
}

std::string difference(int pe, const PeRecord& theirs, const PeRecord& mine) {
  return "PE " + std::to_string(pe) + " runs '" + theirs.executable + "' with " + std::to_string(theirs.static_bytes) +
         " bytes of static data, this PE '" + mine.executable + "' with " + std::to_string(mine.static_bytes);
}

// Returns false if the record shows no reason against symmetric globals.
bool find_reason(int pe, const PeRecord& theirs, const PeRecord& mine, std::string& reason) {
  if (theirs.static_data != StaticDataState::found)
    reason = why_private(pe, theirs.static_data);
  else if (theirs.static_digest != mine.static_digest && mine.static_data == StaticDataState::found)
    reason = difference(pe, theirs, mine);
  return !reason.empty();
}

}  // namespace

void find_statics(StartParameters& parameters) {
  parameters.static_data = StaticDataState::found;
  if (!parameters.config.static_data) {
    parameters.static_data = StaticDataState::switched_off;
    return;
  }
  parameters.statics = windows::StaticData::of_executable();
  if (parameters.statics.is_other_namespace())
    parameters.static_data = StaticDataState::other_namespace;
  else if (parameters.statics.span_bytes() != 0 && windows::find_unstoppable_thread() != 0)
    parameters.static_data = StaticDataState::threads;
  if (parameters.static_data != StaticDataState::found) parameters.statics = windows::StaticData();
}

bool agree_on_statics(const windows::Arena& arena, StartParameters& parameters) {
  const PeRecord& mine = arena.record(parameters.identity.pe);
  std::string reason;
  StaticDataState state = StaticDataState::found;
  for (const auto& [pe, theirs] : arena.records()) {
    if (!find_reason(pe, *theirs, mine, reason)) continue;
    state = theirs->static_data;
    break;
  }
  if (reason.empty()) return true;
  debug_line("globals are not symmetric: %s", reason.c_str());
  const bool is_unasked = state == StaticDataState::threads || state == StaticDataState::other_namespace;
  if (is_unasked)
    parameters.config.warnings.push_back(
        "static data stay private on all PEs: " + reason +
        (state == StaticDataState::threads ? "; call shmem_init before such threads start, or set SHMEMX_STATIC_DATA=0"
                                           : ""));
  context::set_private_globals_reason(std::move(reason));
  return false;
}

}  // namespace shmemx::runtime
