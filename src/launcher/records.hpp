// Reads the job header and the PEs' records for oshrun. Programs that may be broken write them, so no value is
// trusted to be a text or in range.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "bootstrap/status.hpp"
#include "bootstrap/wire.hpp"

namespace shmemx::launcher {

class Records {
 public:
  static Result<Records> create(int n_pes);
  // Those of the job that another process runs: a PE, or an oshrun on one host.
  static Result<Records> of_process(pid_t process);
  // Those of the job of that process or of the first one below it that has a job: it may be a launcher of any kind.
  static Result<Records> at_or_below(pid_t process);

  int fd() const { return fd_.get(); }
  int n_pes() const { return static_cast<int>(header_->n_pes); }
  std::uint64_t job_id() const { return header_->job_id; }
  bootstrap::JobEnd job_end() const;
  bootstrap::PePhase phase(int pe) const;
  // Returns whether a PE has called shmem_init.
  bool has_joined_pes() const;
  // Returns the routine that this PE waits in; empty if it does not wait.
  std::string routine(int pe) const { return bootstrap::waiting_routine(header_, record(pe)); }
  // Return what explains a null pointer of this PE: an allocation or a shmem_ptr that has failed. Empty if none has.
  std::string refused_allocation(int pe) const;
  std::string refused_pointer(int pe) const;
  // Returns whether this PE has blocks of the symmetric heap.
  bool has_symmetric_blocks(int pe) const {
    return record(pe).heap_used.load(std::memory_order_relaxed) != 0;  // for people
  }
  // Returns whether this PE waits in shmem_init for PEs that have not come there.
  bool waits_in_init(int pe) const { return bootstrap::waits_in_init(header_, record(pe)); }

  // Returns lines that say what each of the PEs does (bootstrap/status.hpp). For a job over several hosts a PE is
  // asked, which takes some seconds if none answers.
  std::vector<std::string> status_lines() const;
  // Returns "pe 0, 2..5 in shmem_barrier_all; pe 1 in shmem_quiet" for those of `pes` that wait; empty if none does.
  std::string describe_waiting(const std::vector<int>& pes) const;

 private:
  Records(UniqueFd fd, bootstrap::JobHeader* header) : fd_(std::move(fd)), header_(header) {}
  const bootstrap::PeRecord& record(int pe) const {
    return *bootstrap::record_of(header_, static_cast<std::size_t>(pe));
  }

  UniqueFd fd_;
  bootstrap::JobHeader* header_;
};

}  // namespace shmemx::launcher
