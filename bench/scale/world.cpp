// What a PE and a node take at start in a world of very many PEs, of which few exist (SHMEMX_SYNTHETIC_WORLD), or in
// one of one node: the most private memory of a PE, the largest arena, the most CPU time of shmem_init in one PE.
#include <dirent.h>
#include <shmem.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "../support/report.hpp"

namespace {
using namespace shmemx::bench;

constexpr double kKib = 1024;

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Memory that no other process shares.
double private_kib() {
  std::ifstream smaps("/proc/self/smaps_rollup");
  for (std::string line; std::getline(smaps, line);) {
    if (line.rfind("Anonymous:", 0) == 0) return std::atof(line.c_str() + std::strlen("Anonymous:"));
  }
  return -1;
}

// The largest file in memory that this process has open.
double arena_kib() {
  double most = 0;
  DIR* const folder = opendir("/proc/self/fd");
  while (const dirent* const entry = readdir(folder)) {
    char target[64] = "";
    struct stat about {};
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    if (readlink(path.c_str(), target, sizeof target - 1) <= 0 || std::strncmp(target, "/memfd:shmemx", 13) != 0 ||
        stat(path.c_str(), &about) != 0)
      continue;
    const double kib = static_cast<double>(about.st_blocks) * 512 / kKib;
    most = kib > most ? kib : most;
  }
  closedir(folder);
  return most;
}

double source, dest;

// PEs that do not exist contribute nothing to what all combine.
void print_most(const char* unit, const char* of, double value) {
  source = value;
  shmem_double_max_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1);
  if (shmem_my_pe() == 0) print_result({"scale_world", shmem_n_pes(), 0, unit, of, "", {dest, dest, 0, 1}});
  shmem_barrier_all();
}

}  // namespace

int main() {
  const double begin = cpu_ms();
  shmem_init();
  const double init_ms = cpu_ms() - begin;
  void* const block = shmem_malloc(4096);
  shmem_barrier_all();
  print_most("ms", "init", init_ms);
  print_most("KiB", "private memory", private_kib());
  print_most("KiB", "arena", arena_kib());
  shmem_free(block);
  shmem_finalize();
  return block == nullptr ? 1 : 0;
}
