#include "debugger.hpp"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "bootstrap/wire.hpp"

namespace shmemx::launcher {
namespace {

constexpr char kVariable[] = "OSHRUN_GDB";

// The commands of shmemx-gdb.py; empty if the file is not where it is installed.
std::string script_beside_oshrun() {
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path - 1);
  const std::string own(path, length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::string script = own.substr(0, own.rfind('/') + 1) + "../share/shmemx/shmemx-gdb.py";
  return ::access(script.c_str(), R_OK) == 0 ? script : std::string();
}

}  // namespace

std::string read_gdb_pes(const std::string& text, std::vector<int>& pes) {
  std::stringstream rest(text.empty() ? "0" : text);
  for (std::string word; std::getline(rest, word, ',');) {
    char* end = nullptr;
    const long pe = std::strtol(word.c_str(), &end, 10);
    if (word.empty() || *end != '\0' || pe < 0 || pe >= bootstrap::kMaxNodePes)
      return "--gdb=" + text + ": '" + word + "' is no PE; write it as in --gdb=1, or --gdb=0,2";
    pes.push_back(static_cast<int>(pe));
  }
  return {};
}

std::string check_gdb_pes(const JobSpec& job) {
  for (const int pe : job.inspection.gdb_pes) {
    if (pe >= job.total_pes())
      return "--gdb names PE " + std::to_string(pe) + ", the job has " + std::to_string(job.total_pes());
  }
  if (job.inspection.gdb_pes.size() > 1 && std::getenv(kVariable) == nullptr)
    return "--gdb names several PEs, and this terminal can serve one; OSHRUN_GDB='xterm -e gdb' opens one for each";
  return {};
}

std::vector<std::string> under_gdb(const std::string& path, const std::vector<std::string>& command) {
  const char* const chosen = std::getenv(kVariable);
  std::stringstream words(chosen != nullptr ? chosen : "gdb -q");
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  if (all.empty()) all.emplace_back("gdb");
  if (const std::string script = script_beside_oshrun(); !script.empty()) {
    all.emplace_back("-iex");
    all.push_back("source " + script);
  }
  all.emplace_back("-iex");
  all.emplace_back("set environment SHMEM_TRAP_ON_ABORT 1");
  all.emplace_back("--args");
  all.push_back(path);
  all.insert(all.end(), command.begin() + 1, command.end());
  return all;
}

}  // namespace shmemx::launcher
