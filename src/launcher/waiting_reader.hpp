// Tells whether processes wait for input from a terminal.
#pragma once

#include <sys/types.h>

namespace shmemx::launcher {

enum class Reading {
  no,
  yes,
  unknown  // the system does not tell
};

// Looks at a process and all that it has started: does a thread of them wait for input from this terminal in read,
// poll, select or epoll_wait, or is the process's standard input set not to block, so that it need not wait?
Reading reads_terminal(pid_t process, dev_t terminal);

}  // namespace shmemx::launcher
