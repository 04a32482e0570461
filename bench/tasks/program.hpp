// What the programs of this folder share: samples of a figure, and the lines that the driver reads.
#pragma once

#include <time.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../support/clock.hpp"
#include "../support/report.hpp"

namespace shmemx::bench {

inline constexpr const char* kComparator = "comparator";  // note of the lines that ours are compared with

struct Options {
  int rounds = 5;
  std::size_t table_kib = 0;  // of all PEs; 0: chosen by the program
  std::string only;           // a row's name; all where empty
  bool wants(const char* name) const { return only.empty() || only == name; }
};

inline Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rounds") == 0) options.rounds = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--table-kib") == 0) options.table_kib = std::strtoul(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--case") == 0) options.only = argv[i + 1];
  }
  return options;
}

struct Figure {
  std::string name;
  std::size_t bytes = 0;
  std::string unit;
  std::string state;
  bool high_is_good = false;
};

inline void print_figure(const Figure& figure, int pes, std::vector<double> samples, const char* note) {
  print_result({figure.name, pes, figure.bytes, figure.unit, figure.state, note,
                summarize(std::move(samples), figure.high_is_good)});
}

inline double seconds_since(std::int64_t begin_ns) { return static_cast<double>(now_ns() - begin_ns) / 1e9; }

// CPU time of the whole process, its progress thread included.
inline double cpu_us() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

// Computes for a time, without calls of any library.
inline void compute_ns(std::int64_t ns) {
  volatile double value = 1;
  for (const std::int64_t end = now_ns() + ns; now_ns() < end;)
    for (int i = 0; i < 200; ++i) value = value * 1.0000001;
}

}  // namespace shmemx::bench
