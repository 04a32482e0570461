#include "inspect.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "posix.hpp"

namespace vhosts {
namespace {

namespace fs = std::filesystem;

bool is_zombie(const std::string& pid) {
  const std::string stat = read_file("/proc/" + pid + "/stat");
  const std::size_t end = stat.rfind(')');
  return end == std::string::npos || stat.compare(end, 3, ") Z") == 0;
}

std::string processes() {
  std::string lines;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos || pid == "1" || is_zombie(pid)) continue;
    std::string command = read_file("/proc/" + pid + "/cmdline");
    for (char& c : command) {
      if (c == '\0') c = ' ';
    }
    lines += "process " + pid + " (" + command + ")\n";
  }
  return lines;
}

std::string names_in(const char* folder) {
  std::string lines;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) lines += entry.path().string() + "\n";
  return lines;
}

std::string system_v(const std::string& kind) {
  std::istringstream table(read_file("/proc/sysvipc/" + kind));
  std::string line, lines;
  std::getline(table, line);  // the heading
  while (std::getline(table, line)) lines += "System V " + kind + ":" + line + "\n";
  return lines;
}

// A row is: number: local remote state queues timer retries uid timeout inode. Inode 0 is a socket whose owner has
// ended and which the kernel is still closing.
std::string sockets(const std::string& protocol) {
  std::istringstream table(read_file("/proc/net/" + protocol));
  std::string line, lines;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream row(line);
    std::string number, local, remote, state, queues, timer, retries, uid, timeout, inode;
    row >> number >> local >> remote >> state >> queues >> timer >> retries >> uid >> timeout >> inode;
    if (inode != "0") lines += protocol + " socket " + local + " " + remote + " state " + state + "\n";
  }
  return lines;
}

}  // namespace

std::string findings() {
  std::string lines = processes() + names_in("/dev/shm") + names_in("/dev/mqueue");
  for (const char* kind : {"shm", "sem", "msg"}) lines += system_v(kind);
  for (const char* protocol : {"tcp", "tcp6", "udp", "udp6"}) lines += sockets(protocol);
  return lines;
}

}  // namespace vhosts
