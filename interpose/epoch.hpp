// Epochs: when a process may access the others, and when its operations are complete.
#pragma once

#include <mpi.h>

#include "interpose/window.hpp"

namespace shmemx::interpose {

// Ends the access epoch. One thread at a time does that; others only read the number.
inline void next_epoch(Epochs& epochs) noexcept {
  epochs.number.store(epochs.number.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Lets the current epoch access the target, if it may: the slow half of find_target. Takes the lock that lock_all has
// left until now. Returns an error class.
int open_target(Window& window, Target& target);

// All return an error class.
int fence(Window& window, int assert);
int start(Window& window, MPI_Group group, int assert);
int complete(Window& window);
int post(Window& window, MPI_Group group, int assert);
int wait(Window& window);
int test(Window& window, int* flag);

int lock(Window& window, int type, int rank, int assert);
int unlock(Window& window, int rank);
int lock_all(Window& window, int assert);
int unlock_all(Window& window);
// Returns an error class if no lock allows to flush this target, or all.
int check_locked(const Window& window, int rank);
int check_locked_all(const Window& window);

}  // namespace shmemx::interpose
