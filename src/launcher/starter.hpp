// Starts the PEs of a job, with their streams, environment and CPUs.
#pragma once

#include <sys/resource.h>

#include <string>
#include <vector>

#include "options.hpp"
#include "output.hpp"
#include "own_signals.hpp"
#include "pe_binding.hpp"
#include "processes.hpp"
#include "records.hpp"

namespace shmemx::launcher {

class Starter {
 public:
  // What a start uses of a job.
  struct Parts {
    const JobSpec& spec;
    const Records& records;
    const OwnSignals& signals;
    const PeBinding& binding;
    Processes& processes;
    Output& output;
  };

  explicit Starter(const Parts& parts);
  bool valid() const { return null_.valid(); }
  // Starts all PEs. Returns 0, or oshrun's exit status if a program could not be started; the reason has been printed.
  int start_all();

 private:
  struct Program {
    const AppSpec& app;
    std::string path;
    std::vector<char*> arguments;
  };

  int find(Program& program);
  int start_one(int pe, const Program& program, char* const* environment);
  bool open_streams(int pe, int (&files)[3], std::vector<UniqueFd>& ours);

  Parts parts_;
  UniqueFd null_;
  rlimit open_files_{};        // the limit that the PEs get back
  bool own_sessions_ = false;  // PEs leave the session that a terminal controls
};

}  // namespace shmemx::launcher
