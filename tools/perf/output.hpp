// Results as a table, CSV or JSON. PE 0 prints.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "perf/measure.hpp"
#include "perf/settings.hpp"

namespace shmemx::perf {

struct Row {
  const Test* test;
  std::size_t bytes;
  int from;  // -1: all PEs take part
  int to;
  Result result;
  std::string route;  // a word, a colon, details
};

class Output {
 public:
  Output(const Settings& settings, int n_pes) : settings_(settings), n_pes_(n_pes) {}
  void begin() const;
  // Prints the row, except as JSON.
  void add(const Row& row);
  // Prints the JSON object.
  void end() const;

 private:
  void print_table_row(const Row& row);

  const Settings& settings_;
  int n_pes_;
  std::vector<Row> rows_;
};

}  // namespace shmemx::perf
