// shmem_perf: measures operations between PEs of a job.
#include <shmemx.h>

#include <cstdio>
#include <stdexcept>
#include <string>

#include "perf/output.hpp"
#include "perf/rounds.hpp"
#include "perf/settings.hpp"

namespace {

using namespace shmemx::perf;

constexpr int kWrongCommandLine = 2;

// All PEs come to the same result; PE 0 says what is wrong.
int complain(const std::string& text, int status) {
  if (shmem_my_pe() == 0) std::fprintf(stderr, "shmem_perf: %s\n", text.c_str());
  return status;
}

int run(const CommandLine& line) {
  if (line.is_wrong) return complain(line.text, kWrongCommandLine);
  Output output(line.settings, shmem_n_pes());
  std::vector<Round> rounds;
  try {
    rounds = rounds_of(line.settings, shmem_n_pes());
    check_runs(line.settings, rounds, shmem_n_pes());
  } catch (const std::invalid_argument& error) {
    return complain(error.what(), kWrongCommandLine);
  }
  const bool prints = shmem_my_pe() == 0;
  std::string why;
  if (prints) output.begin();
  if (!run_all(line.settings, rounds, output, why)) return complain(why, 1);
  if (prints) output.end();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const CommandLine line = parse(argc, argv);
  if (line.is_answer) {
    std::fputs(line.text.c_str(), stdout);
    return 0;
  }
  shmem_init();
  const int status = run(line);
  shmem_finalize();
  return status;
}
