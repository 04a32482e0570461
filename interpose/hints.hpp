// The info keys of a window.
#pragma once

#include <mpi.h>

#include <map>
#include <string>

namespace shmemx::interpose {

// Holds the keys that MPI defines for windows. Unknown keys are ignored, and values that mean nothing.
struct Hints {
  // Keys on memory are there for windows that allocate it.
  Hints(MPI_Info info, int flavor);

  // Takes the values of a window that exists. Its memory stays as it is.
  void change(MPI_Info info);
  // Returns a new info object with all keys.
  int copy_to(MPI_Info* info) const;
  bool is_true(const char* key) const;
  // Returns what memory that is allocated has to be aligned to, a power of two.
  std::size_t alignment() const;
  static std::size_t alignment_of(MPI_Info info);

  // Returns whether the program asks for the synchronization of many elements at once.
  bool wants_array_locks() const;
  // Say what all processes have agreed on.
  void fix_granularity(bool has_array_locks);
  void fix_noncontiguous(bool is_noncontiguous);

  std::map<std::string, std::string> values;
};

}  // namespace shmemx::interpose
