// Ends a job whose PEs make collective calls that do not match, with one line that shows the calls of two of them. It
// is found in four ways:
//
// - The tags of flags, or the digests at a counter, differ (coll/common/matching.hpp).
// - Two members of a team wait, at the same epoch, in different collectives of it. A PE says in the arena in which
//   collective it waits, and one that waits for long looks at what the others say. It also looks at all flags that it
//   has got at that epoch, whether it waits for them or not.
// - One member waits in a collective at whose epoch another one has left a broadcast. A PE that waits for long,
//   whatever for, says which broadcast it has left last. It may have left any number of the same broadcasts since then.
// - Two PEs wait in collectives of different teams that both belong to, in the first one of different active sets, or
//   one of them in a collective in the background, and each needs the other. Both say so of the other's wait, in
//   `lacking`: the collective that it waits in cannot complete without this PE, which has not entered it and, as it
//   waits itself and has no other thread that could, never will. A wait that lasts has a number, so if the two
//   statements are about the waits that last, neither can end.
//
// A PE asks those of other machines by messages (runtime/inquiry.hpp).
//
// A PE that is merely late contradicts nobody.
#pragma once

#include "runtime/collective_words.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// Called once, when the arena's header is mapped.
void watch_collectives(windows::Arena& arena);

// Called before each sleep of a thread, and when one that has slept goes on.
void note_collective(const char* routine, const bootstrap::Awaited& awaited);
void compare_background_calls();
void forget_collective() noexcept;

// Returns whether the collective that PE `pe` waits in cannot complete before this PE has entered it, and no thread of
// this PE but the one that waits could. For a thread that handles messages while another one waits.
bool lacks_this_pe_alone(int pe, const SaidCall& theirs);

}  // namespace shmemx::runtime
