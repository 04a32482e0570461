#include "bootstrap/placement.hpp"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
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

std::uint64_t namespace_inode(const char* name) {
  struct stat about {};
  return ::stat((std::string("/proc/self/ns/") + name).c_str(), &about) == 0 ? about.st_ino : 0;
}

bool are_alike(Likeness likeness, const HostDescription& a, const HostDescription& b) {
  if (a.machine != b.machine || a.uid != b.uid) return false;
  return likeness == Likeness::machine || (a.net == b.net && a.pid == b.pid && a.others == b.others);
}

Error not_readable(const char* what, const std::string& text) {
  return Error{Errc::protocol, 0, std::string(what) + " in the key-value store is not readable: '" + text + "'"};
}

}  // namespace

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

std::string encode(const HostDescription& host) {
  char text[5 * 17 + 1];
  std::snprintf(text, sizeof text, "%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":", host.machine,
                host.uid, host.net, host.pid, host.others);
  return text + host.host;
}

Result<HostDescription> decode_host(const std::string& text) {
  HostDescription host;
  int end = -1;
  const int n = std::sscanf(text.c_str(), "%" SCNx64 ":%" SCNx64 ":%" SCNx64 ":%" SCNx64 ":%" SCNx64 ":%n",
                            &host.machine, &host.uid, &host.net, &host.pid, &host.others, &end);
  if (n != 5 || end < 0 || static_cast<std::size_t>(end) >= text.size())
    return not_readable("a PE's host description", text);
  host.host = text.substr(static_cast<std::size_t>(end));
  return host;
}

Leaders group_by(Likeness likeness, const std::vector<HostDescription>& hosts, const std::vector<int>& members) {
  Leaders leaders(hosts.size(), kNoGroup);
  std::vector<int> found;
  for (const int pe : members) {
    const HostDescription& host = hosts[static_cast<std::size_t>(pe)];
    int& leader = leaders[static_cast<std::size_t>(pe)];
    for (const int other : found) {
      if (are_alike(likeness, hosts[static_cast<std::size_t>(other)], host)) {
        leader = other;
        break;
      }
    }
    if (leader != kNoGroup) continue;
    leader = pe;
    found.push_back(pe);
  }
  return leaders;
}

std::string encode(const Leaders& leaders) {
  std::string text;
  for (std::size_t first = 0; first < leaders.size();) {
    std::size_t end = first;
    while (end < leaders.size() && leaders[end] == leaders[first]) ++end;
    if (!text.empty()) text += ".";
    text += (leaders[first] == kNoGroup ? "x" : std::to_string(leaders[first])) + "-" + std::to_string(end - first);
    first = end;
  }
  return text;
}

Result<Leaders> decode_leaders(const std::string& text, int n_pes) {
  Leaders leaders;
  const auto size = static_cast<std::size_t>(n_pes);
  for (const char* at = text.c_str(); *at != '\0';) {
    char* end = nullptr;
    long leader = kNoGroup;
    if (*at == 'x') {
      end = const_cast<char*>(at) + 1;
    } else {
      leader = std::strtol(at, &end, 10);
      if (end == at || leader < 0 || leader >= n_pes) return not_readable("the plan", text);
    }
    if (*end != '-') return not_readable("the plan", text);
    const unsigned long count = std::strtoul(end + 1, &end, 10);
    if (count == 0 || count > size - leaders.size()) return not_readable("the plan", text);
    leaders.insert(leaders.end(), count, static_cast<int>(leader));
    if (*end == '.') ++end;
    at = end;
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
