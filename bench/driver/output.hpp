// Writes the rows to files.
#pragma once

#include <string>

#include "rows.hpp"

namespace shmemx::bench {

// `append` keeps the rows of one node that are in the file.
void write_json(const Rows& rows, const std::string& path, bool append);
std::string table(const Rows& rows);
// Writes data and gnuplot scripts into `directory` and runs gnuplot if it is installed.
void write_plots(const Rows& rows, const std::string& directory);
void write_scale_plots(const Rows& rows, const std::string& directory);
void write_net_plots(const Rows& rows, const std::string& directory);

}  // namespace shmemx::bench
