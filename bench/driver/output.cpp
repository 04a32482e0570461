#include "output.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "process.hpp"

namespace shmemx::bench {
namespace {

nlohmann::ordered_json figure(const std::optional<double>& value) {
  if (!value) return nullptr;
  return std::stod(fmt::format("{:.4g}", *value));
}

std::string text(const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : "-"; }

std::string ratio(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b && *b != 0 ? fmt::format("{:.2f}", *a / *b) : "-";
}

std::string word(const Verdict& verdict) {
  if (verdict.bar.empty()) return "";
  if (!verdict.met) return verdict.bar + ": ?";
  return verdict.bar + (*verdict.met ? ": met" : ": MISSED");
}

std::string size_text(std::size_t bytes) {
  if (bytes >= std::size_t{1} << 20) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1024) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

std::string cell(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : "NaN"; }

struct Plot {
  const char* name;
  const char* title;
  const char* x_label;
  const char* y_label;
  const char* settings;
  const char* style;
  std::function<bool(const Row&)> takes;
  std::function<std::string(const Row&)> x;
  double scale;
};

void write_plot(const Rows& rows, const std::string& directory, const Plot& plot) {
  const std::string base = directory + "/" + plot.name;
  std::ofstream data(base + ".dat");
  data << "# x ours limit openmpi\n";
  std::array<int, 3> counts{};
  for (const Row& row : rows) {
    if (!plot.takes(row)) continue;
    const auto scaled = [&](const std::optional<double>& v) { return cell(v ? std::optional(*v * plot.scale) : v); };
    data << fmt::format("\"{}\" {} {} {}\n", plot.x(row), scaled(row.ours), scaled(row.limit), scaled(row.openmpi));
    counts[0] += row.ours.has_value() ? 1 : 0;
    counts[1] += row.limit.has_value() ? 1 : 0;
    counts[2] += row.openmpi.has_value() ? 1 : 0;
  }
  data.close();
  static const char* const kTitles[] = {"shmemx", "limit", "Open MPI"};
  std::string curves;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0)
      curves += fmt::format("{}'{}.dat' using {} title '{}'", curves.empty() ? "plot " : ", ", base,
                            fmt::format(fmt::runtime(plot.style), i + 2), kTitles[i]);
  if (curves.empty()) return;
  std::ofstream script(base + ".gp");
  script << fmt::format(
      "set terminal svg size 900,560 background 'white'\nset output '{0}.svg'\nset title '{1}'\n"
      "set xlabel '{2}'\nset ylabel '{3}'\nset key top left\nset grid ytics\n{4}\n"
      "{5}\n",
      base, plot.title, plot.x_label, plot.y_label, plot.settings, curves);
  script.close();
  run_once({"gnuplot", base + ".gp"}, Milliseconds(20'000));
}

std::string words_of(const Row& row) {
  const auto comma = row.state.find(", ");
  return row.name + (comma == std::string::npos ? std::string() : "\\n" + row.state.substr(comma + 2));
}

}  // namespace

void write_json(const Rows& rows, const std::string& path) {
  auto list = nlohmann::ordered_json::array();
  for (const Row& row : rows)
    list.push_back({{"name", row.name},
                    {"pes", row.pes},
                    {"bytes", row.bytes},
                    {"unit", row.unit},
                    {"better", row.high_is_better ? "high" : "low"},
                    {"ours", figure(row.ours)},
                    {"limit", figure(row.limit)},
                    {"peers", {{"openmpi", figure(row.openmpi)}}},
                    {"state", row.state}});
  std::ofstream(path) << list.dump(2) << "\n";
}

std::string table(const Rows& rows) {
  constexpr const char* kFormat = "{:<18} {:>4} {:>8} {:<12} {:>9} {:>9} {:>9} {:>7} {:>7}  {:<28} {:<22} {}\n";
  std::string out = fmt::format(kFormat, "name", "PEs", "size", "unit", "ours", "limit", "openmpi", "/limit", "/peer",
                                "bar", "beside Open MPI", "state");
  out += std::string(160, '-') + "\n";
  int missed = 0, unknown = 0;
  for (const Row& row : rows) {
    const Verdict limit = against_limit(row, rows);
    const Verdict peer = against_peer(row);
    for (const Verdict& verdict : {limit, peer}) {
      missed += verdict.met && !*verdict.met ? 1 : 0;
      unknown += !verdict.bar.empty() && !verdict.met ? 1 : 0;
    }
    out += fmt::format(kFormat, row.name, row.pes, row.bytes != 0 ? size_text(row.bytes) : "", row.unit,
                       text(row.ours), text(row.limit), text(row.openmpi), ratio(row.ours, row.limit),
                       ratio(row.ours, row.openmpi), word(limit), word(peer), row.state);
  }
  out += fmt::format("{} rows; bars missed: {}; without a figure to judge: {}\n", rows.size(), missed, unknown);
  std::string remarks;
  for (const Row& row : rows)
    if (!row.remark.empty() && remarks.find(row.remark) == std::string::npos) remarks += "  " + row.remark + "\n";
  return remarks.empty() ? out : out + "Missing:\n" + remarks;
}

void write_plots(const Rows& rows, const std::string& directory) {
  constexpr const char* kLines = "0:{}:xtic(1) with linespoints lw 2";
  constexpr const char* kBars = "{}:xtic(1) with histograms";
  constexpr const char* kBarSettings = "set style fill solid 0.8\nset logscale y\nset yrange [0.1:*]\nset xtics rotate by -35";
  const auto by_size = [](const Row& row) { return size_text(row.bytes); };
  const auto by_pes = [](const Row& row) { return std::to_string(row.pes); };
  const auto named = [](std::string name) { return [name](const Row& row) { return row.name == name; }; };
  const auto small = [](const Row& row) { return row.unit == "ns" && row.pes == 2; };
  write_plot(rows, directory, {"put", "put to the other PE", "size", "GB/s", "", kLines, named("put"), by_size, 1});
  write_plot(rows, directory, {"get", "get from the other PE", "size", "GB/s", "", kLines, named("get"), by_size, 1});
  write_plot(rows, directory, {"latency", "one operation, two PEs", "", "ns", kBarSettings, kBars, small, words_of, 1});
  write_plot(rows, directory,
             {"barrier", "barrier of all PEs", "PEs", "us", "set logscale y", kLines, named("barrier"), by_pes, 1e-3});
  write_plot(rows, directory,
             {"start", "start and end of a job", "PEs", "ms", "set logscale y", kLines, named("start"), by_pes, 1});
}

}  // namespace shmemx::bench
