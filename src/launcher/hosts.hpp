// Host lists: "a,b", "a:2,b:2", and files with one host in each line.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace shmemx::launcher {

struct Host {
  std::string name;
  int n_pes = 0;  // 0: not said
};

Result<std::vector<Host>> parse_hosts(const std::string& list);

// Lines hold "host", "host:2" or "host slots=2"; what follows a '#' is a comment.
Result<std::vector<Host>> read_hostfile(const std::string& path);

// By name, or because the name's address is one of this machine's.
bool is_this_machine(const std::string& host);

}  // namespace shmemx::launcher
