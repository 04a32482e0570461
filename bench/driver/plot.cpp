#include "plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

namespace shmemx::bench {
namespace {

std::string cell(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : "NaN"; }

bool is_logarithmic(const Plot& plot) { return std::strstr(plot.settings, "logscale y") != nullptr; }

// Returns a command that labels an axis of times with "1 ns", "2 ns", "5 ns" ... "10 s"; nothing if `unit` is none of
// time.
std::string time_tics(std::string_view unit) {
  constexpr std::string_view kUnits[] = {"ns", "us", "ms", "s"};
  const auto* own = std::find(std::begin(kUnits), std::end(kUnits), unit);
  if (own == std::end(kUnits)) return "";
  double value = 1;
  for (const auto* each = std::begin(kUnits); each != own; ++each) value /= 1000;
  std::string list = "\"0.1 ns\" " + fmt::format("{:.9g}", value / 10);
  for (const std::string_view each : kUnits)
    for (const int power : {1, 10, 100})
      for (const int digit : {1, 2, 5}) {
        list += fmt::format(", \"{} {}\" {:.9g}", digit * power, each, digit * value);
        if (digit == 5) value *= 10;
      }
  return "set ytics (" + list + ")\n";
}

}  // namespace

std::string size_text(std::size_t bytes) {
  if (bytes >= std::size_t{1} << 20) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1024) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

void write_plot(const Rows& rows, const std::string& directory, const Plot& plot) {
  const std::string base = directory + "/" + plot.name;
  std::ofstream data(base + ".dat");
  data << "# x ours limit openmpi mpich\n";
  std::array<int, kVariants> counts{};
  for (const Row& row : rows) {
    if (!plot.takes(row)) continue;
    const auto scaled = [&](const std::optional<double>& v) {
      return cell(v ? std::optional(*v * plot.scale(row)) : v);
    };
    data << '"' << plot.x(row) << '"';
    for (std::size_t v = 0; v < kVariants; ++v) {
      data << ' ' << scaled(row.*kFigures[v]);
      counts[v] += (row.*kFigures[v]).has_value() ? 1 : 0;
    }
    data << '\n';
  }
  data.close();
  std::string curves;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0)
      curves += fmt::format("{}'{}.dat' using {} title '{}'", curves.empty() ? "plot " : ", ", base,
                            fmt::format(fmt::runtime(plot.style), i + 2), plot.titles[i]);
  if (curves.empty()) return;
  const std::string tics = is_logarithmic(plot) ? time_tics(plot.y_label) : "";
  std::ofstream script(base + ".gp");
  script << fmt::format(
      "set terminal svg size 900,560 noenhanced background 'white'\nset output '{0}.svg'\nset title '{1}'\n"
      "set xlabel '{2}'\nset ylabel '{3}'\nset format y '%.10g'\nset key outside right top\nset grid ytics\n{4}\n"
      "{5}{6}\n",
      base, plot.title, plot.x_label, tics.empty() ? plot.y_label : "time", plot.settings, tics, curves);
  script.close();
  run_once({"gnuplot", base + ".gp"}, Milliseconds(20'000));
}

}  // namespace shmemx::bench
