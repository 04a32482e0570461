// The progress agents: threads that run what has arrived while no other thread of the PE is in the library. They sleep
// while there is nothing to do, and while others poll they only look at intervals whether those still do. One sleeps
// where PEs of the node ring, one on the descriptors of the networks; a job has those that it needs.
#pragma once

#include <atomic>

namespace shmemx::am {

// Starts the thread for messages of the node if it does not run; opens the channel. Any thread, any time after
// set_up().
void start_agent() noexcept;
// The same for the networks, if there are any that can be slept on. Without node peers a waiter may sleep in its place.
void start_network_agent(bool has_node_peers) noexcept;
// End one or both and wait for it. Do nothing when none runs.
void stop_node_agent() noexcept;
void stop_agents() noexcept;
bool agent_runs() noexcept;

// Is the networks' agent in a long sleep, so that it would not see messages that have been gathered?
inline constinit std::atomic<bool> network_agent_dozes{false};
void ring_network_agent() noexcept;

}  // namespace shmemx::am
