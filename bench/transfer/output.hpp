// The results as a file for programs, a table for people and plots.
#pragma once

#include <string>

#include "results.hpp"

namespace shmemx::bench {

void write_json(const Results& results, const std::string& path);
std::string text(const Results& results);
void write_plots(const Results& results, const std::string& directory);

std::string size_text(std::size_t bytes);

}  // namespace shmemx::bench
