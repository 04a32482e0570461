// oshrun --gdb: which PEs run under gdb, and how it is called. OSHRUN_GDB replaces the command "gdb".
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace shmemx::launcher {

// Reads "0,2". Returns an empty text if it is valid, else the error.
std::string read_gdb_pes(const std::string& text, std::vector<int>& pes);
// Returns an empty text if the job can run so, else the error.
std::string check_gdb_pes(const JobSpec& job);

// Returns the command that runs the program at `path` with its arguments under gdb.
std::vector<std::string> under_gdb(const std::string& path, const std::vector<std::string>& command);

}  // namespace shmemx::launcher
