#include "perf/output.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace shmemx::perf {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTableHead = "%-20s %9s %5s %5s %12s %12s %12s %12s %12s  %s\n";

std::string word_of(const Row& row) { return row.route.substr(0, row.route.find(':')); }
std::string pe_text(int pe) { return pe < 0 ? "all" : std::to_string(pe); }
bool has_bytes(const Row& row) { return row.test->default_bytes != 0; }

double operations_per_s(const Row& row) { return 1e9 / row.result.median_ns; }
double bytes_per_s(const Row& row) { return static_cast<double>(row.bytes) * operations_per_s(row); }

// Returns a time in microseconds, to four digits.
std::string microseconds(double ns) {
  char text[32];
  std::snprintf(text, sizeof text, ns < 10'000 ? "%.4f" : "%.1f", ns / 1000);
  return text;
}

std::string millions(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value / 1e6);
  return text;
}

Json json_of(const Row& row) {
  Json json = {{"test", row.test->name}, {"bytes", row.bytes}};
  if (row.from >= 0) json.update({{"from", row.from}, {"to", row.to}});
  json.update({{"operations", row.result.operations},
               {"median_ns", row.result.median_ns},
               {"min_ns", row.result.least_ns},
               {"p99_ns", row.result.p99_ns},
               {"operations_per_s", operations_per_s(row)}});
  if (has_bytes(row)) json["bytes_per_s"] = bytes_per_s(row);
  json["route"] = word_of(row);
  json["route_text"] = row.route;
  return json;
}

const char* target_text(const Settings& settings) { return settings.target_computes ? "computes" : "waits"; }

}  // namespace

void Output::begin() const {
  if (settings_.format == Format::csv) {
    std::printf("test,bytes,from,to,operations,median_ns,min_ns,p99_ns,bytes_per_s,operations_per_s,route\n");
  } else if (settings_.format == Format::table) {
    std::printf("# shmem_perf (shmemx " SHMEMX_PROJECT_VERSION "): %d %s, memory %s, the target %s\n", n_pes_,
                n_pes_ == 1 ? "PE" : "PEs", name_of(settings_.memory), target_text(settings_));
    std::printf(kTableHead, "# test", "bytes", "from", "to", "operations", "median us", "min us", "p99 us", "MB/s",
                "Mop/s  route");
  }
}

// The details of a route stand in front of the first row that has them.
void Output::print_table_row(const Row& row) {
  bool is_new = row.route.find(':') != std::string::npos;
  for (const Row& before : rows_)
    is_new = is_new && (before.from != row.from || before.to != row.to || before.route != row.route);
  if (is_new) std::printf("# PE %d to PE %d: %s\n", row.from, row.to, row.route.c_str());
  std::printf("%-20s %9zu %5s %5s %12ld %12s %12s %12s %12s %12s  %s\n", row.test->name, row.bytes,
              pe_text(row.from).c_str(), pe_text(row.to).c_str(), row.result.operations,
              microseconds(row.result.median_ns).c_str(), microseconds(row.result.least_ns).c_str(),
              microseconds(row.result.p99_ns).c_str(), has_bytes(row) ? millions(bytes_per_s(row)).c_str() : "-",
              millions(operations_per_s(row)).c_str(), word_of(row).c_str());
}

void Output::add(const Row& row) {
  if (settings_.format == Format::table) print_table_row(row);
  if (settings_.format == Format::csv)
    std::printf("%s,%zu,%s,%s,%ld,%.3f,%.3f,%.3f,%.0f,%.0f,%s\n", row.test->name, row.bytes, pe_text(row.from).c_str(),
                pe_text(row.to).c_str(), row.result.operations, row.result.median_ns, row.result.least_ns,
                row.result.p99_ns, bytes_per_s(row), operations_per_s(row), word_of(row).c_str());
  std::fflush(stdout);
  rows_.push_back(row);
}

void Output::end() const {
  if (settings_.format != Format::json) return;
  Json all = {{"program", "shmem_perf"},
              {"version", SHMEMX_PROJECT_VERSION},
              {"pes", n_pes_},
              {"memory", name_of(settings_.memory)},
              {"target", target_text(settings_)},
              {"rows", Json::array()}};
  for (const Row& row : rows_) all["rows"].push_back(json_of(row));
  std::printf("%s\n", all.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace shmemx::perf
