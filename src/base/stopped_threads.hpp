// Stops all other threads of this process for a moment, so that memory which any of them may write can be moved.
//
// Each thread is sent a real-time signal that has the default disposition and that it does not block; its handler
// acknowledges and waits. The disposition is restored. The calling thread has all signals blocked meanwhile. From the
// first signal on nothing is allocated and no lock is taken, since a stopped thread may hold the lock.
//
// Threads of libraries that this library has started leave one signal unblocked until the last stop, and none of the
// program's ones.
//
// Edges:  stopped   answered.store -> answered.load   what the thread has written before it stopped
//         released  round.store -> round.load         what was done while it was stopped
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace shmemx {

enum class Stop {
  once,  // another one follows
  last   // the last one of the process: threads that block all signals but the one used block that, too, from now on
};

class StoppedThreads {
 public:
  // A thread that does not answer for 100 ms cannot be stopped if it blocks the signal or is stuck in the kernel; one
  // that only has no core is awaited for longer. If one cannot be stopped, the others run again when this returns.
  explicit StoppedThreads(Stop stop) noexcept;
  // Lets all threads run again.
  ~StoppedThreads();
  StoppedThreads(const StoppedThreads&) = delete;
  StoppedThreads& operator=(const StoppedThreads&) = delete;

  bool all_stopped() const noexcept { return unstopped_ == 0; }
  // A thread that could not be stopped; 0 if all are.
  pid_t unstopped() const noexcept { return unstopped_; }

 private:
  void stop_all() noexcept;
  bool signal_new_threads() noexcept;
  pid_t await_answers() noexcept;
  void release() noexcept;

  unsigned long mask_before_ = 0;
  alignas(8) std::byte action_before_[64]{};  // as the kernel has it
  int signal_ = 0;                            // 0: no thread has been signalled
  pid_t unstopped_ = 0;
};

// Returns the signal that threads of libraries leave unblocked: the last real-time signal that has the default
// disposition and that the calling thread does not block. 0 if there is none.
int free_stop_signal() noexcept;

}  // namespace shmemx
