// Decides whether the PEs of an arena wait for something that can never come, since a PE has ended without what the
// others expect of it. The job goes on unless that is proven:
//
// - Every PE has ended, or all of its threads wait.
// - An observer begins a wave: it counts up JobHeader::idle_wave. A PE answers when each of its threads has looked,
//   after it saw the wave, whether its wait is over, in vain: it writes the wave and a digest of its waits into its
//   record. The digest changes whenever a wait ends or a thread runs.
// - When all have answered, the observer begins a second wave. If the answers are those of the first one, nobody has
//   moved between the two: each PE was idle from its first answer on, so what PEs had done before was done when the
//   second wave began, and every thread has looked since then. So there is nothing that any of them could find.
// - Messages are no exception. A PE does not answer while anything that it has sent to a living PE is under way, or
//   while something has arrived that it has not handled; and as many messages have been sent between PEs of the arena
//   as were executed.
//
// It is the termination detection by two waves of Mattern ("Algorithms for distributed termination detection", 1987).
#pragma once

#include <cstddef>
#include <cstdint>

#include "bootstrap/liveness.hpp"
#include "bootstrap/wire.hpp"

namespace shmemx::bootstrap {

class StuckWatch {
 public:
  StuckWatch() = default;
  StuckWatch(JobHeader* header, const Liveness& liveness) noexcept : header_(header), liveness_(liveness) {}

  // One step of the proof, to be called every half second or so by a PE that waits. Does nothing unless `place`, in the
  // arena, is the lowest that waits: one PE observes. Returns the place of a PE that has ended if the proof is
  // complete, kNone if not, kForeign if the PEs that have ended are of other arenas.
  // `judges_all`: the proof holds also if no PE has ended, which returns kNobody. Only something outside of the job
  // could end such waits.
  int look(std::size_t place, bool judges_all) noexcept;
  static constexpr int kNone = -1;
  static constexpr int kForeign = -2;
  static constexpr int kNobody = -3;

 private:
  enum class Stage : std::uint8_t { none, first, second };  // which wave is under way
  // Whether the PEs have ended or say that they wait.
  struct Scan {
    bool waits_in_vain = false;  // all others wait, and what they wait for is not the end of the job
    int ended = kNone;
  };
  struct Answers {
    bool complete = true;
    std::uint64_t digest = 0;
  };

  Scan scan(std::size_t observer, bool judges_all) const noexcept;
  Answers answers_since(std::uint64_t wave) const noexcept;
  void begin_wave(Stage stage) noexcept;

  JobHeader* header_ = nullptr;
  Liveness liveness_;
  Stage stage_ = Stage::none;
  std::uint64_t wave_ = 0;
  std::uint64_t digest_ = 0;  // of the answers to the first wave
};

}  // namespace shmemx::bootstrap
