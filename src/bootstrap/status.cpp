#include "bootstrap/status.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <tuple>

#include "base/call_site.hpp"
#include "base/clock.hpp"
#include "base/small_file.hpp"

namespace shmemx::bootstrap {
namespace {

constexpr std::size_t kMostPids = 4;   // of a group, that a line names
constexpr std::size_t kMostHosts = 4;  // the same
constexpr std::uint64_t kLoopIsRecentNs = 3'000'000'000;
constexpr std::uint64_t kLoopIsLongNs = 500'000'000;
constexpr std::size_t kMostArguments = 4;  // different ones of a group, that have lines of their own

// Returns the state that the kernel shows for a process, such as 'R'; 'X' if there is none.
char state_of_process(pid_t pid) {
  char text[512];
  if (!read_small_file(("/proc/" + std::to_string(pid) + "/stat").c_str(), text)) return 'X';
  const char* const name_end = std::strrchr(text, ')');  // the name may contain anything
  return name_end == nullptr || name_end[1] == '\0' ? 'X' : name_end[2];
}

bool has_ended(char state) { return state == 'X' || state == 'Z'; }

std::string describe_state(char state) {
  switch (state) {
    case 'R':
      return "computing";
    case 'D':
      return "blocked in the kernel";
    case 'T':
    case 't':
      return "stopped";
    default:
      return has_ended(state) ? "ended" : "sleeping outside of this library";
  }
}

std::string describe_phase(PePhase phase, char state) {
  const std::string text = describe_state(state);
  if (has_ended(state) || state == 'T' || state == 't') return text;
  switch (phase) {
    case PePhase::attached:
      return "in shmem_init, " + text;
    case PePhase::finalized:
      return "after shmem_finalize, " + text;
    case PePhase::departed:
    case PePhase::departing:
      return "leaving without shmem_finalize";
    case PePhase::ending:
      return "ending the job";
    default:
      return text;
  }
}

std::string seconds_text(std::uint64_t ns) {
  char text[32];
  const double seconds = static_cast<double>(ns) / 1e9;
  std::snprintf(text, sizeof text, seconds < 9.95 ? "%.1f" : "%.0f", seconds);
  return text;
}

using SameActivity = std::vector<const PeActivity*>;

std::string waiting_text(const SameActivity& group) {
  const auto [least, most] = std::minmax_element(
      group.begin(), group.end(), [](const auto* a, const auto* b) { return a->waited_ns < b->waited_ns; });
  const PeActivity& one = *group.front();
  const std::string executable = one.executable.empty() ? "/proc/" + std::to_string(one.pid) + "/exe" : one.executable;
  std::vector<Awaited> arguments;
  for (const PeActivity* each : group) arguments.push_back(each->awaited);
  std::string text =
      (one.doing == kPolling ? "polling in " : "waiting in ") + one.routine + awaited_text(executable, arguments);
  if ((*least)->waited_ns == 0) return text;
  const std::string place = call_site_text(executable, one.site);
  if (!place.empty()) text += ", called at " + place + ",";
  const std::string shortest = seconds_text((*least)->waited_ns);
  const std::string longest = seconds_text((*most)->waited_ns);
  return text + " for " + (shortest == longest ? "" : shortest + " to ") + longest + " s";
}

std::string hosts_text(const SameActivity& group) {
  std::vector<std::string> hosts;
  for (const PeActivity* one : group) {
    if (!one->host.empty() && std::find(hosts.begin(), hosts.end(), one->host) == hosts.end())
      hosts.push_back(one->host);
  }
  if (hosts.empty() || hosts.size() > kMostHosts) return {};
  std::string text = hosts.size() == 1 ? "host " : "hosts ";
  for (const std::string& host : hosts) text += (&host == &hosts.front() ? "" : ", ") + host;
  return text;
}

// Returns " (host n07, pid 4711, 4712)", or less where nothing is known or there are many.
std::string processes_text(const SameActivity& group) {
  std::string pids;
  for (const PeActivity* one : group) {
    if (one->pid != 0) pids += (pids.empty() ? "pid " : ", ") + std::to_string(one->pid);
  }
  if (group.size() > kMostPids) pids.clear();
  const std::string hosts = hosts_text(group);
  if (hosts.empty() && pids.empty()) return {};
  return " (" + hosts + (hosts.empty() || pids.empty() ? "" : ", ") + pids + ")";
}

// Returns "128 B", "1.5 MiB".
std::string bytes_text(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto number = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; number >= 1024; ++unit) number /= 1024;
  char text[32];
  const bool is_whole = number == static_cast<double>(static_cast<int>(number));
  std::snprintf(text, sizeof text, is_whole ? "%.0f %s" : "%.1f %s", number, kUnits[unit]);
  return text;
}

// Returns "; heap in use: 128 B of 64 MiB", or "128 B to 1 MiB of 64 MiB"; empty where there is no heap.
std::string heap_text(const SameActivity& group) {
  if (group.front()->heap_limit == 0) return {};
  const auto [least, most] = std::minmax_element(
      group.begin(), group.end(), [](const auto* a, const auto* b) { return a->heap_used < b->heap_used; });
  const std::string from = bytes_text((*least)->heap_used);
  const std::string to = bytes_text((*most)->heap_used);
  return "; heap in use: " + from + (from == to ? "" : " to " + to) + " of " + bytes_text(group.front()->heap_limit);
}

std::string line_of(const SameActivity& group) {
  std::vector<int> pes;
  for (const PeActivity* one : group) pes.push_back(one->pe);
  const bool waits = !group.front()->routine.empty();
  return "pe " + list_pes(pes) + processes_text(group) + ": " + (waits ? waiting_text(group) : group.front()->doing) +
         heap_text(group);
}

// Divides PEs that wait in the same call into those whose arguments are the same, if there are few different ones.
std::vector<SameActivity> by_arguments(const SameActivity& group) {
  std::vector<SameActivity> parts;
  for (const PeActivity* one : group) {
    const auto same = std::find_if(parts.begin(), parts.end(), [&](const SameActivity& part) {
      return part.front()->awaited.is_like(one->awaited);
    });
    if (same != parts.end()) {
      same->push_back(one);
    } else if (parts.size() == kMostArguments) {
      return {group};
    } else {
      parts.push_back({one});
    }
  }
  return parts;
}

}  // namespace

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

