// One result as one CSV line; every bench program prints its results through here.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "stats.hpp"

namespace shmemx::bench {

struct Result {
  std::string name;
  int pes = 0;
  std::size_t bytes = 0;
  std::string unit;
  std::string state;  // near or far cache lines, "shared" with more PEs than cores, or what was waited in
  std::string note;   // which words were used; empty if there is only one kind
  Summary summary;
};

inline const char* csv_header() { return "name,pes,bytes,unit,median,p99,spread,state,note,samples,commit,cpu"; }

// The processor's model, without the commas that would break a CSV line.
inline std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    std::string model = line.substr(line.find(':') + 2);
    for (char& c : model)
      if (c == ',') c = ' ';
    return model;
  }
  return "unknown";
}

inline std::string csv_line(const Result& result) {
  const char* commit = std::getenv("BENCH_COMMIT");
  char text[512];
  std::snprintf(text, sizeof text, "%s,%d,%zu,%s,%.4g,%.4g,%.3f,%s,%s,%zu,%s,%s\n", result.name.c_str(), result.pes,
                result.bytes, result.unit.c_str(), result.summary.median, result.summary.p99, result.summary.spread,
                result.state.c_str(), result.note.c_str(), result.summary.samples, commit ? commit : "unknown",
                cpu_model().c_str());
  return text;
}

// A single write keeps lines of several processes apart.
inline void write_line(int fd, const std::string& line) {
  if (::write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::perror("bench: write");
}

inline void print_result(const Result& result) { write_line(STDOUT_FILENO, csv_line(result)); }

}  // namespace shmemx::bench
