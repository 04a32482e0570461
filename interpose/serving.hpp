// Waits inside the MPI during which this process serves the operations of others. A process of another host reaches it
// by messages; a thread that polls handles one at once, while waking the progress thread takes longer than the message.
// And where processes outnumber cores, such a wait soon gives its core to the process that it waits for.
#pragma once

#include <mpi.h>
#include <shmemx.h>

#include "interpose/waiting.hpp"
#include "interpose/window.hpp"

namespace shmemx::interpose {

// Decides whether waits are taken over from the start: there are other nodes, or processes outnumber cores. Once, when
// the job starts; after choose_spins(); collective.
void choose_serving();

// Take waits over as long as there is a window whose memory others reach by messages although they are on this node.
// Both are called at places where all processes of the window meet; the second one may be called for any window.
void begin_serving(Window& window);
void end_serving(Window& window) noexcept;

// Returns true if a wait of this process should serve others.
bool serves_in_waits() noexcept;
// Returns true if a barrier of the communicator should be one that can be tested. All of its processes agree.
bool serves_in_barrier(MPI_Comm communicator);

// One step of such a wait: handles messages while they follow one another closely, but not for long. Returns false if
// there was none.
bool serve_messages();

// Waits until done() returns true, which lets the MPI make progress.
template <class Done>
void serve_until(Done done) {
  for (unsigned steps = 0; !done(); ++steps) {
    if (serve_messages()) {
      steps = 0;
    } else if (steps >= spins_before_yield) {
      // The MPI would spin here, too: a process with a core of its own only yields, and handles messages at once.
      release_core(yields_early() ? steps - spins_before_yield : 0);
    }
  }
}

// Tells the processes of the node that this thread serves them.
class Attending {
 public:
  Attending() noexcept = default;
  ~Attending() { shmemx_am_attend(0); }
  Attending(const Attending&) = delete;
  Attending& operator=(const Attending&) = delete;
  // To be called at each look.
  void step() noexcept {
    constexpr unsigned kSteps = 8;
    if (steps_++ % kSteps == 0) shmemx_am_attend(1);
  }

 private:
  unsigned steps_ = 0;
};

// Calls test(&flag), a test of the MPI, until it sets the flag or fails. Returns its code.
template <class Test>
int test_until_done(Test test) {
  int code = MPI_SUCCESS;
  const auto is_over = [&] {
    int done = 0;
    code = test(&done);
    return done != 0 || code != MPI_SUCCESS;
  };
  if (is_over()) return code;
  Attending attending;
  serve_until([&] {
    attending.step();
    return is_over();
  });
  return code;
}

}  // namespace shmemx::interpose
