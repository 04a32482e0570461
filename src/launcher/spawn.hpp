// Starts one PE: a process in a group of its own, or a session of its own, that dies with oshrun.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <atomic>
#include <string>

namespace shmemx::launcher {

struct SpawnSpec {
  const char* path = nullptr;  // an absolute or relative path, already found
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* directory = nullptr;  // nullptr: unchanged
  int standard_files[3] = {0, 1, 2};
  const sigset_t* signals = nullptr;  // signal mask of the PE
  const rlimit* open_files = nullptr;
  const cpu_set_t* cpus = nullptr;  // nullptr: not bound
  std::size_t cpus_bytes = 0;
  std::atomic<pid_t>* group = nullptr;  // the new process writes its group here
  bool own_session = false;
  int terminal = -1;  // controls the session; -1: none does
};

struct Spawned {
  pid_t pid = -1;
  int error = 0;               // errno; 0 if the program runs
  const char* action = "run";  // the action that failed
};

Spawned spawn(const SpawnSpec& spec);

// Returns true if a PE can run in this directory; else errno tells why not.
bool can_enter(const std::string& directory);

// Returns the file that `program` names, looked up in PATH as a shell does. Returns an empty text and sets errno if
// there is none.
std::string find_program(const std::string& program, const std::string& directory);

}  // namespace shmemx::launcher
