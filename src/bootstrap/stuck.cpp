#include "bootstrap/stuck.hpp"

#include <cstring>

#include "base/hash.hpp"

namespace shmemx::bootstrap {
namespace {

constexpr char kFinalize[] = "shmem_finalize";

}  // namespace

// PEs that wait in shmem_finalize do not wait in vain for departed ones: those come there, too.
StuckWatch::Scan StuckWatch::scan(std::size_t observer, bool judges_all) const noexcept {
  Scan result;
  const std::uint32_t others = header_->n_pes - header_->n_node_pes;
  if (header_->foreign_left.load(std::memory_order_acquire) < others) return {};
  if (others > 0) result.ended = kForeign;
  bool in_vain = header_->foreign_finalized.load(std::memory_order_relaxed) > 0;
  bool has_observer = false;
  for (std::size_t place = 0; place < header_->n_node_pes; ++place) {
    const PeRecord& record = *record_of(header_, place);
    const PePhase phase = phase_of(record);
    const RoutineName routine = routine_of(record);
    const bool waits = phase != PePhase::none && routine[0] != '\0';
    if (phase == PePhase::departed) result.ended = static_cast<int>(place);
    if (!waits || liveness_.has_ended(place, record)) {
      if (phase == PePhase::none || !liveness_.has_ended(place, record)) return {};
      result.ended = static_cast<int>(place);
      in_vain = in_vain || phase != PePhase::finalized;
      continue;
    }
    if (!has_observer && place != observer) return {};
    has_observer = true;
    in_vain = in_vain || (phase != PePhase::departed && std::strcmp(routine.data(), kFinalize) != 0);
  }
  if (judges_all && result.ended == kNone) result.ended = kNobody;
  result.waits_in_vain = in_vain && result.ended != kNone;
  return result;
}

StuckWatch::Answers StuckWatch::answers_since(std::uint64_t wave) const noexcept {
  Fnv1a digest;
  std::uint64_t sent = 0;
  std::uint64_t executed = 0;
  for (std::size_t place = 0; place < header_->n_node_pes; ++place) {
    const PeRecord& record = *record_of(header_, place);
    if (liveness_.has_ended(place, record)) continue;
    const IdleReport& idle = record.idle;
    if (idle.wave.load(std::memory_order_acquire) < wave) return {.complete = false};  // idle
    const std::uint64_t state = idle.state.load(std::memory_order_relaxed);            // idle
    const std::uint64_t own[] = {idle.sent.load(std::memory_order_relaxed),
                                 idle.executed.load(std::memory_order_relaxed)};
    for (const std::uint64_t word : {std::uint64_t{place}, state, own[0], own[1]}) digest.add(word);
    sent += own[0];
    executed += own[1];
  }
  // The counts of a pair are of 32 bits.
  const bool all_arrived = static_cast<std::uint32_t>(sent) == static_cast<std::uint32_t>(executed);
  return {all_arrived, digest.digest()};
}

void StuckWatch::begin_wave(Stage stage) noexcept {
  stage_ = stage;
  wave_ = header_->idle_wave.fetch_add(1, std::memory_order_acq_rel) + 1;  // wave
}

int StuckWatch::look(std::size_t place, bool judges_all) noexcept {
  const Scan now = scan(place, judges_all);
  if (!now.waits_in_vain) {
    stage_ = Stage::none;
    return kNone;
  }
  if (stage_ == Stage::none) {
    begin_wave(Stage::first);
    return kNone;
  }
  const Answers answers = answers_since(wave_);
  if (!answers.complete) return kNone;
  if (stage_ == Stage::second && answers.digest == digest_) return now.ended;
  digest_ = answers.digest;
  begin_wave(Stage::second);
  return kNone;
}

}  // namespace shmemx::bootstrap
