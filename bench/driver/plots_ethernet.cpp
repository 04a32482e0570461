// Plots of the Open-MX paper's figures.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "output.hpp"
#include "plot.hpp"

namespace shmemx::bench {
namespace {

// Part of a file's name.
std::string slug(const std::string& text) {
  std::string made;
  for (const char c : text)
    made += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ? std::string(1, c)
            : made.ends_with('_')                                        ? ""
                                                                         : "_";
  return made.empty() ? "" : "_" + made;
}

bool every(const Row&) { return true; }
bool says(const Row& row, const std::string& word) { return row.state.find(word) != std::string::npos; }

// Tuned hosts in the first two columns, hosts as they are in the others.
Rows ping_pong_rows(const Rows& rows) {
  std::map<std::size_t, Row> by_bytes;
  for (const Row& row : rows) {
    if (row.name != "eth_pingpong") continue;
    Row& to = by_bytes[row.bytes];
    to.bytes = row.bytes;
    if (says(row, "tuned")) {
      to.ours = row.ours;
      to.limit = row.limit;
    } else if (says(row, "default")) {
      to.openmpi = row.ours;
      to.mpich = row.limit;
    }
  }
  Rows made;
  for (auto& [ignored, row] : by_bytes) made.push_back(row);
  return made;
}

void to_rates(Rows& rows) {
  for (Row& row : rows)
    for (const auto figure : kFigures)
      if (row.*figure) row.*figure = static_cast<double>(row.bytes) / *(row.*figure);
}

// By the number of blocks; a column for each number of frames.
Rows pull_rows(const Rows& rows) {
  constexpr int kFrames[] = {8, 16, 32, 64};
  std::map<int, Row> by_blocks;
  for (const Row& row : rows) {
    int frames = 0, blocks = 0;
    if (std::sscanf(row.state.c_str(), "frames %d, blocks %d", &frames, &blocks) != 2) continue;
    const auto column = std::find(std::begin(kFrames), std::end(kFrames), frames);
    if (column == std::end(kFrames)) continue;
    Row& to = by_blocks[blocks];
    to.hosts = blocks;
    to.*kFigures[column - std::begin(kFrames)] = row.ours;
  }
  Rows made;
  for (auto& [ignored, row] : by_blocks) made.push_back(row);
  return made;
}

std::string name_and_size(const Row& row) {
  return fmt::format("{} {}", row.name.substr(row.name.find('_') + 1), row.bytes != 0 ? size_text(row.bytes) : "");
}

}  // namespace

void write_ethernet_plots(const Rows& rows, const std::string& directory, const std::string& network) {
  const std::string suffix = slug(network);
  const auto plot = [&](const Rows& of, const std::string& name, const std::string& title, const char* x, const char* y,
                        const char* settings, const char* style, std::function<std::string(const Row&)> x_of,
                        std::array<std::string, kVariants> titles) {
    const std::string file = name + suffix, headline = network.empty() ? title : title + ", " + network;
    if (!of.empty())
      write_plot(
          of, directory,
          {file.c_str(), headline.c_str(), x, y, settings, style, every, std::move(x_of), unscaled, std::move(titles)});
  };
  const std::array<std::string, kVariants> hosts{"ethernet, tuned", "tcp, tuned", "ethernet", "tcp"};
  Rows ping_pong = ping_pong_rows(rows);
  plot(ping_pong, "eth_pingpong", "ping-pong, one way", "size", "ns", kLogarithmic, kLines, by_size, hosts);
  to_rates(ping_pong);
  plot(ping_pong, "eth_throughput", "ping-pong", "size", "GB/s", "set xtics rotate by -35", kLines, by_size, hosts);
  for (const char* layout : {"2x1", "2x2"}) {
    Rows patterns;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(patterns),
                 [&](const Row& row) { return row.unit == "us" && says(row, layout); });
    plot(patterns, std::string("eth_patterns_") + layout, std::string("patterns and collectives, ") + layout, "", "us",
         kBarSettings, kBars, name_and_size, {"ethernet", "tcp", "", ""});
  }
  plot(pull_rows(rows), "eth_pull", "puts of 4 MiB", "blocks outstanding", "GB/s", "", kLines,
       [](const Row& row) { return std::to_string(row.hosts); },
       {"8 frames in a block", "16 frames", "32 frames", "64 frames"});
}

}  // namespace shmemx::bench
