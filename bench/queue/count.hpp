// Instructions of the operations, counted by callgrind.
#pragma once

#include <map>
#include <string>

namespace shmemx::bench {

// The number of times that each operation runs under callgrind, in a function of its own.
constexpr int kCountedCalls = 1000;
void run_counted_operations();

// Returns the instructions of each operation by the function's name; empty without valgrind. The return instruction
// is not counted.
std::map<std::string, double> count_instructions(const std::string& program);

}  // namespace shmemx::bench
