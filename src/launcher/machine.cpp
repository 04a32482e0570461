#include "machine.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/affinity.hpp"
#include "base/cache_line.hpp"
#include "bootstrap/wire.hpp"
#include "spawn.hpp"

namespace shmemx::launcher {
namespace {

using Json = nlohmann::ordered_json;

std::string or_unknown(const std::string& text) { return text.empty() ? "unknown" : text; }

// Returns the value of a line such as "Hugepagesize:    2048 kB" in bytes; 0 if there is no such line.
std::uint64_t meminfo_bytes(const char* name) {
  std::FILE* file = std::fopen("/proc/meminfo", "re");
  if (file == nullptr) return 0;
  char line[256];
  std::uint64_t bytes = 0;
  const std::size_t length = std::strlen(name);
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, name, length) == 0 && line[length] == ':') {
      bytes = std::strtoull(line + length + 1, nullptr, 10) * (std::strstr(line, "kB") != nullptr ? 1024 : 1);
    }
  }
  std::fclose(file);
  return bytes;
}

Json limit_json(std::uint64_t value, std::uint64_t unlimited) {
  return value == unlimited ? Json("unlimited") : Json(value);
}

Json resource_limit(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return "unknown";
  return limit_json(limit.rlim_cur, RLIM_INFINITY);
}

// Returns the selected word: "always" of "[always] madvise never".
std::string chosen_word(const std::string& text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  return open == std::string::npos || close == std::string::npos ? or_unknown(text)
                                                                 : text.substr(open + 1, close - open - 1);
}

std::string try_memfd() {
  auto fd = bootstrap::create_job_file(1, bootstrap::random_id());
  if (!fd) return "no: " + fd.error().text;
  const std::string directory = bootstrap::directory_of_file(fd->get());
  return directory.empty() ? "yes" : "no: PEs share a file without a name in " + directory;
}

// Tries to read this process's own memory as a peer would. MPI libraries in the same program may depend on it.
std::string try_cma() {
  int source = 42;
  int dest = 0;
  const iovec local{&dest, sizeof dest};
  const iovec remote{&source, sizeof source};
  const ssize_t n = ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
  return n == static_cast<ssize_t>(sizeof dest) && dest == 42 ? "yes" : std::string("no: ") + std::strerror(errno);
}

std::string describe_yama() {
  const std::string scope = read_small_file("/proc/sys/kernel/yama/ptrace_scope");
  return scope.empty() ? "not active" : "ptrace_scope " + scope;
}

std::string try_library(const char* name) {
  void* library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library != nullptr) {
    ::dlclose(library);
    return "yes";
  }
  const char* why = ::dlerror();
  return std::string("no: ") + (why != nullptr ? why : "unknown");
}

std::string where_is(const char* program) {
  const std::string path = find_program(program, "");
  return path.empty() ? "not found" : path;
}

Json cpu_section() {
  const std::vector<int> cpus = affinity_cpus();
  const double quota = cgroup_cpu_quota();
  Json section;
  section["online"] = ::sysconf(_SC_NPROCESSORS_ONLN);
  section["affinity"] = format_cpu_list(cpus);
  section["cgroup_quota_cpus"] = quota > 0 ? Json(quota) : Json("unlimited");
  section["usable"] = usable_cpus();
  return section;
}

Json memory_section() {
  Json section;
  section["page_bytes"] = ::sysconf(_SC_PAGESIZE);
  section["total_bytes"] = meminfo_bytes("MemTotal");
  section["available_bytes"] = meminfo_bytes("MemAvailable");
  section["cgroup_limit_bytes"] = limit_json(cgroup_memory_limit(), 0);
  section["address_space_bytes"] = resource_limit(RLIMIT_AS);
  section["open_files"] = resource_limit(RLIMIT_NOFILE);
  section["overcommit"] = or_unknown(read_small_file("/proc/sys/vm/overcommit_memory"));
  section["memfd"] = try_memfd();
  struct statvfs shm {};
  section["dev_shm_bytes"] = ::statvfs("/dev/shm", &shm) == 0
                                 ? Json(static_cast<std::uint64_t>(shm.f_blocks) * shm.f_frsize)
                                 : Json("not mounted");
  return section;
}

Json huge_page_section() {
  const std::string base = "/sys/kernel/mm/transparent_hugepage/";
  Json section;
  section["transparent"] = chosen_word(read_small_file(base + "enabled"));
  section["transparent_shared"] = chosen_word(read_small_file(base + "shmem_enabled"));
  section["pool_page_bytes"] = meminfo_bytes("Hugepagesize");
  section["pool_total"] = meminfo_bytes("HugePages_Total");
  section["pool_free"] = meminfo_bytes("HugePages_Free");
  return section;
}

}  // namespace

nlohmann::ordered_json describe_machine() {
  Json machine;
  utsname system{};
  ::uname(&system);
  machine["system"] = {{"host", system.nodename}, {"kernel", system.release}, {"machine", system.machine}};
  machine["cpu"] = cpu_section();
  machine["topology"] = describe_topology();
  machine["memory"] = memory_section();
  machine["huge_pages"] = huge_page_section();
  machine["between_processes"] = {{"cross_memory_attach", try_cma()},
                                  {"yama", describe_yama()},
                                  {"needed_by_shmemx", "neither: PEs of a node share one file"}};
  machine["launchers"] = {{"mpiexec.hydra", where_is("mpiexec.hydra")},
                          {"mpirun", where_is("mpirun")},
                          {"srun", where_is("srun")},
                          {"libpmix.so.2", try_library("libpmix.so.2")}};
  return machine;
}

}  // namespace shmemx::launcher
