// Epochs: when a process may access the others, and when its operations are complete.
#pragma once

#include <mpi.h>

#include "interpose/recent_targets.hpp"
#include "interpose/window.hpp"

namespace shmemx::interpose {

// Ends the access epoch. One thread at a time does that; others only read the number.
inline void next_epoch(Epochs& epochs) noexcept {
  epochs.number.store(epochs.number.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  close_recent_targets();
}

// Returns an error class if an access epoch is open that another kind cannot follow. Fences that no operation follows
// begin none.
int check_no_access(const Window& window);

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

// The lock of a process on another node that MPI_Win_lock has left until an operation needs it. If all are small puts,
// none does: MPI_Win_unlock sends them with the request. There is at most one, so that locks are taken in the order in
// which the program asks for them.
struct LateLock {
  Window* window = nullptr;  // null: there is none
  Target* target = nullptr;
};
inline LateLock late_lock;
// Takes that lock, if there is one. Returns an error class.
int take_late_lock_slow();
inline int take_late_lock() { return late_lock.window == nullptr ? MPI_SUCCESS : take_late_lock_slow(); }

int lock(Window& window, int type, int rank, int assert);
int unlock(Window& window, int rank);
int lock_all(Window& window, int assert);
int unlock_all(Window& window);
// Returns an error class if no lock allows to flush this target, or all.
int check_locked(const Window& window, int rank);
int check_locked_all(const Window& window);

}  // namespace shmemx::interpose
