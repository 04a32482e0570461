// The progress agents: threads that run what has arrived while no other thread of the PE is in the library. They sleep
// while there is nothing to do, and while others poll they only look at intervals whether those still do. One sleeps
// where PEs of the node ring, one on the descriptors of the networks; a job has those that it needs.
#pragma once

namespace shmemx::channel {

// Starts the thread for messages of the node if it does not run; opens the channel. Any thread, any time after
// set_up().
void start_agent() noexcept;
// The same for the networks, if there are any that can be slept on.
void start_network_agent() noexcept;
// Ends both and waits for their end. Does nothing when none runs.
void stop_agent() noexcept;
bool agent_runs() noexcept;

}  // namespace shmemx::channel
