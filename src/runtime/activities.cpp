#include "runtime/activities.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "am/endpoint.hpp"
#include "base/clock.hpp"
#include "base/fatal.hpp"
#include "base/host_name.hpp"
#include "bootstrap/status.hpp"
#include "progress/policy.hpp"
#include "runtime/inquiry.hpp"
#include "runtime/leaving.hpp"

namespace shmemx::runtime {
namespace {

using bootstrap::PeActivity;

constexpr std::uint64_t kAnswerMs = 1000;
constexpr std::uint32_t kMostPes = 1024;  // of a job of which all PEs are shown

// Are there too many PEs on other machines to ask them all?
bool are_left_out(const bootstrap::JobHeader& header) {
  return header.n_pes > kMostPes && header.n_pes != header.n_node_pes;
}

bool has_answered(int pe, std::uint64_t since_ms) {
  return foreign_pe(pe).replied_ms.load(std::memory_order_acquire) >= since_ms;
}

// Returns whether all have answered.
bool request_answers(const windows::Arena& arena, std::uint64_t since_ms) {
  bool all = true;
  for (int pe = 0; pe < static_cast<int>(arena.header().n_pes); ++pe) {
    if (arena.has(pe) || has_left(pe) || has_answered(pe, since_ms)) continue;
    send_inquiry_for_table(pe);
    all = false;
  }
  return all;
}

PeActivity foreign_activity(const windows::Arena& arena, int pe, std::uint64_t since_ms) {
  const ForeignPe& heard = foreign_pe(pe);
  PeActivity activity{pe, 0, {}, has_left(pe) ? "has left the job" : "does not answer"};
  if (has_left(pe) || !has_answered(pe, since_ms)) {
    activity.host = host_of(pe);
    return activity;
  }
  activity.pid = heard.record.pid;
  activity.host = text_in(heard.host);
  activity.executable = "/proc/" + std::to_string(::getpid()) + "/exe";         // the same program, as a rule
  activity.heap_used = heard.record.heap_used.load(std::memory_order_relaxed);  // for people, like the others
  activity.heap_limit = heard.record.heap_limit.load(std::memory_order_relaxed);
  activity.routine = bootstrap::waiting_routine(&arena.header(), heard.record);
  activity.doing = text_in(heard.doing);
  if (activity.routine.empty()) return activity;
  activity.awaited = bootstrap::load(heard.record.awaited);
  activity.site = heard.record.call_site.load(std::memory_order_relaxed);
  activity.waited_ns = heard.waited_ns.load(std::memory_order_relaxed);
  return activity;
}

// A PE that has sent nothing so far may have to begin with it.
bool can_send_requests(const windows::Arena& arena) {
  const bootstrap::JobHeader& header = arena.header();
  if (header.n_pes == header.n_node_pes || are_left_out(header)) return false;
  const bool runs = bootstrap::phase_of(arena.record(diagnostic_identity().pe)) == bootstrap::PePhase::running;
  if (runs && !progress::is_open()) progress::open();
  return progress::is_open();
}

// Returns what PEs are doing: those of this arena, and those of others that could be asked.
std::vector<PeActivity> activities_of_job(windows::Arena& arena) {
  const bootstrap::JobHeader& header = arena.header();
  const bool is_spread = can_send_requests(arena);
  std::vector<PeActivity> all;
  for (std::size_t place = 0; place < header.n_node_pes; ++place) {
    const int pe = arena.pe_at(place);
    const bootstrap::PollingLoop* const polling = bootstrap::polling_loop_of(&arena.header(), place);
    all.push_back(bootstrap::activity_of(&header, arena.record(pe), pe, polling));
    if (is_spread) all.back().host = host_name().text;
  }
  if (!is_spread) return all;
  const std::uint64_t since_ms = coarse_now_ms();
  while (!request_answers(arena, since_ms) && coarse_now_ms() < since_ms + kAnswerMs) {
    constexpr timespec kPause{0, 2'000'000};
    am::poll();
    ::nanosleep(&kPause, nullptr);
  }
  for (int pe = 0; pe < static_cast<int>(header.n_pes); ++pe) {
    if (!arena.has(pe)) all.push_back(foreign_activity(arena, pe, since_ms));
  }
  std::sort(all.begin(), all.end(), [](const PeActivity& a, const PeActivity& b) { return a.pe < b.pe; });
  return all;
}

}  // namespace

std::vector<std::string> table_of_job(windows::Arena& arena) {
  std::vector<std::string> lines = bootstrap::describe(activities_of_job(arena));
  const bootstrap::JobHeader& header = arena.header();
  if (!are_left_out(header)) return lines;
  lines.push_back("these are the " + std::to_string(header.n_node_pes) + " PEs of host " + host_name().text +
                  " alone, as the job has more than " + std::to_string(kMostPes) +
                  " PEs; oshrun --status with a PE's pid, on another host, shows those there");
  return lines;
}

}  // namespace shmemx::runtime
