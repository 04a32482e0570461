// Where the rows go.
#pragma once

#include <string>

#include "rows.hpp"

namespace shmemx::bench {

void write_json(const Rows& rows, const std::string& path);
std::string table(const Rows& rows);
// Writes data and gnuplot scripts into `directory` and runs gnuplot where it is installed.
void write_plots(const Rows& rows, const std::string& directory);

}  // namespace shmemx::bench
