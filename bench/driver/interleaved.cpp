#include "interleaved.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "../support/stats.hpp"

namespace shmemx::bench {
namespace {

// The same note as in support/work.hpp, which a driver need not include.
constexpr const char* kRivalNote = "raw";

}  // namespace

std::vector<ListedCase> list_cases(const std::string& program) {
  const Finished listed = run_once({program, "--list"}, Milliseconds(5000));
  std::vector<ListedCase> cases;
  std::istringstream text(listed.output);
  for (std::string line; std::getline(text, line);) {
    std::istringstream fields(line);
    std::array<std::string, 6> field;
    for (std::string& value : field) std::getline(fields, value, ',');
    cases.push_back({field[0], field[2], field[3], std::stoul(field[1]), std::stoi(field[4]), std::stoi(field[5])});
  }
  return cases;
}

std::size_t Interleaved::samples_in(const Bins& bins, const std::string& state) {
  const auto found = bins.find(state);
  if (found == bins.end()) return 0;
  std::size_t most = 0;
  for (const Bin& bin : found->second) most = std::max(most, bin.samples);
  return most;
}

// Returns the state with the most samples among states that all variants with samples have. Variants are not compared
// across states.
std::string Interleaved::common_state(const AllBins& all) {
  std::string best;
  std::size_t best_samples = 0;
  for (const Bins& of_one : all)
    for (const auto& [state, ignored] : of_one) {
      std::size_t fewest = SIZE_MAX;
      for (const Bins& bins : all)
        if (!bins.empty()) fewest = std::min(fewest, samples_in(bins, state));
      if (best.empty() || fewest > best_samples) {
        best = state;
        best_samples = fewest;
      }
    }
  return best;
}

std::optional<double> Interleaved::best_method(const Bins& bins, const std::string& state, bool high_is_better) {
  const auto found = bins.find(state);
  if (found == bins.end()) return std::nullopt;
  std::optional<double> best;
  for (const Bin& bin : found->second) {
    if (bin.medians.empty()) continue;
    const double median = median_of(bin.medians);
    if (!best || (high_is_better ? median > *best : median < *best)) best = median;
  }
  return best;
}

void Interleaved::launch(std::optional<std::size_t> only) {
  static int count = 0;
  const std::string directory = fmt::format("{}/{}.{}", settings_.scratch, turns_.program, ++count);
  for (auto& job : jobs_) job.reset();
  for (std::size_t v = 0; v < kVariants; ++v) {
    if (!turns_.variants[v] || !turns_.variants[v]->missing.empty() || complained_[v]) continue;
    if (only && *only != v) continue;
    const Variant& variant = *turns_.variants[v];
    const std::string folder = directory + "." + variant.label;
    Arguments line = command(settings_, variant, turns_.program, turns_.pes, variant.wrapper);
    if (turns_.own_folders) line.insert(line.begin(), {"env", "BENCH_RAISED=1", "BENCH_CONTROL_DIR=" + folder});
    jobs_[v] = std::make_unique<ServedJob>(line, turns_.pes, folder, Milliseconds(30'000));
    report(v);
  }
}

void Interleaved::measure(int index, const ListedCase& what) {
  AllBins& bins = bins_[index];
  for (int round = 0; round < turns_.rounds; ++round, ++turn_)
    for (std::size_t turn = 0; turn < kVariants; ++turn) {
      const std::size_t v = (turn + turn_) % kVariants;  // rotates which variant is first
      for (int method = 0; method < what.methods(v); ++method) sample(v, {index, method}, bins);
    }
}

Row Interleaved::row(int index, const ListedCase& what) {
  const AllBins& bins = bins_[index];
  Row row{.name = what.name, .pes = turns_.pes, .bytes = what.bytes, .unit = what.unit, .remark = remark_};
  row.high_is_better = what.unit == "GB/s" || what.unit == "Mops/s";
  row.beside_mpi = turns_.beside_mpi;
  const std::string state = common_state(bins);
  for (std::size_t v = 0; v < kVariants; ++v) row.*kFigures[v] = best_method(bins[v], state, row.high_is_better);
  for (std::size_t v = kFirstPeer; v < kVariants; ++v)
    row.lacks_peer = row.lacks_peer || (turns_.variants[v] && !(row.*kFigures[v]));
  row.raw = best_method(bins[kRival], state, row.high_is_better);
  row.state = what.note.empty() ? state : state + ", " + what.note;
  return row;
}

void Interleaved::report(std::size_t variant) {
  if (jobs_[variant]->alive() || complained_[variant]) return;
  complained_[variant] = true;
  remark_ += fmt::format("{}: {} ({} PEs) {}. ", turns_.variants[variant]->label, turns_.program, turns_.pes,
                         jobs_[variant]->why());
  std::cerr << "bench: " << remark_ << "\n";
}

void Interleaved::sample(std::size_t variant, const Turn& turn, AllBins& bins) {
  if (!jobs_[variant] || !jobs_[variant]->alive()) return;
  const auto method = static_cast<std::size_t>(turn.method);
  for (const std::string& text :
       jobs_[variant]->measure(turn.case_index, turn.method, turns_.budget_ms, Milliseconds(20'000))) {
    const auto line = parse_line(text);
    if (!line) continue;
    const bool is_rival = line->note == kRivalNote;
    if (is_rival && variant != 0) continue;  // of another network than ours
    auto& methods = bins[is_rival ? kRival : variant][line->state];
    methods.resize(std::max(methods.size(), method + 1));
    methods[method].medians.push_back(line->median);
    methods[method].samples += line->samples;
  }
  report(variant);
}

}  // namespace shmemx::bench
