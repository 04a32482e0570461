// The progress threads: they handle messages while no other thread of the PE is in the library. They sleep while there
// is nothing to do, and while other threads poll they only look at intervals whether those still do. One sleeps on the
// PE's doorbell, one on the descriptors of the networks; a job has those that it needs.
#pragma once

#include "base/doorbell.hpp"

namespace shmemx::progress {

// Starts the thread for messages of the node if it does not run, and makes all waits poll. Any thread, any time after
// am::set_up().
void start_node_thread() noexcept;
// Starts the thread for messages of the networks, if something wakes it: their descriptors, or its policy
// (Policy::unwoken). A waiter may sleep in its place: any without node peers, else one that awaits a
// message of another node.
void start_network_thread(bool has_node_peers) noexcept;
// End one or both and wait for it. Do nothing if none runs.
void stop_node_thread() noexcept;
void stop_threads() noexcept;

// Wakes the networks' thread from its sleep.
void wake_network_thread() noexcept;
// Wakes the thread that sleeps on the networks in place of that doorbell, if there is one: of this PE, or of another
// one of the node.
void wake_network_sleeper(Doorbell& doorbell) noexcept;

}  // namespace shmemx::progress
