// The one way to wait.
#pragma once

#include <atomic>
#include <span>

namespace shmemx::interpose {

// True as soon as a process is reached by messages: then a wait polls from its first step on.
inline std::atomic<bool> awaits_messages{false};

// How many steps a wait spins before it gives the processor away. Where processes share cores, what it waits for is done
// by one that needs this core. Where each process of the node has a core, a yield may cost the time slices of whatever
// else runs there.
inline unsigned spins_before_yield = 2;
// Returns true if that is not so.
bool yields_early();
// Decides that. Once, when the job starts; collective. `pe_of_rank`: by rank of MPI_COMM_WORLD.
void choose_spins(std::span<const int> pe_of_rank);

// Gives the processor away: yields for `steps` that are few, then sleeps for longer and longer.
void release_core(unsigned steps);

// One step of a wait that has lasted `steps` steps: spins, then gives the processor away, then sleeps for longer and
// longer. Both libraries make progress meanwhile, since what is waited for may depend on messages of the MPI below.
void wait_a_little(unsigned steps);

// Waits until a counter of shmemx's operations is 0. Sleeps soon, and wakes with the reply: what the target's progress
// thread needs may be this core.
void wait_for_counter(const long* counter);

// Waits until done() returns true.
template <class Done>
void wait_until(Done done) {
  for (unsigned steps = 0; !done(); ++steps) wait_a_little(steps);
}

}  // namespace shmemx::interpose
