// One plot: rows by some x, and a curve for each column that has figures.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "measure.hpp"

namespace shmemx::bench {

struct Plot {
  const char* name;
  const char* title;
  const char* x_label;
  const char* y_label;
  const char* settings;
  const char* style;
  std::function<bool(const Row&)> takes;
  std::function<std::string(const Row&)> x;
  std::function<double(const Row&)> scale;
  std::array<std::string, kVariants> titles = {"shmemx", "limit", "Open MPI", "MPICH"};
};

constexpr const char* kLines = "0:{}:xtic(1) with linespoints lw 2";
constexpr const char* kBars = "{}:xtic(1) with histograms";
constexpr const char* kBarSettings =
    "set style fill solid 0.8\nset logscale y\nset yrange [0.1:*]\nset xtics rotate by -35";
// Powers of 2: figures of one plot often lie within a decade.
constexpr const char* kLogarithmic = "set logscale y 2\nset xtics rotate by -35";
constexpr const char* kDecades = "set logscale y 10\nset xtics rotate by -35";

std::string size_text(std::size_t bytes);
inline std::string by_size(const Row& row) { return size_text(row.bytes); }
inline double unscaled(const Row&) { return 1; }

// Writes data and a gnuplot script into `directory` and runs gnuplot if it is installed. A logarithmic axis of ns, us
// or ms is labelled with times in units that fit.
void write_plot(const Rows& rows, const std::string& directory, const Plot& plot);

}  // namespace shmemx::bench
