// The progress agent: a thread that runs what has arrived while no other thread of the PE is in the library. It sleeps
// while there is nothing to do, and while others poll it only looks at intervals whether they still do.
#pragma once

namespace shmemx::channel {

// Starts the thread if it does not run; opens the channel. Any thread, any time after set_up().
void start_agent() noexcept;
// Ends it and waits for its end. Does nothing when it does not run.
void stop_agent() noexcept;
bool agent_runs() noexcept;

}  // namespace shmemx::channel
