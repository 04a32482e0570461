#include "processes.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace shmemx::launcher {
namespace {

// Returns true if the process neither handles nor ignores the signal.
bool has_default_action(pid_t pid, int number) {
  std::FILE* const file = std::fopen(("/proc/" + std::to_string(pid) + "/status").c_str(), "re");
  if (file == nullptr) return true;
  char line[256];
  unsigned long long other = 0;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, "SigIgn:", 7) == 0 || std::strncmp(line, "SigCgt:", 7) == 0)
      other |= std::strtoull(line + 7, nullptr, 16);
  }
  std::fclose(file);
  return (other >> (number - 1) & 1U) == 0;
}

}  // namespace

void Processes::add(int pe, pid_t pid) {
  processes_[static_cast<std::size_t>(pe)].pid = pid;
  if (pid > 0) ++running_;
}

// A process number cannot be reused before the process is reaped.
std::optional<Processes::Ended> Processes::reap(bool explains) {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return std::nullopt;
    const pid_t pid = info.si_pid;
    if (pid != guard_.pid()) ::kill(-pid, SIGKILL);
    // A script whose program was killed ends with 128 + SIGKILL.
    const bool killed = info.si_code == CLD_EXITED ? info.si_status == 128 + SIGKILL : info.si_status == SIGKILL;
    const bool of_interest = killed && explains && pid != guard_.pid();
    std::string memory_kill = of_interest ? memory_kills_.describe(std::to_string(pid)) : std::string();
    int status = 0;
    ::waitpid(pid, &status, 0);
    const auto process =
        std::find_if(processes_.begin(), processes_.end(), [&](const Process& p) { return p.pid == pid; });
    if (process == processes_.end()) continue;
    const int pe = static_cast<int>(process - processes_.begin());
    group(pe)->store(0, std::memory_order_relaxed);
    --running_;
    process->pid = -1;
    return Ended{pe, pid, status, std::move(memory_kill)};
  }
}

std::vector<int> Processes::living() const {
  std::vector<int> pes;
  for (int pe = 0; pe < size(); ++pe) {
    if (processes_[static_cast<std::size_t>(pe)].pid > 0) pes.push_back(pe);
  }
  return pes;
}

void Processes::signal(int pe, int number) const { ::kill(-processes_[static_cast<std::size_t>(pe)].pid, number); }

void Processes::signal_all(int number) const {
  for (const int pe : living()) signal(pe, number);
}

// The kernel does not stop PEs in sessions of their own at SIGTSTP, as nobody there could continue them.
void Processes::stop_all() const {
  signal_all(SIGTSTP);
  for (const int pe : living()) {
    if (has_default_action(processes_[static_cast<std::size_t>(pe)].pid, SIGTSTP)) signal(pe, SIGSTOP);
  }
}

}  // namespace shmemx::launcher
