// unauthenticated_pe PROGRAM: a checked ring of puts under many unauthenticated connections to every PE. Each PE finds
// the port that its network listens on and starts PROGRAM against it. The data of the ring must stay right, and the PEs
// must close the unauthenticated connections.
#include <dirent.h>
#include <shmem.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

extern char** environ;

namespace {

constexpr std::size_t kWords = 6000;
long ring[kWords];
long still_at_work;  // number of PEs whose PROGRAM still runs, counted on PE 0

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

// Returns the sockets of this process, by inode.
std::set<std::string> own_sockets() {
  std::set<std::string> inodes;
  DIR* const dir = opendir("/proc/self/fd");
  while (const dirent* const entry = dir == nullptr ? nullptr : readdir(dir)) {
    char target[64] = "";
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    if (readlink(path.c_str(), target, sizeof target - 1) < 0) continue;
    unsigned long inode = 0;
    if (std::sscanf(target, "socket:[%lu]", &inode) == 1) inodes.insert(std::to_string(inode));
  }
  if (dir != nullptr) closedir(dir);
  return inodes;
}

std::vector<int> listening_ports() {
  const std::set<std::string> own = own_sockets();
  std::vector<int> ports;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      std::istringstream row(line);
      std::string number, local, remote, state, queues, timer, retries, uid, timeout, inode;
      row >> number >> local >> remote >> state >> queues >> timer >> retries >> uid >> timeout >> inode;
      if (state != "0A" || own.count(inode) == 0) continue;
      ports.push_back(static_cast<int>(std::strtol(local.substr(local.rfind(':') + 1).c_str(), nullptr, 16)));
    }
  }
  return ports;
}

pid_t start_unauthenticated(const char* program, int port) {
  const std::string port_text = std::to_string(port), me = std::to_string(shmem_my_pe()),
                    size = std::to_string(shmem_n_pes());
  const char* argv[] = {program, port_text.c_str(), me.c_str(), size.c_str(), nullptr};
  pid_t pid = -1;
  if (posix_spawn(&pid, program, nullptr, nullptr, const_cast<char**>(argv), environ) != 0) return -1;
  return pid;
}

// Runs one turn: every PE fills the array of the next one. Returns the number of wrong words.
long turn(long number) {
  const int right = (shmem_my_pe() + 1) % shmem_n_pes(), left = (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes();
  std::vector<long> source(kWords);
  for (std::size_t i = 0; i < kWords; ++i) source[i] = number * 1000 + shmem_my_pe() + static_cast<long>(i);
  shmem_long_put(ring, source.data(), kWords, right);
  shmem_barrier_all();
  long wrong = 0;
  for (std::size_t i = 0; i < kWords; ++i) wrong += ring[i] != number * 1000 + left + static_cast<long>(i);
  shmem_barrier_all();
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  shmem_init();
  long wrong = turn(0);  // makes the connections
  const std::vector<int> ports = listening_ports();
  std::vector<pid_t> connections;
  for (const int port : ports) connections.push_back(start_unauthenticated(argv[1], port));
  shmem_long_atomic_inc(&still_at_work, 0);
  shmem_barrier_all();
  int failures = ports.empty() ? 1 : 0;
  if (ports.empty()) std::fprintf(stderr, "pe %d: no listening port found\n", shmem_my_pe());
  bool working = !connections.empty();
  if (!working) shmem_long_atomic_add(&still_at_work, -1, 0);
  long turns = 0;
  const double begin = now();
  while (shmem_long_g(&still_at_work, 0) > 0 || turns == 0) {
    // All PEs leave the loop after the same turn: the count is read between two barriers of all.
    wrong += turn(++turns);
    bool all_gone = true;
    for (pid_t& pid : connections) {
      int status = 0;
      if (pid > 0 && waitpid(pid, &status, WNOHANG) == pid) {
        if (status != 0) ++failures;
        pid = -1;
      }
      all_gone &= pid <= 0;
    }
    if (working && all_gone) {
      working = false;
      shmem_long_atomic_add(&still_at_work, -1, 0);
    }
    shmem_quiet();
    shmem_barrier_all();
  }
  if (shmem_my_pe() == 0) std::printf("%ld turns in %.2f s\n", turns, now() - begin);
  if (wrong != 0) std::fprintf(stderr, "pe %d: %ld words are wrong\n", shmem_my_pe(), wrong);
  shmem_finalize();
  return wrong == 0 && failures == 0 ? 0 : 1;
}
