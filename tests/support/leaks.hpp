// The leak check: lists what a job can leave behind on the machine, before and after the job.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace leaks {

// Returns the names in /dev/shm, of System V memory and semaphores, of POSIX message queues, in /tmp and in the job's
// TMPDIR.
struct Snapshot {
  std::set<std::string> names;
};

// Gives this process and its children private System V objects, a private /dev/shm, and a private /tmp unless one of
// `paths` or the working directory lies there, if that is permitted: then the check sees the job under test only.
void try_isolate(const std::vector<std::string>& paths);

// Makes orphans of the job children of this process instead of init's.
void adopt_orphans();

// Creates a directory and sets TMPDIR to it; remove_private_tmp() deletes what is left of it.
void use_private_tmp();
void remove_private_tmp();

Snapshot take_snapshot();

// Waits up to `seconds` until all children have ended; returns a line for each that has not, and kills it.
std::vector<std::string> stray_processes(double seconds);

// Returns a line for each name that exists now and did not before.
std::vector<std::string> new_names(const Snapshot& before);

}  // namespace leaks
