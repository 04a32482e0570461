#include "bootstrap/placement.hpp"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "base/hash.hpp"
#include "base/host_name.hpp"
#include "base/unique_fd.hpp"

namespace shmemx::bootstrap {
namespace {

std::string read_boot_id() {
  UniqueFd fd(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  char text[64];
  const ssize_t n = fd.valid() ? ::read(fd.get(), text, sizeof text) : 0;
  return std::string(text, n > 0 ? static_cast<std::size_t>(n) : 0);
}

// Returns the host's name in at most 40 characters that a key-value store takes.
std::string portable_host_name() {
  constexpr std::size_t kLongest = 40;
  std::string host = std::string(host_name().text).substr(0, kLongest);
  for (char& c : host) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
  }
  return host;
}

using Group = std::array<std::uint64_t, 5>;

Group group_of(Likeness likeness, const HostDescription& host) {
  if (likeness == Likeness::machine) return {host.machine, host.uid};
  return {host.machine, host.uid, host.net, host.pid, host.others};
}

Error not_readable(const char* what, const std::string& text) {
  return Error{Errc::protocol, 0, std::string(what) + " in the key-value store is not readable: '" + text + "'"};
}

}  // namespace

std::uint64_t namespace_inode(const char* name) {
  struct stat about {};
  return ::stat((std::string("/proc/self/ns/") + name).c_str(), &about) == 0 ? about.st_ino : 0;
}

HostDescription describe_own_host() {
  HostDescription host;
  host.host = portable_host_name();
  // If /proc hides the boot id, the host name stands for the machine.
  const std::string boot_id = read_boot_id();
  host.machine = fnv1a(boot_id.empty() ? host.host : boot_id);
  host.uid = ::geteuid();
  host.net = namespace_inode("net");
  host.pid = namespace_inode("pid");
  std::string others;
  for (const char* name : {"ipc", "mnt", "uts"}) others += std::to_string(namespace_inode(name)) + " ";
  host.others = fnv1a(others) & 0xffffffff;
  return host;
}

// What differs from machine to machine stands last, so that lists of hosts become short (combining.hpp).
std::string encode(const HostDescription& host) {
  char text[4 * 17 + 1];
  std::snprintf(text, sizeof text, "%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":", host.uid, host.net, host.pid,
                host.others);
  char machine[1 + 16 + 1];
  std::snprintf(machine, sizeof machine, ":%" PRIx64, host.machine);
  return text + host.host + machine;
}

Result<HostDescription> decode_host(const std::string& text) {
  HostDescription host;
  int begin = -1;
  int end = -1;
  const int n = std::sscanf(text.c_str(), "%" SCNx64 ":%" SCNx64 ":%" SCNx64 ":%" SCNx64 ":%n", &host.uid, &host.net,
                            &host.pid, &host.others, &begin);
  const std::size_t colon = text.rfind(':');
  const bool has_name = n == 4 && begin > 0 && colon != std::string::npos && colon > static_cast<std::size_t>(begin);
  if (!has_name || std::sscanf(text.c_str() + colon, ":%" SCNx64 "%n", &host.machine, &end) != 1 ||
      colon + static_cast<std::size_t>(end) != text.size())
    return not_readable("a PE's host description", text);
  host.host = text.substr(static_cast<std::size_t>(begin), colon - static_cast<std::size_t>(begin));
  return host;
}

Leaders group_by(Likeness likeness, const Hosts& hosts, const std::vector<int>& members) {
  Leaders leaders(hosts.n_pes(), kNoGroup);
  Leaders leader_of_host(hosts.n_different(), kNoGroup);
  std::map<Group, int> found;
  for (const int pe : members) {
    int& leader = leader_of_host[hosts.number_of(pe)];
    if (leader == kNoGroup) leader = found.emplace(group_of(likeness, hosts.of(pe)), pe).first->second;
    leaders[static_cast<std::size_t>(pe)] = leader;
  }
  return leaders;
}

namespace {

struct Run {
  int value;
  std::size_t count;
};

std::vector<Run> runs_of(const Leaders& leaders) {
  std::vector<Run> runs;
  for (const int leader : leaders) {
    if (runs.empty() || runs.back().value != leader) runs.push_back({leader, 0});
    ++runs.back().count;
  }
  return runs;
}

// Returns how many runs from `first` on are equally long and have values at equal, positive distances.
std::size_t regular_from(const std::vector<Run>& runs, std::size_t first) {
  std::size_t n = 1;
  if (first + 1 >= runs.size() || runs[first].value == kNoGroup) return n;
  const int step = runs[first + 1].value - runs[first].value;
  if (step <= 0) return n;
  for (std::size_t i = first + 1; i < runs.size(); ++i, ++n) {
    if (runs[i].count != runs[first].count || runs[i].value - runs[i - 1].value != step) break;
  }
  return n;
}

// What follows a '-' or '_'. Moves `at` behind it. Returns 0 if there is no number within `most`.
unsigned long read_count(const char*& at, unsigned long most) {
  char* end = nullptr;
  if (std::isdigit(static_cast<unsigned char>(*at)) == 0) return 0;
  const unsigned long count = std::strtoul(at, &end, 10);
  at = end;
  return count <= most ? count : 0;
}

// Reads "8-2" or "8-2_5_4" and appends what it stands for. Returns false if that cannot be.
bool read_runs(const char*& at, std::size_t n_pes, Leaders& leaders) {
  long value = kNoGroup;
  if (*at == 'x') {
    ++at;
  } else {
    char* end = nullptr;
    if (std::isdigit(static_cast<unsigned char>(*at)) == 0) return false;
    value = std::strtol(at, &end, 10);
    at = end;
  }
  if (value >= static_cast<long>(n_pes) || *at++ != '-') return false;
  const std::size_t room = n_pes - leaders.size();
  const unsigned long count = read_count(at, room);
  unsigned long times = 1;
  unsigned long step = 0;
  if (*at == '_') {
    times = read_count(++at, room);
    if (value == kNoGroup || times == 0 || *at++ != '_') return false;
    step = read_count(at, n_pes);
    if (step == 0) return false;
  }
  if (count == 0 || count * times > room) return false;
  if (step != 0 && static_cast<unsigned long>(value) + (times - 1) * step >= n_pes) return false;
  for (unsigned long i = 0; i < times; ++i)
    leaders.insert(leaders.end(), count, static_cast<int>(value + static_cast<long>(i * step)));
  return true;
}

}  // namespace

std::string encode(const Leaders& leaders) {
  constexpr std::size_t kFewest = 3;  // fewer runs are shorter one by one
  const std::vector<Run> runs = runs_of(leaders);
  std::string text;
  for (std::size_t i = 0; i < runs.size();) {
    const Run& run = runs[i];
    const std::size_t n = regular_from(runs, i) >= kFewest ? regular_from(runs, i) : 1;
    if (!text.empty()) text += ".";
    text += (run.value == kNoGroup ? "x" : std::to_string(run.value)) + "-" + std::to_string(run.count);
    if (n > 1) text += "_" + std::to_string(n) + "_" + std::to_string(runs[i + 1].value - run.value);
    i += n;
  }
  return text;
}

Result<Leaders> decode_leaders(const std::string& text, int n_pes) {
  Leaders leaders;
  const auto size = static_cast<std::size_t>(n_pes);
  for (const char* at = text.c_str(); *at != '\0';) {
    if (!read_runs(at, size, leaders) || (*at != '.' && *at != '\0')) return not_readable("the plan", text);
    if (*at == '.') ++at;
  }
  if (leaders.size() != size) return not_readable("the plan", text);
  return leaders;
}

std::string encode_pes(const std::vector<int>& pes) {
  std::string text;
  for (const int pe : pes) text += (text.empty() ? "" : ".") + std::to_string(pe);
  return text;
}

Result<std::vector<int>> decode_pes(const std::string& text, int n_pes) {
  std::vector<int> pes;
  for (const char* at = text.c_str(); *at != '\0';) {
    char* end = nullptr;
    const long pe = std::strtol(at, &end, 10);
    const bool in_order = pe >= 0 && pe < n_pes && (pes.empty() || pe > pes.back());
    if (end == at || !in_order || (*end != '.' && *end != '\0')) return not_readable("a list of PEs", text);
    pes.push_back(static_cast<int>(pe));
    at = *end == '.' ? end + 1 : end;
  }
  return pes;
}

std::string describe_parting(int first_pe, const HostDescription& first, int second_pe, const HostDescription& second) {
  const std::string pair = "pe " + std::to_string(first_pe) + " and pe " + std::to_string(second_pe);
  if (first.uid != second.uid) {
    return pair + " run on one machine as the users " + std::to_string(first.uid) + " and " +
           std::to_string(second.uid);
  }
  std::string apart;
  if (first.net != second.net) apart = "network";
  if (first.pid != second.pid) apart += apart.empty() ? "process numbers" : " and process numbers";
  if (apart.empty()) return pair + " run on one machine, but one cannot open the memory of the other";
  return pair + " run on one machine, but in containers, each with its own " + apart;
}

}  // namespace shmemx::bootstrap
