#include <fmt/format.h>

#include <fstream>
#include <functional>

#include "driver/process.hpp"
#include "output.hpp"

namespace shmemx::bench {
namespace {

using Points = std::map<std::size_t, double>;
struct Curve {
  std::string title;
  Points points;
};

struct Plot {
  const char* name;
  const char* title;
  const char* x_label;
  const char* y_label;
  const char* settings;
};

// Writes one block of the data file for each curve.
void draw(const std::string& directory, const Plot& plot, const std::vector<Curve>& curves) {
  const std::string base = directory + "/" + plot.name;
  std::ofstream data(base + ".dat");
  std::string commands;
  int block = 0;
  for (const Curve& curve : curves) {
    if (curve.points.empty()) continue;
    data << "# " << curve.title << "\n";
    for (const auto& [x, y] : curve.points) data << x << " " << fmt::format("{:.5g}", y) << "\n";
    data << "\n\n";
    commands += fmt::format("{}'{}.dat' index {} with linespoints lw 2 title '{}'", block == 0 ? "plot " : ", ", base,
                            block, curve.title);
    ++block;
  }
  data.close();
  if (block == 0) return;
  std::ofstream script(base + ".gp");
  script << fmt::format(
      "set terminal svg size 1000,600 background 'white'\nset output '{}.svg'\nset title '{}'\nset xlabel '{}'\n"
      "set ylabel '{}'\nset key outside right\nset grid\nset logscale x 2\n{}\n{}\n",
      base, plot.title, plot.x_label, plot.y_label, plot.settings, commands);
  script.close();
  const Finished drawn = run_once({"gnuplot", base + ".gp"}, Milliseconds(20'000));
  if (!drawn.ok) std::fprintf(stderr, "bench_transfer: no plot '%s': %s\n", plot.name, drawn.why.c_str());
}

std::vector<Curve> curves_of(const Results& results, const std::function<Figure(std::size_t, const Figure&)>& value) {
  std::vector<Curve> curves;
  for (const Measured& measured : results.mechanisms) {
    Curve curve{measured.info->title, {}};
    for (const auto& [bytes, timing] : measured.times)
      if (const Figure y = value(bytes, choose(timing, results.state).us)) curve.points[bytes] = *y;
    curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace

void write_plots(const Results& results, const std::string& directory) {
  draw(directory, {"time", "Time of one transfer", "bytes", "us", "set logscale y"},
       curves_of(results, [](std::size_t, const Figure& us) { return us; }));
  draw(directory, {"bandwidth", "Bandwidth", "bytes", "MiB/s", "set xrange [64:*]"}, curves_of(results, mib_per_s));
  std::vector<Curve> sweeps;
  for (const Measured& measured : results.mechanisms) {
    Curve curve{measured.info->title, {}};
    for (const auto& [chunk, timing] : measured.sweep)
      if (const Figure rate = mib_per_s(results.sweep_bytes, choose(timing, results.state).us))
        curve.points[chunk] = *rate;
    sweeps.push_back(std::move(curve));
  }
  draw(directory, {"chunks", "Bandwidth by size of a buffer or cell", "bytes of a buffer or cell", "MiB/s", ""},
       sweeps);
  std::vector<Curve> copies;
  for (const CopyRoutine& routine : results.copies) {
    Curve curve{routine.name, {}};
    for (const auto& [bytes, samples] : routine.mib_per_s)
      if (const Figure rate = median(samples)) curve.points[bytes] = *rate;
    copies.push_back(std::move(curve));
  }
  draw(directory, {"copies", "Copy routines, memory to memory", "bytes", "MiB/s", ""}, copies);
}

}  // namespace shmemx::bench
