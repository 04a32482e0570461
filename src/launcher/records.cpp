#include "records.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include "bootstrap/table_request.hpp"

namespace shmemx::launcher {

using bootstrap::PePhase;

namespace {

// Of all threads of the process.
std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  const std::string path = "/proc/" + std::to_string(process) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir(path.c_str()), ::closedir);
  while (const dirent* const task = tasks != nullptr ? ::readdir(tasks.get()) : nullptr) {
    std::ifstream list(path + "/" + task->d_name + "/children");
    for (pid_t child; list >> child;) children.push_back(child);
  }
  return children;
}

}  // namespace

Result<Records> Records::create(int n_pes) {
  const auto size = static_cast<std::uint32_t>(n_pes);
  const std::uint64_t job_id = bootstrap::random_id();
  SHMEMX_TRY_ASSIGN(fd, bootstrap::create_job_file(size, job_id));
  SHMEMX_TRY_ASSIGN(header, bootstrap::map_job_header(fd.get(), size, job_id));
  ::fcntl(fd.get(), F_SETFD, 0);  // the PEs inherit it
  return Records(std::move(fd), header);
}

Result<Records> Records::of_process(pid_t process) {
  const std::string directory = "/proc/" + std::to_string(process) + "/fd";
  const std::unique_ptr<DIR, int (*)(DIR*)> files(::opendir(directory.c_str()), ::closedir);
  if (files == nullptr) return system_error("look at the descriptors of process " + std::to_string(process));
  while (const dirent* const entry = ::readdir(files.get())) {
    const std::string path = directory + "/" + entry->d_name;
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) continue;  // to open others might have effects
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    bootstrap::JobName name{};
    if (!fd.valid() || !bootstrap::read_job_name(fd.get(), name)) continue;
    SHMEMX_TRY_ASSIGN(header, bootstrap::map_job_header(fd.get(), name.n_pes, name.job_id));
    return Records(std::move(fd), header);
  }
  return Error{Errc::invalid_argument, 0,
               "process " + std::to_string(process) +
                   " is no PE, and no PE of this host is below it; allowed are a PE, its oshrun and other launchers "
                   "above it"};
}

Result<Records> Records::at_or_below(pid_t process) {
  std::vector<pid_t> processes = {process};
  Result<Records> first = of_process(process);
  for (std::size_t i = 0; !first && i < processes.size(); ++i) {
    for (const pid_t child : children_of(processes[i])) processes.push_back(child);
    if (i == 0) continue;
    Result<Records> found = of_process(processes[i]);
    if (found) return found;
  }
  return first;
}

std::vector<std::string> Records::status_lines() const {
  const bool is_spread = header_->n_pes > header_->n_node_pes;
  if (is_spread) {
    if (auto lines = bootstrap::request_table(header_)) return *std::move(lines);
  }
  std::vector<bootstrap::PeActivity> all;
  for (std::size_t place = 0; place < header_->n_node_pes; ++place) {
    const bootstrap::PeRecord& record = *bootstrap::record_of(header_, place);
    all.push_back(bootstrap::activity_of(header_, record, is_spread ? record.pe : static_cast<int>(place),
                                         bootstrap::polling_loop_of(header_, place)));
  }
  std::vector<std::string> lines = bootstrap::describe(all);
  if (is_spread)
    lines.push_back(
        "PEs of other hosts are not shown, as no PE of this host answers; one does while it waits in the library, or "
        "has a thread for messages (SHMEMX_PROGRESS)");
  return lines;
}

bootstrap::JobEnd Records::job_end() const {
  return bootstrap::JobEnd::of(header_->end_word.load(std::memory_order_acquire));
}

PePhase Records::phase(int pe) const { return bootstrap::phase_of(record(pe)); }

std::string Records::refused_allocation(int pe) const {
  const std::uint64_t bytes = record(pe).refused_bytes.load(std::memory_order_relaxed);
  const std::uint64_t left = record(pe).refused_left.load(std::memory_order_relaxed);
  if (bytes == 0) return {};
  return "its last allocation that failed had returned NULL for " + std::to_string(bytes) +
         " bytes, where the symmetric heap had room for " + std::to_string(left) + " (SHMEM_SYMMETRIC_SIZE)";
}

std::string Records::refused_pointer(int pe) const {
  const std::int32_t to = record(pe).no_pointer_to.load(std::memory_order_relaxed);
  if (to == 0) return {};
  return "its last shmem_ptr that failed had returned NULL for PE " + std::to_string(std::abs(to) - 1) +
         (to < 0 ? ", as the address was not symmetric" : ", whose memory loads and stores cannot reach");
}

bool Records::has_joined_pes() const {
  for (int pe = 0; pe < n_pes(); ++pe) {
    if (phase(pe) != PePhase::none) return true;
  }
  return false;
}

std::string Records::describe_waiting(const std::vector<int>& pes) const {
  std::map<std::string, std::vector<int>> waiting;
  for (int pe : pes) {
    if (const std::string name = routine(pe); !name.empty()) waiting[name].push_back(pe);
  }
  std::string text;
  for (const auto& [name, members] : waiting) {
    if (!text.empty()) text += "; ";
    text += "pe " + bootstrap::list_pes(members) + " in " + name;
  }
  return text;
}

}  // namespace shmemx::launcher
