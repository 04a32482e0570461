#include "records.hpp"

#include <fcntl.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace shmemx::launcher {

using bootstrap::PePhase;

Result<Records> Records::create(int n_pes) {
  const auto size = static_cast<std::uint32_t>(n_pes);
  const std::uint64_t job_id = bootstrap::random_id();
  SHMEMX_TRY_ASSIGN(fd, bootstrap::create_job_file(size, job_id));
  SHMEMX_TRY_ASSIGN(header, bootstrap::map_job_header(fd.get(), size, job_id));
  ::fcntl(fd.get(), F_SETFD, 0);  // the PEs inherit it
  return Records(std::move(fd), header);
}

bootstrap::JobEnd Records::job_end() const {
  return bootstrap::JobEnd::of(header_->end_word.load(std::memory_order_acquire));
}

PePhase Records::phase(int pe) const { return bootstrap::phase_of(record(pe)); }

std::string Records::routine(int pe) const {
  const PePhase now = phase(pe);
  if (now == PePhase::none || now == PePhase::finalized || now == PePhase::ending) return {};
  std::string name;
  for (const char c : bootstrap::routine_of(record(pe))) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!letter) break;
    name += c;
  }
  if (name.empty() && waits_in_init(pe)) return "shmem_init";
  return name;
}

std::string Records::describe_waiting(const std::vector<int>& pes) const {
  std::map<std::string, std::vector<int>> waiting;
  for (int pe : pes) {
    if (const std::string name = routine(pe); !name.empty()) waiting[name].push_back(pe);
  }
  std::string text;
  for (const auto& [name, members] : waiting) {
    if (!text.empty()) text += "; ";
    text += "pe " + list_pes(members) + " in " + name;
  }
  return text;
}

std::string list_pes(const std::vector<int>& pes) {
  std::string text;
  for (std::size_t i = 0; i < pes.size();) {
    std::size_t last = i;
    while (last + 1 < pes.size() && pes[last + 1] == pes[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += std::to_string(pes[i]);
    if (last > i) text += (last == i + 1 ? ", " : "..") + std::to_string(pes[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace shmemx::launcher
