// What PEs have counted, in a form of fixed size: those of two PEs merge into one, so a tree of PEs sums up a job of
// any size. PEs of a large job share the rows and columns of the matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "stats/counters.hpp"

namespace shmemx::stats {

inline constexpr std::size_t kGroups = 16;           // of PEs, in the matrix
inline constexpr std::size_t kSummaryRoutines = 32;  // the last one stands for all others
inline constexpr std::size_t kNameBytes = 48;
inline constexpr std::size_t kEarlyPes = 3;

struct PeTime {
  std::int32_t pe = -1;  // -1: none
  std::uint64_t ns = 0;
};

struct RoutineSummary {
  char name[kNameBytes] = "";
  std::uint64_t calls = 0;
  std::uint64_t waits = 0;
  std::uint64_t ns = 0;
  PeTime least;  // of the PEs that called it
  PeTime most;
};

// Messages between nodes.
struct NetworkSummary {
  std::uint64_t operations = 0;  // small ones, which gather
  std::uint64_t messages = 0;    // that carried them
  std::uint64_t frames_sent = 0;
  std::uint64_t frames_resent = 0;
};

// Tasks that were run, of all PEs together, and the PEs that ran for the least and the most time.
struct TaskSummary {
  std::uint64_t run = 0;
  std::uint64_t ns = 0;
  PeTime least;
  PeTime most;
};

// Times of all PEs together, in calls that wait, and of the PEs that stand out.
struct WaitSummary {
  std::uint64_t run_ns = 0;
  std::uint64_t longest_run_ns = 0;
  std::uint64_t blocked_ns = 0;
  PeTime most;
  PeTime least[kEarlyPes];  // the least first
};

struct Summary {
  std::uint32_t n_pes = 0;          // of the job
  std::uint32_t pes_per_group = 1;  // PEs of a row of the matrix
  std::uint64_t pes = 0;            // that are in this summary
  WaitSummary waiting;
  Count transfers[kTransfers][kPaths];
  Count matrix[kGroups][kGroups];  // from the PE that calls to the one whose memory it is
  RoutineSummary routines[kSummaryRoutines];
  std::uint32_t n_routines = 0;
  NetworkSummary network;
  TaskSummary tasks;
};

// Sums up this PE's counters.
void summarize(Summary& own, int pe, const NetworkSummary& network) noexcept;
void merge(Summary& into, const Summary& other) noexcept;
std::string text_of(const Summary& summary, int n_nodes);

}  // namespace shmemx::stats
