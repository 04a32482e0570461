// The command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "perf/work.hpp"

namespace shmemx::perf {

enum class Memory : std::uint8_t { heap, static_data, window };
enum class Format : std::uint8_t { table, csv, json };

struct Settings {
  std::vector<const Test*> tests;
  std::vector<std::size_t> sizes;  // empty: each test's own
  std::string from = "0";
  std::string to;  // empty: PE 1, or PE 0 in a job of one PE
  bool together = false;
  bool target_computes = false;
  Memory memory = Memory::heap;
  Format format = Format::table;
  long iterations = 0;  // 0: as many as fit into `seconds`
  long warm_up = 10;
  long burst = 64;
  double seconds = 0.2;
};

struct CommandLine {
  Settings settings;
  std::string text;        // an answer, such as the help text, or what is wrong
  bool is_answer = false;  // print the text; there is nothing to measure
  bool is_wrong = false;
};

// Never throws. Prints nothing, since all PEs of a job have the same command line.
CommandLine parse(int argc, char** argv);

const char* name_of(Memory memory);

}  // namespace shmemx::perf
