// Tells whether the process of a PE still exists. Process numbers are not enough: in another PID namespace they mean
// nothing, and they are reused.
//
// Each PE locks a byte of the arena file, through an open file description of its own that only a memory mapping
// refers to. The kernel releases the lock when the address space ends: at the end of the process, whatever ends it, and
// at exec. Descriptors that the program closes do not matter, and the mapping is left out of forked children.
#pragma once

#include <cstddef>

#include "base/file_identity.hpp"
#include "bootstrap/wire.hpp"

namespace shmemx::bootstrap {

// Takes the lock of the PE at this place in the arena, until the process ends, and notes in its record how others can
// tell that it lives. Where the lock is not to be had (no /proc), it is the process number and its namespace.
void announce_liveness(int arena_fd, std::size_t place, PeRecord& record) noexcept;

class Liveness {
 public:
  Liveness() = default;
  // `arena_fd` stays open unless the program closes it.
  explicit Liveness(int arena_fd) noexcept;

  // Returns true if the process of the PE has ended. Returns false also if this process cannot tell.
  bool has_ended(std::size_t place, const PeRecord& record) const noexcept;

 private:
  int fd_ = -1;
  FileIdentity file_;
};

}  // namespace shmemx::bootstrap
