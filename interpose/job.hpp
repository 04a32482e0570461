// The job: whether one-sided communication is taken over, and which PE each process is.
#pragma once

#include <mpi.h>

#include <mutex>
#include <string>
#include <vector>

namespace shmemx::interpose {

// Starts shmemx in all processes of MPI_COMM_WORLD. Collective; called when the MPI has been initialised. If it cannot
// serve the job, all windows are left to the MPI below. MPI_Finalize ends it.
void start_job();

// Returns true until then, if windows are taken over.
bool is_serving() noexcept;

// A communicator of this process alone, whose errors return. Valid while is_serving().
MPI_Comm this_process() noexcept;

// True if several threads of this process may call the MPI at the same time. Set when the job starts.
inline bool many_threads = false;

// Holds a mutex, if there are other threads.
class Guard {
 public:
  explicit Guard(std::mutex& mutex) : mutex_(many_threads ? &mutex : nullptr) {
    if (mutex_ != nullptr) mutex_->lock();
  }
  ~Guard() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  std::mutex* mutex_;
};

// Counts a window that has been taken over, for the report at the end.
void count_window() noexcept;
// Returns true if there was one.
bool has_windows() noexcept;

// Writes the PE of each process of the group to `pes`. Returns false if one of them does not belong to the job.
bool pes_of_group(MPI_Group group, std::vector<int>& pes);

// Returns whether memory of MPI_Alloc_mem is to be mapped by other processes, and so is shared with forked children.
bool shares_allocated_memory() noexcept;

// Returns the rank in MPI_COMM_WORLD of a PE; -1 if it has none.
int rank_of_pe(int pe) noexcept;

// Prints a line on stderr if SHMEMX_MPI_RMA=report is set, each text only once in a process. `rank` is of this process
// among those that the text is about; only the first one prints.
void report(int rank, const std::string& text);

// Lets the MPI below make progress.
void poll_mpi() noexcept;

}  // namespace shmemx::interpose
