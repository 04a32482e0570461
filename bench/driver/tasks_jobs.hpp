// Jobs of the programs in bench/tasks that take turns, and the rows that their lines become.
#pragma once

#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "measure.hpp"

namespace shmemx::bench {

inline constexpr const char* kComparatorNote = "comparator";

// A program with a number of PEs, and the rows that its lines become.
struct TasksJob {
  std::string program;
  int pes;
  std::string place;           // "node", or a transport between pretended nodes of one PE
  std::string only = {};       // the row that it measures; empty: all
  std::string name = {};       // of the row if that differs
  std::string words = {};      // at the end of its state
  Arguments environment = {};  // of ours
  Arguments instead = {};      // of a second job of ours, which is the limit; empty: the program prints it
  bool beside_mpi = false;
  Arguments options = {};            // of the program
  int per_node = 1;                  // PEs of a pretended node
  bool beside_oshmem = false;        // Open MPI's, in the column of its MPI
  const char* repeats = "--rounds";  // the program's option for repetitions
};

// `job` beside others of ours, which differ in their environment: the limit of its row is the best of them. Each of
// them has a row of its own, whose name ends in "_by".
struct Rival {
  std::string name;
  Arguments environment;
};

Variant placed(const Settings& settings, const TasksJob& job, const Arguments& environment);

// The medians of the rounds, by the state and size of a line, in the order of the columns. Rows have the order in which
// the program prints its lines.
class TasksFigures {
 public:
  void add(const std::vector<Line>& lines, std::size_t column);
  void move_to(Rows& rows, const TasksJob& job, const std::string& remark) const;

 private:
  struct Entry {
    std::string unit;
    std::array<std::vector<double>, kVariants> medians;
  };
  using Key = std::tuple<std::string, std::string, std::size_t>;
  Entry& entry_of(const Key& key);
  std::vector<std::pair<Key, Entry>> entries_;  // in the order of the program's lines
};

// Runs the job's program once and adds its lines. Returns whether it has ended well.
bool run_into(const Settings& settings, const TasksJob& job, const Variant& variant, std::size_t column,
              TasksFigures& figures, std::string& remark);
void measure_job(const Settings& settings, const TasksJob& job, Rows& rows);
void measure_rivals(const Settings& settings, const TasksJob& job, const std::vector<Rival>& rivals, Rows& rows);

// Rows of the tables of the paper on message-driven programs that are about its messages.
void measure_tables(const Settings& settings, Rows& rows);

}  // namespace shmemx::bench
