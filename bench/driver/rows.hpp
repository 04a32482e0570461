// The results: one row for each figure of the table in docs/benchmarks.md, and the bars for them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace shmemx::bench {

struct Row {
  std::string name = {};
  int pes = 0;
  std::size_t bytes = 0;
  std::string unit = {};
  bool high_is_better = false;
  std::optional<double> ours = {};
  std::optional<double> limit = {};
  std::optional<double> openmpi = {};
  std::optional<double> mpich = {};
  std::optional<double> raw = {};  // between nodes: a bare TCP connection of the same two processes
  std::string transport = {};      // between nodes; empty in the rows of one node
  int hosts = 1;
  std::string state = {};
  std::string remark = {};  // why a figure is missing
  bool beside_mpi = false;  // the peers are Open MPI's and MPICH's messages, not Open MPI's OSHMEM
  bool lacks_peer = false;  // a peer belongs to the row and has no figure

  std::optional<double> best_peer() const;
};

// In the order of the columns: ours, limit, openmpi, mpich.
constexpr std::optional<double> Row::*kFigures[] = {&Row::ours, &Row::limit, &Row::openmpi, &Row::mpich};

using Rows = std::vector<Row>;

struct Verdict {
  std::string bar;                   // the bar in words; empty if the row has none
  std::optional<bool> met = {};      // nothing if a figure is missing
  std::optional<double> times = {};  // by how many times the bar is exceeded; above 1 if it is missed
};

Verdict against_limit(const Row& row, const Rows& all);
Verdict against_peer(const Row& row);

}  // namespace shmemx::bench
