// Instructions of the operations, counted by callgrind.
#pragma once

#include <map>
#include <string>

namespace shmemx::bench {

// What runs under callgrind: each operation kCountedCalls times, in a function of its own.
constexpr int kCountedCalls = 1000;
void run_counted_operations();

// Instructions for each operation, by the function's name; empty where there is no valgrind. The return is not counted.
std::map<std::string, double> count_instructions(const std::string& program);

}  // namespace shmemx::bench
