// Parses host lists: "a,b", "a:2,b:2", and files with one host in each line.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace shmemx::launcher {

struct Host {
  std::string name;
  int n_pes = 0;  // 0: not given
};

Result<std::vector<Host>> parse_hosts(const std::string& list);

// Reads a file of lines "host", "host:2" or "host slots=2"; text after a '#' is a comment.
Result<std::vector<Host>> read_hostfile(const std::string& path);

struct HostFound {
  std::string name;
  bool is_this_machine = false;  // by name, or because an address is one of this machine's
  std::string problem;           // why the name has no address; empty if it has one
};

// Looks up all names at the same time. Gives up on names without an answer after `limit_ms`.
std::vector<HostFound> look_up(const std::vector<Host>& hosts, int limit_ms);

}  // namespace shmemx::launcher
