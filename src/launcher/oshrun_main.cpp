// oshrun: runs a program as the PEs of one OpenSHMEM job on this node.
#include <cstdio>
#include <cstring>

#include "job.hpp"
#include "options.hpp"

int main(int argc, char** argv) {
  auto parsed = shmemx::launcher::parse_options({argv + 1, argv + argc});
  if (parsed.finished) return parsed.status;
  auto job = shmemx::launcher::Job::create(std::move(parsed.job));
  if (!job) {
    const shmemx::Error& error = job.error();
    std::fprintf(stderr, "oshrun: %s%s%s\n", error.text.c_str(), error.system_errno != 0 ? ": " : "",
                 error.system_errno != 0 ? std::strerror(error.system_errno) : "");
    return 1;
  }
  return (*job)->run();
}
