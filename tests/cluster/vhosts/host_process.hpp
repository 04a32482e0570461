// The first process of a virtual host: sets the host up, starts programs for others, reaps everything.
#pragma once

#include <string>

namespace vhosts {

struct HostSpec {
  int index = 0;
  std::string name;    // "h0"
  std::string folder;  // where vhosts keeps its files; it holds "hosts" and, later, "<name>.socket"
  std::string congestion;
  bool private_tmp = false;
  int core = -1;  // on which all its programs run; -1: any
};

// Runs as process 1 of new namespaces until `control` is closed; the kernel then ends all processes of the host.
[[noreturn]] void be_host(const HostSpec& spec, int control);

}  // namespace vhosts
