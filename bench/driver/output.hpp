// Writes the rows to files.
#pragma once

#include <string>

#include "rows.hpp"

namespace shmemx::bench {

enum class Keep { none, node_rows, all };
// `keep`: which rows that are in the file stay.
void write_json(const Rows& rows, const std::string& path, Keep keep);
void append_csv(const Rows& rows, const std::string& path);
std::string table(const Rows& rows);
// Writes data and gnuplot scripts into `directory` and runs gnuplot if it is installed.
void write_plots(const Rows& rows, const std::string& directory);
void write_scale_plots(const Rows& rows, const std::string& directory);
void write_tasks_plots(const Rows& rows, const std::string& directory);
void write_net_plots(const Rows& rows, const std::string& directory);
// Plots of the rows of one kind of virtual hosts, which `network` describes.
void write_ethernet_plots(const Rows& rows, const std::string& directory, const std::string& network);

}  // namespace shmemx::bench
