// The progress threads: they handle messages while no other thread of the PE is in the library. They sleep while there
// is nothing to do, and while other threads poll they only look at intervals whether those still do. One sleeps on the
// PE's doorbell, one on the descriptors of the networks; a job has those that it needs.
#pragma once

namespace shmemx::progress {

// Starts the thread for messages of the node if it does not run, and makes all waits poll. Any thread, any time after
// am::set_up().
void start_node_thread() noexcept;
// Starts the thread for messages of the networks, if something wakes it: their descriptors, or its policy
// (Policy::longest_sleep_ns). Without node peers a waiter may sleep in its place.
void start_network_thread(bool has_node_peers) noexcept;
// End one or both and wait for it. Do nothing if none runs.
void stop_node_thread() noexcept;
void stop_threads() noexcept;

// Wakes the networks' thread from its sleep.
void wake_network_thread() noexcept;
// Wakes the thread that sleeps on the networks in place of the networks' thread, if there is one.
void wake_network_sleeper() noexcept;

}  // namespace shmemx::progress
