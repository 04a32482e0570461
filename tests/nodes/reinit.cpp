// reinit SCENARIO: shmem_finalize followed by another shmem_init or by the end of the process, in jobs over several
// nodes. Exit status 0 is success.
#include <dirent.h>
#include <fcntl.h>
#include <shmem.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr useconds_t kLonger = 4'500'000;  // than SHMEMX_NET_TIMEOUT of these runs, two seconds

bool is_last() {
  static const bool is = shmem_my_pe() == shmem_n_pes() - 1;
  return is;
}

bool use_library(long round) {
  static long word;
  const int me = shmem_my_pe();
  const int n = shmem_n_pes();
  shmem_long_p(&word, round + me, (me + 1) % n);
  shmem_barrier_all();
  return word == round + (me + n - 1) % n;
}

int files_in(const char* folder) {
  DIR* const list = opendir(folder);
  int count = 0;
  while (list != nullptr && readdir(list) != nullptr) ++count;
  if (list != nullptr) closedir(list);
  return count - 2;
}

// After shmem_finalize the last PE computes until all others have returned from theirs. It must not hold back
// anything that they wait for. Some PEs have not exchanged messages before.
bool last_pe_computes() {
  shmem_init();
  static char folder[32] = "/tmp/shmemx_reinit_XXXXXX";
  if (shmem_my_pe() == 0 && mkdtemp(folder) == nullptr) return false;
  shmem_char_broadcast(SHMEM_TEAM_WORLD, folder, folder, sizeof folder, 0);
  const bool last = is_last();
  const int n_pes = shmem_n_pes();
  const std::string own = std::string(folder) + "/" + std::to_string(shmem_my_pe());
  shmem_finalize();
  if (!last) {
    close(open(own.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    return true;
  }
  while (files_in(folder) < n_pes - 1) usleep(1000);
  for (int pe = 0; pe < n_pes - 1; ++pe) unlink((std::string(folder) + "/" + std::to_string(pe)).c_str());
  return rmdir(folder) == 0;
}

// A PE that calls shmem_init again early waits for one that is silent for longer than SHMEMX_NET_TIMEOUT.
bool pause_between() {
  shmem_init();
  bool ok = use_library(1);
  const bool last = is_last();
  shmem_finalize();
  if (last) usleep(kLonger);
  shmem_init();
  ok &= use_library(10);
  shmem_finalize();
  return ok;
}

// No handler and no destructor runs: only the closed connections show the others that this PE has ended.
bool quick_exit() {
  shmem_init();
  const bool ok = use_library(1);
  shmem_finalize();
  _exit(ok ? 0 : 1);
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    bool (*run)();
  } scenarios[] = {
      {"last_pe_computes", last_pe_computes}, {"pause_between", pause_between}, {"quick_exit", quick_exit}};
  for (const auto& scenario : scenarios) {
    if (argc > 1 && std::strcmp(argv[1], scenario.name) == 0) return scenario.run() ? 0 : 1;
  }
  std::fprintf(stderr, "reinit: unknown scenario\n");
  return 2;
}
