// Runs a program in a host of the vhosts that started this process, as ssh does on another machine.
#pragma once

#include <string>
#include <vector>

namespace vhosts {

// The program has this process's standard streams, folder and environment; returns its exit code.
int enter_host(const std::string& host, const std::vector<std::string>& argv);

}  // namespace vhosts
