// oshrun: runs a program as the PEs of one OpenSHMEM job. Uses its own PEs on this node, and an installed launcher
// for other nodes.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "foreign.hpp"
#include "job.hpp"
#include "options.hpp"
#include "other_options.hpp"
#include "records.hpp"

namespace {

constexpr int kLookUpMs = 5000;  // one query of a resolver that does not answer

// Opens /dev/null in place of closed standard files. Otherwise the next descriptor, for example the arena's, would
// get a standard number.
void open_standard_files() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0) return;  // the lowest free number is fd
  }
}

int complain(const shmemx::Error& error, int status) {
  const std::string cause = error.system_errno != 0 ? std::string(": ") + std::strerror(error.system_errno) : "";
  std::fputs(shmemx::launcher::line_of_oshrun(error.text + cause).c_str(), stderr);
  return status;
}

// For `--status`.
int show_status(int process) {
  auto records = shmemx::launcher::Records::at_or_below(process);
  if (!records) return complain(records.error(), 1);
  for (const std::string& line : records->status_lines()) std::printf("%s\n", line.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_files();
  auto parsed = shmemx::launcher::parse_options({argv + 1, argv + argc});
  if (parsed.finished) return parsed.status;
  if (parsed.job.inspection.status_of != 0) return show_status(parsed.job.inspection.status_of);
  using shmemx::launcher::Launcher;
  std::vector<shmemx::launcher::HostFound> hosts;
  if (parsed.job.launcher != Launcher::srun) hosts = shmemx::launcher::look_up(parsed.job.hosts, kLookUpMs);
  if (shmemx::launcher::needs_other_launcher(parsed.job, hosts)) {
    auto status = shmemx::launcher::hand_over(parsed.job, hosts);
    return status ? *status : complain(status.error(), 1);
  }
  if (const auto reported = shmemx::launcher::report_others(parsed.job, Launcher::any); !reported)
    return complain(reported.error(), 2);
  auto job = shmemx::launcher::Job::create(std::move(parsed.job));
  return job ? (*job)->run() : complain(job.error(), 1);
}