std::string valid_name(const RoutineName& name) {
  std::string valid;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!letter) break;
    valid += c;
  }
  return valid;
}

std::string waiting_routine(const JobHeader* header, const PeRecord& record) {
  const PePhase now = phase_of(record);
  if (now == PePhase::none || now == PePhase::finalized || now == PePhase::ending) return {};
  std::string name = valid_name(routine_of(record));
  if (name.empty() && waits_in_init(header, record)) return "shmem_init";
  return name;
}

namespace {

// Returns false if the PE's program has not tested a value in vain for some time up to now.
bool is_in_loop(const PollingLoop& loop, PeActivity& activity) {
  const std::uint64_t since = loop.since_ns.load(std::memory_order_relaxed);  // for people, like the next ones
  const std::uint64_t last = loop.last_ns.load(std::memory_order_relaxed);
  const std::uint64_t now = now_ns();
  if (last == 0 || since > last || last > now || now - last > kLoopIsRecentNs || now - since < kLoopIsLongNs)
    return false;
  const std::string routine = valid_name(name_in(loop.routine));
  if (routine.empty()) return false;
  activity.routine = routine;
  activity.doing = kPolling;
  activity.awaited = load(loop.awaited);
  activity.site = loop.call_site.load(std::memory_order_relaxed);
  activity.waited_ns = now - since;
  return true;
}

// Returns for how long the PE has waited; 0: not known.
std::uint64_t waited_so_far(const PeRecord& record) {
  const std::uint64_t since = record.waiting_since_ns.load(std::memory_order_relaxed);  // for people
  const std::uint64_t now = now_ns();
  return since != 0 && since < now ? now - since : 0;
}

}  // namespace

PeActivity activity_of(const JobHeader* header, const PeRecord& record, int pe, const PollingLoop* polling) {
  const PePhase phase = phase_of(record);
  if (phase == PePhase::none) return {pe, 0, {}, "has not called shmem_init"};
  const char state = state_of_process(record.pid);
  PeActivity activity{pe, record.pid, has_ended(state) ? std::string() : waiting_routine(header, record), {}};
  if (!has_ended(state)) {
    activity.heap_used = record.heap_used.load(std::memory_order_relaxed);  // for people, like the next one
    activity.heap_limit = record.heap_limit.load(std::memory_order_relaxed);
  }
  const bool may_poll = phase == PePhase::running && !has_ended(state) && state != 'T' && state != 't';
  // A call of a loop may wait for its answer for a moment.
  const std::uint64_t waited_ns = activity.routine.empty() ? 0 : waited_so_far(record);
  if (polling != nullptr && may_poll && waited_ns < kLoopIsLongNs && is_in_loop(*polling, activity)) return activity;
  if (activity.routine.empty()) {
    activity.doing = describe_phase(phase, state);
    return activity;
  }
  activity.awaited = load(record.awaited);
  activity.site = record.call_site.load(std::memory_order_relaxed);  // for people, like the next one
  activity.waited_ns = waited_ns;
  return activity;
}

std::vector<std::string> describe(const std::vector<PeActivity>& activities) {
  std::map<std::tuple<std::string, std::string, std::uintptr_t>, SameActivity> by_activity;
  for (const PeActivity& one : activities) by_activity[{one.routine, one.doing, one.site}].push_back(&one);
  std::vector<SameActivity> groups;
  for (const auto& [activity, group] : by_activity) {
    for (SameActivity& part : by_arguments(group)) groups.push_back(std::move(part));
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const SameActivity& a, const SameActivity& b) { return a.size() > b.size(); });
  std::vector<std::string> lines;
  for (const SameActivity& group : groups) lines.push_back(line_of(group));
  const std::string most_are_in = groups.empty() ? std::string() : groups.front().front()->routine;
  if (groups.size() == 2 && groups.back().size() == 1 && groups.front().size() > 1 && !most_are_in.empty() &&
      groups.back().front()->routine != most_are_in)
    lines.push_back("pe " + std::to_string(groups.back().front()->pe) + " is the only one that is not in " +
                    most_are_in);
  return lines;
}

}  // namespace shmemx::bootstrap
