// The leak oracle: what a job may leave behind on the machine, compared before and after.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace leaks {

// Where things with a name are: /dev/shm, System V memory and semaphores, POSIX message queues, /tmp and the job's own
// TMPDIR.
struct Snapshot {
  std::set<std::string> names;
};

// Gives this process and its children private System V objects, a private /dev/shm, and a private /tmp unless one of
// `paths` or the working directory lies there, where that is permitted: then the oracle sees the job under test only.
void try_isolate(const std::vector<std::string>& paths);

// Orphans of the job become our children instead of escaping to init.
void adopt_orphans();

// A fresh directory for TMPDIR, set in the environment; remove_private_tmp() deletes what is left of it.
void use_private_tmp();
void remove_private_tmp();

Snapshot take_snapshot();

// Waits up to `seconds` for all children to be gone; returns a line for each that is not, and ends it.
std::vector<std::string> stray_processes(double seconds);

// Lines for what is there now and was not before.
std::vector<std::string> new_names(const Snapshot& before);

}  // namespace leaks
