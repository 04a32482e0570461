#include "leaks.hpp"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace leaks {
namespace {

bool isolated = false;
bool tmp_isolated = false;
std::string private_tmp;

// Other programs use the shared folders as well, so only names of the form that jobs of this library create count.
bool looks_like_ours(const std::string& name) {
  for (const char* part : {"oshrun", "SHMEM", "pmi", "PMI"})
    if (name.find(part) != std::string::npos) return true;
  return false;
}

// ThreadSanitizer writes a file of its own in TMPDIR as a process starts and removes it two system calls later; a
// process that is killed in between leaves it behind.
bool is_of_sanitizer(const std::string& name) { return name.rfind("tsan.rodata.", 0) == 0; }

void add_folder(Snapshot& snapshot, const std::string& folder, bool all) {
  DIR* const dir = opendir(folder.c_str());
  if (dir == nullptr) return;
  while (const dirent* const entry = readdir(dir)) {
    const std::string name = entry->d_name;
    if (name == "." || name == ".." || is_of_sanitizer(name)) continue;
    if (all || looks_like_ours(name)) snapshot.names.insert(folder + "/" + name);
  }
  closedir(dir);
}

void add_system_v(Snapshot& snapshot, const std::string& kind) {
  std::ifstream file("/proc/sysvipc/" + kind);
  std::string line;
  std::getline(file, line);  // the heading
  while (std::getline(file, line)) {
    std::string key, id;
    std::size_t at = line.find_first_not_of(' ');
    at = line.find(' ', at);
    at = line.find_first_not_of(' ', at);
    id = line.substr(at, line.find(' ', at) - at);
    snapshot.names.insert("System V " + kind + " " + id);
  }
}

std::string command_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  for (char& c : text)
    if (c == '\0') c = ' ';
  return text;
}

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "children");
    for (pid_t pid; file >> pid;) found.push_back(pid);
  }
  return found;
}

}  // namespace

void try_isolate(const std::vector<std::string>& paths) {
  if (unshare(CLONE_NEWNS | CLONE_NEWIPC) != 0) return;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
  isolated = mount("shmemx-test", "/dev/shm", "tmpfs", 0, "size=64m,mode=1777") == 0;
  std::error_code ignored;
  bool tmp_is_needed = std::filesystem::current_path(ignored).string().rfind("/tmp", 0) == 0;
  for (const std::string& path : paths) tmp_is_needed |= path.rfind("/tmp/", 0) == 0;
  tmp_isolated = isolated && !tmp_is_needed && mount("shmemx-test", "/tmp", "tmpfs", 0, "size=64m,mode=1777") == 0;
}

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

void use_private_tmp() {
  char pattern[] = "/tmp/shmemx-test-XXXXXX";
  if (mkdtemp(pattern) == nullptr) return;
  private_tmp = pattern;
  setenv("TMPDIR", pattern, 1);
}

void remove_private_tmp() {
  std::error_code ignored;
  if (!private_tmp.empty()) std::filesystem::remove_all(private_tmp, ignored);
}

Snapshot take_snapshot() {
  Snapshot snapshot;
  add_folder(snapshot, "/dev/shm", isolated);
  add_folder(snapshot, "/dev/mqueue", isolated);
  add_folder(snapshot, "/tmp", tmp_isolated);
  add_folder(snapshot, "/run/shm", false);
  if (!private_tmp.empty()) add_folder(snapshot, private_tmp, true);
  if (isolated) {
    add_system_v(snapshot, "shm");
    add_system_v(snapshot, "sem");
    add_system_v(snapshot, "msg");
  }
  return snapshot;
}

std::vector<std::string> stray_processes(double seconds) {
  using clock = std::chrono::steady_clock;
  const auto deadline = clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    const pid_t pid = waitpid(-1, nullptr, WNOHANG);
    if (pid < 0) return {};  // no children
    if (pid == 0) {
      if (clock::now() > deadline) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  std::vector<std::string> strays;
  for (const pid_t pid : children()) {
    strays.push_back("process " + std::to_string(pid) + " (" + command_of(pid) + ") is still there");
    kill(pid, SIGKILL);
  }
  while (waitpid(-1, nullptr, 0) > 0) {
  }
  return strays;
}

std::vector<std::string> new_names(const Snapshot& before) {
  std::vector<std::string> lines;
  for (const std::string& name : take_snapshot().names)
    if (before.names.count(name) == 0) lines.push_back(name + " was left behind");
  return lines;
}

}  // namespace leaks
