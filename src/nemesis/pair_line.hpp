// A line that two processes share: one short message at a time, in either direction. They take turns: who has taken the
// message in it may write the next one. So a reply goes where its request came from. Its sender holds that line
// already, whereas a slot of a fastbox is in its receiver's cache and travels twice for each message.
//
// A stream in one direction finds the line in use after its first message and takes the fastbox. Messages of both ways
// are numbered together, so the receiver knows whether the one in the line is the next.
//
// The line travels once for each message only if nobody looks at it while its holder composes the next one: a look
// takes a share of the line, which the holder must get back before it can write. So a side that has written pauses: it
// does not look for about the time in which a prompt reply comes.
//
// Turns count the messages of both directions and wrap. The line is never more than one ahead of what a side knows.
//
// Edges:  turn   turn.store -> turn.load   the message, and that the message before has been read: both are in one line
#pragma once

#include "nemesis/fastbox.hpp"

namespace shmemx::nemesis {

struct alignas(kCacheLine) PairLine {
  std::atomic<std::uint32_t> turn;  // a LineTurn: of the message in it
  std::uint32_t head[3];            // the channel's
  std::byte payload[kCacheLine - 16];
};
static_assert(sizeof(PairLine) == kCacheLine && std::is_standard_layout_v<PairLine>);

inline constexpr std::size_t kLinePayloadBytes = sizeof(PairLine::payload);

// The two processes of a line. The first one writes the first message.
enum class LineSide : std::uint8_t { first, second };

using LineTurn = std::uint8_t;

// Times by the processor's counter, whose rate is near its clock's; they wrap. Reading it is no call.
using Cycles = std::uint32_t;
inline Cycles now_cycles() noexcept {
#if defined(__x86_64__)
  return static_cast<Cycles>(__builtin_ia32_rdtsc());
#else
  return 0;
#endif
}
// The longest pause: longer than a line and a short handler take, about 0.1 us.
#if defined(__x86_64__)
inline constexpr Cycles kLongestPause = 300;
#else
inline constexpr Cycles kLongestPause = 0;
#endif

// How long a prompt reply takes depends on the cores and on the handler, so each side finds out. After a first look
// that has found the reply the next pause is one step shorter; after one that was in vain, which costs about a
// transfer, it is several steps longer. A side keeps by how many steps its pause is shorter than the longest one.
using PauseSteps = std::uint8_t;
inline constexpr Cycles kPauseStep = 4;
inline constexpr PauseSteps kMostPauseSteps = kLongestPause == 0 ? 0 : 60;
static_assert(kMostPauseSteps * kPauseStep <= kLongestPause);
inline constexpr PauseSteps kStepsBack = 6;
inline constexpr Cycles kPromptLook = 128;  // a look that is later by more than that tells nothing about the pause
constexpr Cycles pause_of(PauseSteps steps) noexcept { return kLongestPause - steps * kPauseStep; }
constexpr PauseSteps next_steps(PauseSteps steps, bool found) noexcept {
  if (found) return steps < kMostPauseSteps ? static_cast<PauseSteps>(steps + 1) : steps;
  return steps > kStepsBack ? static_cast<PauseSteps>(steps - kStepsBack) : PauseSteps{0};
}

// The private half of each side. Zeros before the first message.
struct LineUser {
  Cycles written;          // when this side last wrote to the line; 0: it has looked at it since
  PauseSteps pause_steps;  // see above
  LineTurn turn;           // the last message that it has written or taken
  LineSide side;           // set at the first message

  // Returns whether this side writes the next message. Else it may only take one.
  constexpr bool may_write() const noexcept { return ((turn ^ static_cast<LineTurn>(side)) & 1U) == 0; }
};

}  // namespace shmemx::nemesis
